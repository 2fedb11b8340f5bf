"""Workers use CUDA after their parent asked for devices: multiprocessing_session.py fork|spawn [nvml]"""
import ctypes
import multiprocessing
import sys


def work():
    driver = ctypes.CDLL("libcuda.so.1")
    context = ctypes.c_void_p()
    driver.cuInit(0)
    print(driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0), flush=True)


def count_devices(library, start, count):
    library = ctypes.CDLL(library)
    devices = ctypes.c_int()
    getattr(library, start)(0)
    getattr(library, count)(ctypes.byref(devices))


if __name__ == "__main__":
    if "nvml" in sys.argv:
        count_devices("libnvidia-ml.so.1", "nvmlInitWithFlags", "nvmlDeviceGetCount_v2")
    else:
        count_devices("libcuda.so.1", "cuInit", "cuDeviceGetCount")
    context = multiprocessing.get_context(sys.argv[1])
    for _ in range(2):
        worker = context.Process(target=work)
        worker.start()
        worker.join()
