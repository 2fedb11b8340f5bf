"""A thread that Python has never seen has no Python stack, until it calls into Python."""
from stack_check import begin, finish, free

begin()
print("state", free.checker_foreign_thread())
finish("one thread")
