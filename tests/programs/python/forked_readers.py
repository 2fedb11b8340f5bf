"""Forked children read their stacks as their parent does, forked from threads and while others run."""
import ctypes
import os
import threading

import stack_check
from stack_check import capacity, check, free

buffer = ctypes.create_string_buffer(capacity)
stop = False


def read_on():
    mine = ctypes.create_string_buffer(capacity)
    while not stop:
        check(mine)


def in_child():
    check(buffer)
    threads = [threading.Thread(target=check, args=(ctypes.create_string_buffer(capacity),)) for _ in range(3)]
    for thread in threads:
        thread.start()
        check(buffer)
    for thread in threads:
        thread.join()
    return 0 if not stack_check.wrong and free.checker_readings(2) else 1


def fork_once():
    child = os.fork()
    if child == 0:
        os._exit(in_child())
    status = os.waitpid(child, 0)[1]
    if status != 0:
        stack_check.note("child", status)


stack_check.begin()
readers = [threading.Thread(target=read_on) for _ in range(2)]
for reader in readers:
    reader.start()
for i in range(40):
    check(buffer)
    forking = threading.Thread(target=fork_once)
    forking.start()
    forking.join()
stop = True
for reader in readers:
    reader.join()
stack_check.finish("40 children")
