# SPDX-License-Identifier: BSD-3-Clause
"""Debian's faiss: exact and inverted-file search of vectors; prints digests."""
import hashlib

import faiss
import numpy as np


def show(name, array):
    digest = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
    print(name, array.shape, array.dtype, digest[:16])


generator = np.random.default_rng(10)
base = generator.standard_normal((5000, 96)).astype(np.float32)
queries = generator.standard_normal((300, 96)).astype(np.float32)
print("faiss", faiss.__version__)
for name, index in (("L2", faiss.IndexFlatL2(96)), ("IP", faiss.IndexFlatIP(96))):
    index.add(base)
    distances, neighbours = index.search(queries, 7)
    show(name, distances)
    show(name, neighbours)
quantizer = faiss.IndexFlatL2(96)
index = faiss.IndexIVFFlat(quantizer, 96, 20)
index.train(base)
index.add(base)
show("IVF", index.search(queries, 3)[1])
