"""wrong_offsets.py ROUNDS: what is not as expected must never be the program's end."""
import ctypes
import sys

import stack_check
from stack_check import capacity, check, free

rounds = int(sys.argv[1])


def deep(count):
    if count:
        return deep(count - 1)
    found = free.checker_fuzz(1, rounds)
    check(ctypes.create_string_buffer(capacity))
    # A wrong offset may do no harm: the layout's fields are many, and few are needed by each version.
    if not 0 <= found < rounds / 2:
        stack_check.note("frames in", found, "rounds of", rounds)


stack_check.begin()
deep(14)
if stack_check.wrong:
    stack_check.finish("%d rounds" % rounds)
free.checker_break(0)
print(free.checker_stack(ctypes.create_string_buffer(capacity), capacity, 0), free.checker_declined().decode())
print(free.checker_stack(ctypes.create_string_buffer(capacity), capacity, 0))
