#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What single-precision products do to the results of five programs, on data that scikit-learn has.

Each program runs twice: with float32 matrices, as people run it, so that the BLAS of this process
makes its products, and with float64 ones. What it says is how far apart the program's own results
are, and the seconds of the first run.

    five_programs.py [--csv] [PROGRAM...]

    components   principal components of all patches of a photograph
    neighbours   ten nearest neighbours among shifted digits
    network      class probabilities of a network of four layers on shifted digits
    ridge        ridge regression on random Fourier features of digits
    solver       conjugate gradients for a kernel matrix and many right-hand sides
"""
import argparse
import time

import numpy as np
from sklearn.datasets import load_digits, load_sample_images


def patches(side=16):
    photograph = load_sample_images().images[0]
    windows = np.lib.stride_tricks.sliding_window_view(photograph, (side, side, 3))
    return windows[::2, ::2, 0].reshape(-1, side * side * 3) / 255.0


def shifted_digits():
    """Each digit at nine places, 8 x 8 grey levels within 10 x 10: rows of 100, and what they are."""
    digits = load_digits()
    images = digits.images / 16.0
    rows = []
    for down in range(3):
        for right in range(3):
            canvas = np.zeros((len(images), 10, 10))
            canvas[:, down : down + 8, right : right + 8] = images
            rows.append(canvas.reshape(len(images), 100))
    return np.concatenate(rows), np.tile(digits.target, 9)


def components(real):
    """The subspace of the first 50 components, and the variances along them."""
    rows = patches().astype(real)
    rows = rows - rows.mean(axis=0)
    # Another array than rows: a product of an array with itself is no gemm.
    covariance = rows.T.copy() @ rows / real(len(rows))
    variances, vectors = np.linalg.eigh(covariance.astype(np.float64))
    return variances[::-1][:50], vectors[:, ::-1][:, :50]


def components_apart(single, double):
    sines = np.linalg.norm(single[1] - double[1] @ (double[1].T @ single[1]), 2)
    return {
        "variances": np.max(np.abs(single[0] - double[0]) / double[0]),
        "subspace": sines,
    }


def neighbours(real):
    # Each pixel by its own weight: sums of sixteenths would be exact in any precision.
    rows = (shifted_digits()[0] * np.random.default_rng(0).uniform(0.5, 1.5, 100)).astype(real)
    norms = np.einsum("ij,ij->i", rows, rows)
    queries = rows[:4096].copy()
    distances = norms[:4096, None] + norms[None, :] - 2 * (queries @ rows.T)
    return distances, np.argsort(distances, axis=1, kind="stable")[:, :10]


def neighbours_apart(single, double):
    # A neighbour counts as another only if it is farther away than the tenth.
    tenth = np.take_along_axis(double[0], double[1][:, 9:], axis=1)
    chosen = np.take_along_axis(double[0], single[1], axis=1)
    return {
        "distances": np.linalg.norm(single[0] - double[0]) / np.linalg.norm(double[0]),
        "neighbours": np.mean(chosen > tenth * (1 + 1e-6) + 1e-9),
    }


def network(real):
    """Weights drawn once, and a last layer fitted to the digits: what matters is the rounding."""
    rows, labels = shifted_digits()
    random = np.random.default_rng(1)
    layer = rows.astype(real)
    for width in (1024, 1024, 1024):
        weights = random.standard_normal((layer.shape[1], width)) * np.sqrt(2 / layer.shape[1])
        layer = np.maximum(layer @ weights.astype(real), real(0))
    weights = random.standard_normal((1024, 10)) / 8
    logits = layer @ weights.astype(real)
    logits = logits - logits.max(axis=1, keepdims=True)
    odds = np.exp(logits)
    return odds / odds.sum(axis=1, keepdims=True), labels


def network_apart(single, double):
    return {
        "probabilities": np.max(np.abs(single[0] - double[0])),
        "decisions": np.mean(single[0].argmax(axis=1) != double[0].argmax(axis=1)),
    }


def features(rows, count, scale):
    random = np.random.default_rng(2)
    waves = random.standard_normal((rows.shape[1], count)) * scale
    phases = random.uniform(0, 2 * np.pi, count)
    return np.cos(rows @ waves + phases) * np.sqrt(2 / count)


def ridge(real):
    rows, labels = shifted_digits()
    x = features(rows, 2048, 0.4).astype(real)
    y = np.eye(10)[labels].astype(real)
    gram = x.T.copy() @ x
    right = x.T.copy() @ y
    gram[np.diag_indices_from(gram)] += real(1.0)
    weights = np.linalg.solve(gram.astype(np.float64), right.astype(np.float64)).astype(real)
    return x @ weights, weights


def ridge_apart(single, double):
    return {
        "predictions": np.linalg.norm(single[0] - double[0]) / np.linalg.norm(double[0]),
        "weights": np.linalg.norm(single[1] - double[1]) / np.linalg.norm(double[1]),
    }


def solver(real):
    rows = shifted_digits()[0][:4096]
    squares = np.einsum("ij,ij->i", rows, rows)
    apart = np.maximum(squares[:, None] + squares[None, :] - 2 * (rows @ rows.T), 0)
    kernel = np.exp(-apart / 4) + 10 * np.eye(len(rows))
    kernel = kernel.astype(real)
    right = np.random.default_rng(3).standard_normal((len(rows), 256)).astype(real)
    found = np.zeros_like(right)
    residual = right.copy()
    direction = residual.copy()
    size = np.einsum("ij,ij->j", residual, residual)
    for _ in range(60):
        product = kernel @ direction
        step = size / np.einsum("ij,ij->j", direction, product)
        found += step * direction
        residual -= step * product
        before, size = size, np.einsum("ij,ij->j", residual, residual)
        direction = residual + size / before * direction
    return found, kernel, right


def solver_apart(single, double):
    left = double[2] - double[1] @ single[0].astype(np.float64)
    return {
        "solution": np.linalg.norm(single[0] - double[0]) / np.linalg.norm(double[0]),
        "residual": np.linalg.norm(left) / np.linalg.norm(double[2]),
    }


PROGRAMS = {
    "components": (components, components_apart),
    "neighbours": (neighbours, neighbours_apart),
    "network": (network, network_apart),
    "ridge": (ridge, ridge_apart),
    "solver": (solver, solver_apart),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--csv", action="store_true", help="comma-separated values")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=", ".join(PROGRAMS))
    options = parser.parse_args()
    row = "{},{},{},{}" if options.csv else "{:<12} {:<14} {:>10} {:>9}"
    print(row.format("program", "result", "apart", "seconds"))
    for name in options.programs or PROGRAMS:
        run, compare = PROGRAMS[name]
        begin = time.perf_counter()
        single = run(np.float32)
        seconds = time.perf_counter() - begin
        for what, apart in compare(single, run(np.float64)).items():
            print(row.format(name, what, f"{apart:.2e}", f"{seconds:.2f}"), flush=True)


if __name__ == "__main__":
    main()
