"""PyCUDA: memory of every kind that it offers, given back but for one block, and a context that ends with one in it."""
import os

import numpy
import pycuda.driver as cuda

CODE = b".version 7.0\n.target sm_75\n.address_size 64\n.visible .global .align 4 .b8 weights[50069];\n\0"


def allocate(bytes):
    return cuda.mem_alloc(bytes)


def memory_of_the_device():
    allocate(50023).free()
    rows, pitch = cuda.mem_alloc_pitch(1001, 7, 4)
    print("pitch", pitch)
    rows.free()
    shape = cuda.ArrayDescriptor()
    shape.width, shape.height, shape.num_channels = 101, 3, 2
    shape.format = cuda.array_format.FLOAT
    cuda.Array(shape).free()
    managed = cuda.managed_empty(50033, numpy.uint8, mem_flags=cuda.mem_attach_flags.GLOBAL)
    managed[-1] = 7
    managed.base.free()


def memory_of_the_host():
    # Not register_host_memory(): in this version of PyCUDA it crashes with any array of NumPy's.
    cuda.pagelocked_empty(50047, numpy.uint8).base.free()


def objects():
    module = cuda.module_from_buffer(CODE)
    print("weights have", module.get_global("weights")[1], "bytes")
    stream, event = cuda.Stream(), cuda.Event()
    event.record(stream).synchronize()


def another_context(device):
    context = device.make_context()
    abandoned = allocate(50053)
    context.pop()
    context.detach()
    return abandoned


def main():
    cuda.init()
    device = cuda.Device(0)
    context = device.make_context()
    kept = allocate(50021)
    memory_of_the_device()
    memory_of_the_host()
    objects()
    abandoned = another_context(device)
    try:
        allocate(2**50 + 17)
    except cuda.MemoryError as error:
        print(error)
    print(cuda.mem_get_info()[1], "bytes in all", flush=True)
    # The way of worker processes: what is kept stays allocated to the end.
    os._exit(0)


main()
