"""The float networks of examples/ with the samples that quantizers are compared on."""

import pathlib
from dataclasses import dataclass

import numpy as np

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent / "examples"


@dataclass
class Example:
    """`calibration` and `images` are float32 with samples along the first axis, `labels` the right classes."""

    name: str
    model: pathlib.Path
    calibration: np.ndarray
    images: np.ndarray
    labels: np.ndarray

    def accuracy(self, logits):
        """How many images are right."""
        return int((np.asarray(logits).reshape(len(self.labels), -1).argmax(1) == self.labels).sum())


def load(name):
    folder = EXAMPLES / name
    images = np.load(folder / "test_images.npy")
    if name == "digits":
        # Codes of scale 1/255; the pixels that they were made of are multiples of 1/16.
        images = np.rint((images.astype(np.float32) + 128) / 255 * 16) / 16
    return Example(
        name,
        folder / f"{name}_float.onnx",
        np.load(folder / "calibration.npy"),
        images.astype(np.float32),
        np.load(folder / "test_labels.npy"),
    )


NAMES = ("digits", "clutter")
