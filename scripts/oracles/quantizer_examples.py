"""Float networks of examples/ with the samples on which quantizers are compared."""

import pathlib
from dataclasses import dataclass

import numpy as np

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


@dataclass
class Example:
    """Example network. `calibration` and `images` are float32 with samples along the first axis, `labels` the correct
    classes."""

    name: str
    model: pathlib.Path
    calibration: np.ndarray
    images: np.ndarray
    labels: np.ndarray

    def accuracy(self, logits):
        """Returns the number of correct images."""
        return int((np.asarray(logits).reshape(len(self.labels), -1).argmax(1) == self.labels).sum())


def load(name):
    folder = EXAMPLES / name
    return Example(
        name,
        folder / f"{name}_float.onnx",
        np.load(folder / "calibration.npy"),
        np.load(folder / ("test_images_float.npy" if name == "digits" else "test_images.npy")),
        np.load(folder / "test_labels.npy"),
    )


NAMES = ("digits", "clutter")
