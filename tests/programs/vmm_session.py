"""Virtual memory used directly, as a growing segment does it: addresses first, then memory chunk by chunk, then its tail
goes. One chunk is shared with a second process, which maps it without owning any of it."""
import multiprocessing
import socket
import sys

from cuda.bindings import driver

CHUNK = 2 << 20
RANGE = 64 * CHUNK


def checked(result):
    code, *values = result
    if code != driver.CUresult.CUDA_SUCCESS:
        sys.exit(f"{code.name}")
    return values[0] if values else None


def start():
    checked(driver.cuInit(0))
    checked(driver.cuCtxSetCurrent(checked(driver.cuDevicePrimaryCtxRetain(checked(driver.cuDeviceGet(0))))))


def on_device():
    location = driver.CUmemLocation()
    location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    location.id = 0
    return location


def descriptor_type():
    return driver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR


class Segment:
    """A range of addresses whose first `len(chunks)` chunks have memory."""

    def __init__(self):
        self.start = int(checked(driver.cuMemAddressReserve(RANGE, 0, 0, 0)))
        self.chunks = []

    def end(self):
        return self.start + len(self.chunks) * CHUNK

    def map(self, memory):
        checked(driver.cuMemMap(self.end(), CHUNK, 0, memory, 0))
        access = driver.CUmemAccessDesc()
        access.location = on_device()
        access.flags = driver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
        checked(driver.cuMemSetAccess(self.end(), CHUNK, [access], 1))
        self.chunks.append(memory)

    def grow(self):
        properties = driver.CUmemAllocationProp()
        properties.type = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
        properties.requestedHandleTypes = descriptor_type()
        properties.location = on_device()
        self.map(checked(driver.cuMemCreate(CHUNK, properties, 0)))

    def shrink(self):
        memory = self.chunks.pop()
        checked(driver.cuMemUnmap(self.end(), CHUNK))
        checked(driver.cuMemRelease(memory))

    def close(self):
        while self.chunks:
            self.shrink()
        checked(driver.cuMemAddressFree(self.start, RANGE))


def import_chunk(connection):
    start()
    _, (descriptor, *_), _, _ = socket.recv_fds(connection, 1, 1)
    segment = Segment()
    segment.map(checked(driver.cuMemImportFromShareableHandle(descriptor, descriptor_type())))
    seen = bytearray(5)
    checked(driver.cuMemcpyDtoH(seen, segment.start, len(seen)))
    segment.close()
    connection.sendall(seen)


def share(memory):
    descriptor = checked(driver.cuMemExportToShareableHandle(memory, descriptor_type(), 0))
    spawn = multiprocessing.get_context("spawn")
    here, there = socket.socketpair()
    reader = spawn.Process(target=import_chunk, args=(there,))
    reader.start()
    there.close()
    socket.send_fds(here, [b"."], [descriptor])
    print("the reader saw", here.recv(5).decode())
    reader.join()
    print("the reader ended with", reader.exitcode, flush=True)


def main():
    start()
    segment = Segment()
    for _ in range(5):
        segment.grow()
    checked(driver.cuMemcpyHtoD(segment.start + CHUNK, b"hello", 5))
    share(segment.chunks[1])
    kept = checked(driver.cuMemRetainAllocationHandle(segment.start))
    segment.shrink()
    segment.shrink()
    segment.grow()
    checked(driver.cuMemRelease(kept))


if __name__ == "__main__":
    main()
