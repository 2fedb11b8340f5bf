"""Device arrays of Numba: some come and go, one grows a list that is never emptied."""
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
    for step in range(5):
        train_step(step)
    del weights
    print("kept", sum(array.nbytes for array in kept), "bytes")


main()
