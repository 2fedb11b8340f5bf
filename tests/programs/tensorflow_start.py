"""TensorFlow looks for GPUs and makes its device of each; a tensor shows which one is taken."""
import sys

import tensorflow as tf

print("TensorFlow", tf.__version__)
print(len(tf.config.list_physical_devices("GPU")), "GPUs found", flush=True)
try:
    print(len(tf.config.list_logical_devices("GPU")), "devices made")
except tf.errors.InternalError as error:
    print(error.message)
    sys.exit(1)
print(tf.zeros(3).device)
