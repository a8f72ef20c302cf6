# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn on float32: its compiled loops call SciPy's BLAS by function pointers."""
import hashlib

import numpy as np
import sklearn
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.neighbors import NearestNeighbors


def show(name, array):
    digest = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
    print(name, array.shape, array.dtype, digest[:16])


x = np.random.default_rng(9).standard_normal((2000, 64)).astype(np.float32)
print("scikit-learn", sklearn.__version__)
show("distances", euclidean_distances(x, x[:700]))
show("k-means", KMeans(8, n_init=1, random_state=1).fit(x).cluster_centers_)
distances, neighbours = NearestNeighbors(n_neighbors=5, algorithm="brute").fit(x).kneighbors(x)
show("distances of neighbours", distances)
show("neighbours", neighbours)
show("components", PCA(8, svd_solver="full").fit(x).components_)
