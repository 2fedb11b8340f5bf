#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measure cuGetProcAddress of a genuine libcuda and print it as driver/resolver_table.def.

The resolver answers before cuInit and without a GPU. A returned pointer is identified by comparing it
with the addresses of the library's exports. What the measured driver is too old for is filled in from
the toolkit's cudaTypedefs.h, whose PFN_<name>_v<version> typedefs say when an ABI appeared.
"""
import argparse
import ctypes
import re
from collections import defaultdict

MODES = {"legacy": (0, 1), "per_thread": (2,)}
ABI_SUFFIX = re.compile(r"(_v\d+)?(_ptsz|_ptds)?$")


def base_name(export):
    return ABI_SUFFIX.sub("", export)


def abi_rank(export):
    """Order in which the ABIs of one name appeared: the plain name, then _v2, _v3 …"""
    version = re.search(r"_v(\d+)", export)
    return int(version.group(1)) if version else 1


def read_typedefs(path):
    """{(name, mode): sorted versions}; a name without a per-thread form has only 'legacy'."""
    found = defaultdict(set)
    for name, version, per_thread in re.findall(
            r"\*PFN_(cu\w+?)_v(\d+)(_ptsz|_ptds)?\)", open(path, encoding="utf-8").read()):
        found[name, "per_thread" if per_thread else "legacy"].add(int(version))
    return {key: sorted(versions) for key, versions in found.items()}


def measure(library, names, versions):
    """{(name, mode): [(first version, export)]} as the genuine resolver answers."""
    driver = ctypes.CDLL(library)
    exports = {}
    for name in names:
        try:
            exports[ctypes.cast(getattr(driver, name), ctypes.c_void_p).value] = name
        except AttributeError:
            pass
    resolve = driver.cuGetProcAddress_v2
    pointer, status = ctypes.c_void_p(), ctypes.c_int()
    answers = defaultdict(list)
    lookups = 0
    for name in sorted({base_name(n) for n in names}):
        for mode, flags in MODES.items():
            for version in versions:
                seen = set()
                for flag in flags:
                    lookups += 1
                    resolve(name.encode(), ctypes.byref(pointer), ctypes.c_int(version),
                            ctypes.c_uint64(flag), ctypes.byref(status))
                    seen.add(exports[pointer.value] if pointer.value else None)
                (export,) = seen  # flags 0 and 1 always agree; fails loudly if a driver differs
                rows = answers[name, mode]
                if export and (not rows or rows[-1][1] != export):
                    rows.append((version, export))
    return answers, set(exports.values()), lookups


def add_newer(answers, names, known, typedefs):
    """Exports that the measured driver lacks, in the order of their ABIs, get the typedefs' newest versions."""
    missing = defaultdict(list)
    for export in names:
        if export not in known:
            per_thread = export.endswith(("_ptsz", "_ptds"))
            missing[base_name(export), "per_thread" if per_thread else "legacy"].append(export)
    unknown = []
    for (name, mode), exports in sorted(missing.items()):
        last = answers[name, mode][-1][0] if answers[name, mode] else 0
        versions = [v for v in typedefs.get((name, mode), []) if v > last]
        exports.sort(key=abi_rank)
        if len(versions) < len(exports):
            unknown += exports
            continue
        answers[name, mode] += zip(versions[-len(exports):], exports)
    for (name, mode), rows in list(answers.items()):
        if mode == "legacy":  # no per-thread form: the resolver hands out the plain one
            per_thread = answers[name, "per_thread"]
            for version, export in rows:
                newest = per_thread[-1][0] if per_thread else 0
                if export not in known and version > newest:
                    per_thread.append((version, export))
    return unknown


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("libcuda", help="a genuine libcuda.so.1")
    parser.add_argument("names", help="file of exported names")
    parser.add_argument("typedefs", help="the toolkit's cudaTypedefs.h")
    parser.add_argument("--origin", default="", help="text for the heading: versions and date")
    options = parser.parse_args()
    names = open(options.names, encoding="utf-8").read().split()
    typedefs = read_typedefs(options.typedefs)
    versions = sorted({v for found in typedefs.values() for v in found} | {2000, 3000, 3020})
    answers, known, lookups = measure(options.libcuda, names, versions)
    unknown = add_newer(answers, names, known, typedefs)
    print("// SPDX-License-Identifier: Apache-2.0\n"
          "// What cuGetProcAddress hands out: among the rows of the name that hold for the stream mode (flags 0 and\n"
          "// 1: legacy, 2: per thread), the one with the greatest version that is not above the version asked for.\n"
          f"// Printed by tools/probe_resolver.py: {lookups} look-ups. {options.origin}\n"
          "// 'measured': a genuine driver answered so. 'typedefs': newer than that driver, from cudaTypedefs.h.\n"
          "//\n// RESOLVES(name, stream mode, first version, export, origin)")
    for name in sorted({name for name, _ in answers}):
        rows = {mode: answers[name, mode] for mode in MODES}
        shared = set(rows["legacy"]) & set(rows["per_thread"])
        listed = [(version, export, "any") for version, export in shared]
        listed += [(*row, mode) for mode in MODES for row in rows[mode] if row not in shared]
        for version, export, mode in sorted(listed):
            origin = "measured" if export in known else "typedefs"
            print(f"RESOLVES({name}, {mode}, {version}, {export}, {origin})")
    if unknown:
        print("// Exported, but handed out by no known look-up: " + " ".join(unknown))


if __name__ == "__main__":
    main()
