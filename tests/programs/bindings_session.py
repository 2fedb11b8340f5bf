"""The driver API through NVIDIA's own Python bindings."""
from cuda.bindings import driver


def checked(result):
    code, *values = result
    print(code)
    return values[0] if values else None


def load_weights():
    return checked(driver.cuMemAlloc(70001))


def train_step():
    checked(driver.cuMemFree(checked(driver.cuMemAlloc(5003))))


checked(driver.cuInit(0))
device = checked(driver.cuDeviceGet(0))
checked(driver.cuCtxSetCurrent(checked(driver.cuDevicePrimaryCtxRetain(device))))
weights = load_weights()
for _ in range(3):
    train_step()
checked(driver.cuMemAlloc(2**50 + 17))
