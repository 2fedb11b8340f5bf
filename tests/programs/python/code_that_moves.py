"""Code objects that come and go at the same addresses, alike but for where their lines are."""
import ctypes
import sys

import stack_check
from stack_check import capacity, held

buffer = ctypes.create_string_buffer(capacity)


def leaf():
    held.checker_stack(buffer, capacity, 0)
    found = buffer.value.split(b"\n")[1].decode()
    expected = "<made>:%d:f" % sys._getframe(1).f_lineno
    if found != expected:
        stack_check.note(found, expected)


stack_check.begin()
for i in range(20000):
    names = {"leaf": leaf}
    exec(compile("def f(leaf):\n" + "\n" * (i % 7) + " return leaf()\n", "<made>", "exec"), names)
    names["f"](leaf)
    del names
stack_check.finish("20000 functions")
