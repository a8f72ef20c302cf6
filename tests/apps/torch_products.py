# SPDX-License-Identifier: BSD-3-Clause
"""PyTorch on the CPU: its wheel carries MKL inside and calls it as sgemm_; prints digests."""
import hashlib

import torch


def show(name, tensor):
    digest = hashlib.sha256(tensor.detach().contiguous().numpy().tobytes()).hexdigest()
    print(name, tuple(tensor.shape), digest[:16])


torch.manual_seed(11)
torch.set_num_threads(1)
print("torch", torch.__version__)
x, y = torch.randn(300, 200), torch.randn(200, 100)
show("x @ y", x @ y)
show("transposed", x.t().contiguous().t() @ y)
show("addmm", torch.addmm(torch.ones(300, 100), x, y, beta=0.5))
layer = torch.nn.Linear(200, 100)
show("linear", layer(x))
layer(x).sum().backward()
show("gradient", layer.weight.grad)
