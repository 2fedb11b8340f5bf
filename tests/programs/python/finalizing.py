"""Daemon threads that read their stacks while Python comes to its end and takes their states away."""
import sys
import threading
import time

from stack_check import free


def deep(count):
    kept = [count] * count
    if count:
        return deep(count - 1)
    free.checker_hammer(1000)
    return kept


junk = [bytearray(100) for _ in range(20000)]
free.checker_begin()
for _ in range(3):
    threading.Thread(target=deep, args=(30,), daemon=True).start()
time.sleep(.05)


class Late:  # memory is used again after the threads' states have gone
    def __del__(self):
        self.more = [bytearray(400) for _ in range(20000)]


sys.late = Late()
