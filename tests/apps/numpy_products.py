# SPDX-License-Identifier: BSD-3-Clause
"""Single-precision products in all the ways NumPy makes them; prints a digest of each result."""
import hashlib
import sys

import numpy as np


def show(name, array):
    digest = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
    print(name, array.shape, array.dtype, digest[:16])


generator = np.random.default_rng(7)


def normal(*shape):
    return generator.standard_normal(shape).astype(np.float32)


print("numpy", np.__version__)
for m, n, k in [(1, 1, 1), (2, 3, 4), (31, 33, 65), (300, 100, 200), (700, 513, 900)]:
    a, b = normal(m, k), normal(k, n)
    show(f"a@b {m} {n} {k}", a @ b)
    show("a.T.T@b.T.T", np.ascontiguousarray(a.T).T @ np.ascontiguousarray(b.T).T)
    show("out=", np.matmul(a, b, out=np.empty((m, n), np.float32)))
    error = np.abs(a @ b - a.astype(np.float64) @ b.astype(np.float64)).max()
    assert error < 1e-4 * k, error
    show("part of a larger array", normal(m + 5, k + 7)[2 : m + 2, 3 : k + 3] @ b)
a, b = normal(200, 150), normal(150, 120)
show("stack", np.matmul(np.stack([a, 2 * a]), b))
show("einsum", np.einsum("ij,jk->ik", a, b, optimize=True))
show("tensordot", np.tensordot(a, b, 1))
show("dot", np.dot(a, b))
show("symmetric", a @ a.T)
a[3, 4], b[5, 6] = np.nan, np.inf
show("not finite", a @ b)
show("empty", np.empty((3, 0), np.float32) @ np.empty((0, 4), np.float32))
try:
    a @ a
except ValueError:
    print("shapes that do not fit are refused")
sys.stdout.flush()
