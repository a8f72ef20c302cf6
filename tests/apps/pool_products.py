# SPDX-License-Identifier: BSD-3-Clause
"""A pool, forked or spawned, that multiplies in its children after the parent has; prints digests.

A child does one share of the work and ends, so that a quick one leaves some to the others.
"""
import hashlib
import multiprocessing
import sys

import numpy as np


def product(seed):
    generator = np.random.default_rng(seed)
    a = generator.standard_normal((400, 500)).astype(np.float32)
    b = generator.standard_normal((500, 600)).astype(np.float32)
    return hashlib.sha256((a @ b).tobytes()).hexdigest()[:16]


if __name__ == "__main__":
    print("parent", product(0))
    with multiprocessing.get_context(sys.argv[1]).Pool(3, maxtasksperchild=1) as pool:
        for digest in pool.map(product, range(9), chunksize=3):
            print("child", digest)
    print("parent", product(0))
