# SPDX-License-Identifier: BSD-3-Clause
"""PyTorch with CUDA that multiplies on the CPU too: a line a step, the same whoever answers.

    torch_cuda_products.py cuda-first|product-first
"""
import ctypes
import os
import sys

import torch

failures = 0


def say(step, good):
    global failures
    print(f"{step}: {'right' if good else 'wrong'}")
    failures += not good


def whole(*shape):
    return torch.randint(-3, 4, shape).float()


def multiply():
    """On the CPU, in whole numbers, against the same in doubles."""
    x, y = whole(300, 1100), whole(1100, 260)
    return bool(torch.equal((x @ y).double(), x.double() @ y.double()))


def runtime():
    """The CUDA runtime that PyTorch has loaded, if it is one that can be called."""
    with open("/proc/self/maps", encoding="ascii", errors="replace") as maps:
        for line in maps:
            if "libcudart" in line:
                return ctypes.CDLL(line.split()[-1])
    return None


def no_error():
    cudart = runtime()
    return cudart is None or cudart.cudaPeekAtLastError() == 0


torch.manual_seed(11)
torch.set_num_threads(1)
print("torch", torch.__version__)
if sys.argv[1] == "product-first":
    say("the first product", multiply())
last = torch.cuda.device_count() - 1
torch.cuda.set_device(last)
own = torch.arange(65536, device="cuda", dtype=torch.int32)
stream = torch.cuda.Stream()
with torch.cuda.stream(stream):
    for _ in range(3):
        say("a product", multiply())
        say("its device", torch.cuda.current_device() == last)
        say("its stream", torch.cuda.current_stream() == stream)
        say("its memory", bool(torch.equal(own.cpu(), torch.arange(65536, dtype=torch.int32))))
        say("no error", no_error())

# Products of its own, on the device, with ours between them.
x, y = whole(256, 512), whole(512, 128)
on_device = x.cuda() @ y.cuda()
say("a product", multiply())
say("both sides", bool(torch.equal(on_device.cpu(), x @ y)))

# A capture in progress, in which products of the CPU go through us.
held = torch.zeros(1024, device="cuda")
held.add_(0)
torch.cuda.synchronize()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph, capture_error_mode="global"):
    held.add_(1)
    good = multiply() and multiply()
say("products in a capture", good)
for _ in range(3):
    graph.replay()
torch.cuda.synchronize()
say("what it wrote", bool((held.cpu() == 3).all()))
say("no error", no_error())

# Its last word to CUDA.
cudart = runtime()
if cudart is not None:
    torch.cuda.synchronize()
    say("a reset", cudart.cudaDeviceReset() == 0)
    say("a product after it", multiply() and multiply())
sys.stdout.flush()
# PyTorch's own exit handlers expect the device as it was.
os._exit(failures != 0)
