"""The driver API through NVIDIA's own Python bindings."""
import mmap

from cuda.bindings import driver

CODE = b".version 7.0\n.target sm_75\n.address_size 64\n.visible .global .align 4 .b8 weights[60013];\n\0"


def checked(result):
    code, *values = result
    print(code)
    return values[0] if values else None


def load_weights():
    return checked(driver.cuMemAlloc(70001))


def train_step():
    checked(driver.cuMemFree(checked(driver.cuMemAlloc(5003))))


def stream_ordered(stream):
    properties = driver.CUmemPoolProps()
    properties.allocType = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    properties.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    pool = checked(driver.cuMemPoolCreate(properties))
    checked(driver.cuMemFreeAsync(checked(driver.cuMemAllocFromPoolAsync(60017, pool, stream)), stream))
    checked(driver.cuMemFreeAsync(checked(driver.cuMemAllocAsync(60029, stream)), stream))
    checked(driver.cuStreamSynchronize(stream))
    checked(driver.cuMemPoolDestroy(pool))


def objects():
    module = checked(driver.cuModuleLoadData(CODE))
    for _ in range(2):
        checked(driver.cuModuleGetGlobal(module, b"weights"))
    stream = checked(driver.cuStreamCreate(0))
    event = checked(driver.cuEventCreate(0))
    checked(driver.cuEventRecord(event, stream))
    stream_ordered(stream)
    checked(driver.cuEventDestroy(event))
    checked(driver.cuStreamDestroy(stream))
    checked(driver.cuModuleUnload(module))


def own_memory():
    page = mmap.mmap(-1, 3 * mmap.PAGESIZE)
    checked(driver.cuMemHostRegister(page, len(page), 0))
    checked(driver.cuMemHostUnregister(page))


checked(driver.cuInit(0))
device = checked(driver.cuDeviceGet(0))
checked(driver.cuCtxSetCurrent(checked(driver.cuDevicePrimaryCtxRetain(device))))
weights = load_weights()
for _ in range(3):
    train_step()
objects()
own_memory()
checked(driver.cuMemAlloc(2**50 + 17))
