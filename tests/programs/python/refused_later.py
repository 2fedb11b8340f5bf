"""After a good beginning, single stacks may be amiss, but not many."""
import ctypes

import stack_check
from stack_check import capacity, check, free

buffer = ctypes.create_string_buffer(capacity)
stack_check.begin()
for _ in range(300):
    check(buffer)
free.checker_break(1)
states = [free.checker_stack(buffer, capacity, 0) for _ in range(18)]
print(states.count(-5), states[-1], len(stack_check.wrong), free.checker_declined().decode())
