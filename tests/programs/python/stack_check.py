"""What the checker reads of the calling thread's stack, against the interpreter's own answer."""
import ctypes
import os
import sys
import threading

library = os.environ["CHECKER"]
free = ctypes.CDLL(library)  # releases the GIL around the call
held = ctypes.PyDLL(library)  # keeps it
for each in (free, held):
    each.checker_version.restype = each.checker_declined.restype = ctypes.c_char_p
    each.checker_median.restype = ctypes.c_double
    each.checker_readings.restype = each.checker_evaluated.restype = ctypes.c_long

capacity = 1 << 17
most_frames = 256
wrong = []
lock = threading.Lock()


def text_of(frame, line):
    code = frame.f_code
    name = code.co_qualname if sys.version_info >= (3, 11) else code.co_name
    return "%s:%d:%s\n" % (code.co_filename, -1 if line is None else line, name)


def expected_text(frame, line):
    texts = [text_of(frame, line)]
    while frame.f_back is not None:
        frame = frame.f_back
        texts.append(text_of(frame, frame.f_lineno))
    return len(texts), "".join(texts[:most_frames]).encode("utf-8", "surrogatepass")


def note(*what):
    with lock:
        wrong.append(what)
        if len(wrong) < 4:
            print("WRONG", *what, file=sys.stderr)


def check(buffer, keep_gil=False, twice=False):
    read = held.checker_stack if keep_gil else free.checker_stack
    count = read(buffer, capacity, twice); frame = sys._getframe(); line = frame.f_lineno
    depth, text = expected_text(frame, line)
    if count != min(depth, most_frames) or buffer.value != text:
        note(count, depth, buffer.value.decode(errors="replace"), text.decode(errors="replace"))


# In a greenlet that was begun by another one, the native stack goes on where Python's ends.
def has_callers_apart():
    greenlet = sys.modules.get("greenlet")
    return greenlet is not None and greenlet.getcurrent().parent is not None


def is_placed(merged):
    """Every activation's frames must stand before the native frame of the interpreter's loop. Builds whose loop calls
    itself as a last step have no such native frames."""
    native = (b"-", b"*")
    if sum(each in native for each in merged) >= most_frames:
        return True  # the rest follow what is left of the native stack
    if has_callers_apart():
        if sys.version_info < (3, 10):
            return True
        while merged[-1] in native:
            merged.pop()
        merged += native[::-1]
    after_python = [two for one, two in zip(merged, merged[1:]) if one not in native and two in native]
    return merged[0] == b"-" and merged[-1] == b"-" and (b"*" not in merged or b"-" not in after_python) and not any(
        runs_nothing(merged, i) for i, each in enumerate(merged) if each == b"*")


def runs_nothing(merged, loop):
    """An activation of the loop without frames. One that has ended its only frame, and now clears it, has none left."""
    if merged[loop - 1] not in (b"-", b"*"):
        return False
    inner = [each for each in merged[:loop] if each not in (b"-", b"*")]
    return not (inner and inner[-1].rsplit(b".", 1)[-1].rsplit(b":", 1)[-1] in (b"__del__", b"<lambda>"))


def check_merged(buffer):
    held.checker_merged(buffer, capacity); frame = sys._getframe(); line = frame.f_lineno
    depth, text = expected_text(frame, line)
    merged = buffer.value.split(b"\n")[:-1]
    python = [each for each in merged if each not in (b"-", b"*")]
    if depth <= most_frames and (b"\n".join(python) + b"\n" != text or not is_placed(merged)):
        note("merged", buffer.value.decode(errors="replace"), text.decode(errors="replace"))


def begin():
    assert free.checker_begin() == 1
    assert free.checker_version().decode() == sys.version.split()[0], free.checker_version()
    assert free.checker_declined() == b"", free.checker_declined()


def finish(what):
    print(what, "wrong", len(wrong), "refused", free.checker_readings(5), "declined", free.checker_declined().decode())
    sys.exit(1 if wrong or free.checker_readings(5) or free.checker_declined() else 0)
