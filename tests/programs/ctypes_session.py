"""The driver API by nothing but an interpreter, also in a forked child and on a thread."""
import ctypes
import os
import threading

libc = ctypes.CDLL("libc.so.6")
libc.gnu_get_libc_version.restype = ctypes.c_char_p
print("glibc", libc.gnu_get_libc_version().decode(), flush=True)

driver = ctypes.CDLL("libcuda.so.1")


def start():
    context = ctypes.c_void_p()
    print(driver.cuInit(0), driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0), driver.cuCtxSetCurrent(context))


def allocate(size):
    address = ctypes.c_ulonglong()
    print(size, driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size)), flush=True)
    return address


if os.fork() == 0:
    start()
    allocate(20011)
    os._exit(0)
os.wait()

start()
kept = allocate(10007)
print("freed", driver.cuMemFree_v2(allocate(30011)))
thread = threading.Thread(target=allocate, args=(40009,))
thread.start()
thread.join()
allocate(2**50 + 17)
