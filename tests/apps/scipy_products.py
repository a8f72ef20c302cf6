# SPDX-License-Identifier: BSD-3-Clause
"""SciPy's own single-precision BLAS and the LAPACK routines that use it; prints digests."""
import hashlib

import numpy as np
import scipy
import scipy.linalg as la
from scipy.linalg import blas


def show(name, array):
    digest = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
    print(name, array.shape, array.dtype, digest[:16])


generator = np.random.default_rng(8)
print("scipy", scipy.__version__)
for n in (3, 64, 300):
    a = generator.standard_normal((n, n + 5)).astype(np.float32)
    b = generator.standard_normal((n + 5, n)).astype(np.float32)
    c = np.asfortranarray(generator.standard_normal((n, n)).astype(np.float32))
    show("sgemm", blas.sgemm(1.5, a, b))
    show("sgemm, transposed", blas.sgemm(1.0, a, b, trans_a=1, trans_b=1))
    show("sgemm, beta", blas.sgemm(1.0, a, b, beta=0.5, c=c))
    q, r = la.qr(a)
    show("q", q)
    show("r", r)
    show("singular values", la.svd(a, compute_uv=False))
    show("solve", la.solve(a @ a.T + n * np.eye(n, dtype=np.float32), c))
