# SPDX-License-Identifier: BSD-3-Clause
"""CuPy beside NumPy's products: a line a step, the same whoever answers.

    cupy_products.py cuda-first|product-first
"""
import ctypes
import os
import sys

import cupy
import numpy

failures = 0


def say(step, good):
    global failures
    print(f"{step}: {'right' if good else 'wrong'}")
    failures += not good


generator = numpy.random.default_rng(11)


def whole(*shape):
    return generator.integers(-3, 4, shape).astype(numpy.float32)


def multiply():
    """On the CPU, in whole numbers, against the same in doubles."""
    x, y = whole(300, 1100), whole(1100, 260)
    return bool((x @ y == x.astype(float) @ y.astype(float)).all())


def no_error():
    """A sticky one would be told by the next call."""
    cupy.cuda.runtime.deviceSynchronize()
    return True


print("cupy", cupy.__version__)
if sys.argv[1] == "product-first":
    say("the first product", multiply())
last = cupy.cuda.runtime.getDeviceCount() - 1
cupy.cuda.Device(last).use()
own = cupy.arange(65536, dtype=cupy.int32)
stream = cupy.cuda.Stream()
with stream:
    for _ in range(3):
        say("a product", multiply())
        say("its device", cupy.cuda.runtime.getDevice() == last)
        say("its stream", cupy.cuda.get_current_stream() == stream)
        say("its memory", bool((cupy.asnumpy(own) == numpy.arange(65536)).all()))
        say("no error", no_error())

held = cupy.zeros(1024, dtype=cupy.float32)
held += 0
cupy.cuda.runtime.deviceSynchronize()
with stream:
    stream.begin_capture()
    held += 1
    good = multiply() and multiply()
    graph = stream.end_capture()
    say("products in a capture", good)
    for _ in range(3):
        graph.launch(stream)
stream.synchronize()
say("what it wrote", bool((cupy.asnumpy(held) == 3).all()))
say("no error", no_error())

# Its last word to CUDA: what cudaDeviceReset() does, which CuPy has no name for.
ctypes.CDLL("libcuda.so.1").cuDevicePrimaryCtxReset_v2(last)
say("a product after it", multiply() and multiply())
sys.stdout.flush()
# CuPy's own exit handlers expect the device as it was.
os._exit(failures != 0)
