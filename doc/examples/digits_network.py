#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A small network learns the handwritten digits that come with scikit-learn (PyTorch, on the CPU).

Its products are of 64 images: none of them is worth a GPU, and the program must not become slower.
"""
import argparse

import torch
from sklearn.datasets import load_digits


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--epochs", type=int, default=40)
    options = parser.parse_args()

    torch.manual_seed(1)
    images, labels = load_digits(return_X_y=True)
    x = torch.tensor(images, dtype=torch.float32) / 16
    y = torch.tensor(labels)
    network = torch.nn.Sequential(
        torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10)
    )
    optimizer = torch.optim.Adam(network.parameters(), lr=2e-3)
    for _ in range(options.epochs):
        for rows in torch.randperm(1500).split(64):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(network(x[rows]), y[rows]).backward()
            optimizer.step()
    right = (network(x[1500:]).argmax(1) == y[1500:]).float().mean()
    print(f"{options.epochs} epochs: {100 * right:.1f} % of the digits not seen are read rightly")


if __name__ == "__main__":
    main()
