# SPDX-License-Identifier: BSD-3-Clause
"""The patches of a photograph, which several of these programs compute with."""
import numpy as np

SIDE = 12  # of a patch, in pixels; three colours make 432 numbers


def patches(photograph, step):
    """All patches whose corners are `step` pixels apart, a row of distinct float32 memory each: 0 to 1."""
    windows = np.lib.stride_tricks.sliding_window_view(photograph, (SIDE, SIDE, 3))
    rows = windows[::step, ::step, 0].reshape(-1, SIDE * SIDE * 3)
    return np.ascontiguousarray(rows, dtype=np.float32) / np.float32(255)
