#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Nearest neighbours among the patches of two photographs.

Every patch of one photograph (the queries) is compared with every patch of the other (the base), as
texture synthesis and patch-based denoising do. The squared distances |x|^2 + |y|^2 - 2 x.y are one
large single-precision matrix product a block, which is where the time goes.

    patch_neighbours.py [--step N] [--save FILE] [--against FILE]

--save keeps the neighbours found; --against compares with those kept by another run, in double
precision, and fails if one of the two chose a patch that is farther away than rounding explains.
"""
import argparse
import sys
import time

import numpy as np
from photographs import patches
from sklearn.datasets import load_sample_images

BLOCK = 2048  # queries a product


def neighbours(queries, base):
    """The index of the nearest base patch of each query, and the seconds spent in products."""
    base_norms = np.einsum("ij,ij->i", base, base)
    nearest = np.empty(len(queries), dtype=np.int64)
    seconds = 0.0
    for start in range(0, len(queries), BLOCK):
        block = queries[start : start + BLOCK]
        before = time.perf_counter()
        distances = block @ base.T
        seconds += time.perf_counter() - before
        # |x|^2 is the same for every candidate of a query and does not change which is nearest.
        distances *= np.float32(-2)
        distances += base_norms
        nearest[start : start + BLOCK] = distances.argmin(axis=1)
    return nearest, seconds


def exact_distances(queries, base, nearest):
    difference = queries.astype(np.float64) - base[nearest].astype(np.float64)
    return np.einsum("ij,ij->i", difference, difference)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--step", type=int, default=2, help="pixels between base patches")
    parser.add_argument("--save", help="keep the neighbours in this file (.npy)")
    parser.add_argument("--against", help="compare with neighbours kept before")
    options = parser.parse_args()

    china, flower = load_sample_images().images
    queries = patches(flower, 3 * options.step) - np.float32(0.5)
    base = patches(china, options.step) - np.float32(0.5)
    before = time.perf_counter()
    nearest, products = neighbours(queries, base)
    total = time.perf_counter() - before
    distances = exact_distances(queries, base, nearest)

    print(f"{len(queries)} queries, {len(base)} base patches of {base.shape[1]} numbers")
    print(f"mean distance of the nearest patch: {np.sqrt(distances).mean():.4f}")
    print(f"seconds: {total:.2f}, of which products: {products:.2f}")
    if options.save:
        np.save(options.save, nearest)
    if options.against:
        other = np.load(options.against)
        expected = exact_distances(queries, base, other)
        # Two sums of 432 single-precision terms of this size differ by less than this.
        bound = 2e-4 + 1e-5 * expected
        worse = int((np.abs(distances - expected) > bound).sum())
        same = int((nearest == other).sum())
        print(f"same neighbour as before: {same} of {len(nearest)}, farther than rounding: {worse}")
        return worse != 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
