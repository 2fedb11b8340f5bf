"""Nanoseconds of reading a Python stack of twenty frames into places, warm: the median."""
import ctypes
import os
import sys

checker = ctypes.CDLL(os.environ["CHECKER"])
checker.checker_median.restype = ctypes.c_double
assert checker.checker_begin() == 1
names = {"measure": lambda: checker.checker_median(2000)}
source = "def f0():\n    return measure()\n"
for i in range(1, 18):  # with the lambda and the module, twenty
    source += "def f%d():\n    kept = [%d]\n    return f%d()\n" % (i, i, i - 1)
exec(compile(source, "/home/user/project/some/package/train_module.py", "exec"), names)
print("Python %s: %.0f ns" % (sys.version.split()[0], names["f17"]()))
