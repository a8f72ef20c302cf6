# SPDX-License-Identifier: BSD-3-Clause
"""A fuzzer's corpus as one text file, a line of base64 an input, and as a folder again.

    corpora.py pack FOLDER FILE
    corpora.py unpack FILE FOLDER
"""
import base64
import os
import sys


def pack(folder, path):
    inputs = set()
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb") as file:
            inputs.add(file.read())
    with open(path, "w", encoding="ascii") as file:
        for data in sorted(inputs, key=lambda data: (len(data), data)):
            file.write(base64.b64encode(data).decode("ascii") + "\n")


def unpack(path, folder):
    with open(path, encoding="ascii") as file:
        for number, line in enumerate(file):
            with open(os.path.join(folder, f"{number:05}"), "wb") as out:
                out.write(base64.b64decode(line))


if __name__ == "__main__":
    {"pack": pack, "unpack": unpack}[sys.argv[1]](sys.argv[2], sys.argv[3])
