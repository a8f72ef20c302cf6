#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Parts that the patches of two photographs are made of: a non-negative factorisation.

NumPy alone multiplies: X ~ W H by Lee and Seung's multiplicative updates, six products a round.
"""
import argparse

import numpy as np
from photographs import patches
from sklearn.datasets import load_sample_images


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--step", type=int, default=4, help="pixels between patches")
    parser.add_argument("--parts", type=int, default=192)
    parser.add_argument("--rounds", type=int, default=150)
    options = parser.parse_args()

    x = np.concatenate([patches(image, options.step) for image in load_sample_images().images])
    generator = np.random.default_rng(1)
    w = generator.random((len(x), options.parts), dtype=np.float32)
    h = generator.random((options.parts, x.shape[1]), dtype=np.float32)
    tiny = np.float32(1e-6)
    for _ in range(options.rounds):
        h *= (w.T @ x) / (w.T @ w @ h + tiny)
        w *= (x @ h.T) / (w @ (h @ h.T) + tiny)
    error = np.linalg.norm((x - w @ h).astype(np.float64)) / np.linalg.norm(x.astype(np.float64))
    print(f"{x.shape[0]} patches of {x.shape[1]} numbers, {options.parts} parts")
    print(f"relative error after {options.rounds} rounds: {error:.4f}")


if __name__ == "__main__":
    main()
