#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Executes a notebook where it is called, and prints what each cell gives: text, and of pictures their size and how many
colours they have. With a directory, it keeps the pictures there."""
import argparse
import base64
import io
import os
import signal

signal.signal(signal.SIGPIPE, signal.SIG_DFL)
parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("notebook")
parser.add_argument("directory", nargs="?")
arguments = parser.parse_args()

# --help needs none of these.
import matplotlib.image
import nbclient
import nbformat

notebook = nbformat.read(arguments.notebook, as_version=4)
nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": "."}}).execute()
pictures = 0
for cell in notebook.cells:
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if "image/png" not in data:
            print(output.get("text", data.get("text/plain", "")).rstrip())
            continue
        png = base64.b64decode(data["image/png"])
        picture = matplotlib.image.imread(io.BytesIO(png))
        height, width, _ = picture.shape
        colours = len({tuple(colour) for row in picture[::4, ::4] for colour in row})
        print("picture", width > 300 and height > 150, colours > 20)
        pictures += 1
        if arguments.directory:
            with open(os.path.join(arguments.directory, f"picture-{pictures}.png"), "wb") as file:
                file.write(png)
