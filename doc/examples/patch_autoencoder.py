#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""An autoencoder of the patches of two photographs learns (PyTorch, on the CPU)."""
import argparse

import numpy as np
import torch
from photographs import patches
from sklearn.datasets import load_sample_images


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--step", type=int, default=3, help="pixels between patches")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--width", type=int, default=2048)
    parser.add_argument("--batch", type=int, default=4096)
    options = parser.parse_args()

    torch.manual_seed(1)
    rows = np.concatenate([patches(image, options.step) for image in load_sample_images().images])
    x = torch.from_numpy(rows - np.float32(0.5))
    size, width = x.shape[1], options.width
    network = torch.nn.Sequential(
        torch.nn.Linear(size, width),
        torch.nn.ReLU(),
        torch.nn.Linear(width, 64),
        torch.nn.Linear(64, width),
        torch.nn.ReLU(),
        torch.nn.Linear(width, size),
    )
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    for epoch in range(options.epochs):
        total = 0.0
        for chosen in torch.randperm(len(x)).split(options.batch):
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(network(x[chosen]), x[chosen])
            loss.backward()
            optimizer.step()
            total += loss.item() * len(chosen)
        print(f"epoch {epoch + 1}: mean squared error {total / len(x):.5f}")


if __name__ == "__main__":
    main()
