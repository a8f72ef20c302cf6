#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Models of two photographs by scikit-learn, in single precision.

The sixteen colours of a photograph (k-means), the principal components of its patches, and which of
the two photographs a patch is from (nearest neighbours; an approximated kernel and ridge regression).
"""
import argparse

import numpy as np
from photographs import patches
from sklearn.cluster import KMeans
from sklearn.datasets import load_sample_images
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--step", type=int, default=4, help="pixels between patches")
    options = parser.parse_args()

    images = load_sample_images().images
    pixels = images[0].reshape(-1, 3).astype(np.float32) / np.float32(255)
    colours = KMeans(16, n_init=1, max_iter=30, random_state=1).fit(pixels[::4])
    print(f"sixteen colours: inertia {colours.inertia_:.1f}")

    x = np.concatenate([patches(image, options.step) for image in images])
    y = np.repeat([0, 1], len(x) // 2)
    seen = np.arange(len(x)) % 4 != 0
    components = PCA(64, svd_solver="randomized", random_state=1).fit(x[seen])
    print(f"64 components: {100 * components.explained_variance_ratio_.sum():.1f} % of the variance")

    neighbours = KNeighborsClassifier(5, algorithm="brute").fit(x[seen], y[seen])
    print(f"nearest neighbours: {100 * neighbours.score(x[~seen], y[~seen]):.1f} % are right")

    kernel = Nystroem(gamma=0.02, n_components=800, random_state=1).fit(x[seen])
    ridge = Ridge(alpha=1e-2).fit(kernel.transform(x[seen]), np.float32(2) * y[seen] - 1)
    right = ((ridge.predict(kernel.transform(x[~seen])) > 0) == y[~seen]).mean()
    print(f"kernel ridge regression: {100 * right:.1f} % are right")


if __name__ == "__main__":
    main()
