"""Device arrays of Numba: some come and go, some stay in a list that is never emptied."""
import os

import numpy
from numba import cuda

kept = []


def train_step(step):
    activations = cuda.device_array(20011, dtype=numpy.uint8)
    kept.append(cuda.device_array(3001 + step, dtype=numpy.uint8))
    del activations


def main():
    cuda.select_device(0)
    weights = cuda.device_array(100003, dtype=numpy.uint8)
    stream, timer = cuda.stream(), cuda.event()
    batch = cuda.pinned_array(30011, dtype=numpy.uint8)
    shared = cuda.managed_array(30013, dtype=numpy.uint8)
    timer.record(stream)
    for step in range(5):
        train_step(step)
    del weights, timer, batch
    print("kept", sum(array.nbytes for array in kept), "bytes", flush=True)
    # The way of worker processes: what is kept stays allocated to the end.
    os._exit(0)


main()
