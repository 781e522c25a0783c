"""Measures the accuracy of ONNX Runtime's static quantizer on the float networks of examples/.

    python scripts/oracles/peer_onnxruntime.py OUT.csv [FOLDER]

Needs scripts/requirements/onnx.txt. Networks are QDQ with int8 weights per output channel and uint8 or int8
activations. They use the calibration samples of the example, and ONNX Runtime's preprocessing folds batch
normalizations. `right` counts correct test images, and `as_float` those with the float network's class. `sqnr_db` is 10
log10 of the power of the float outputs over that of their differences. FOLDER, which must exist, gets the networks as
NETWORK_METHOD_ACTIVATIONS.onnx.
"""

import csv
import logging
import pathlib
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

import quantizer_examples
from onnx_exact import exact

METHODS = {"min-max": CalibrationMethod.MinMax, "kl": CalibrationMethod.Entropy, "percentile": CalibrationMethod.Percentile}
ACTIVATIONS = {"uint8": QuantType.QUInt8, "int8": QuantType.QInt8}


class Samples(CalibrationDataReader):
    """Samples, one at a time."""

    def __init__(self, name, samples):
        self.feeds = iter([{name: sample[np.newaxis]} for sample in samples])

    def get_next(self):
        return next(self.feeds, None)


def logits(path, images):
    """Returns the outputs of a network, image by image."""
    options = onnxruntime.SessionOptions()
    # int8 activations are kept on x86-64: as uint8, their products would saturate on some CPUs.
    options.add_session_config_entry("session.qdqisint8allowed", "1")
    model = exact(onnx.load(path)).SerializeToString()
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    return np.concatenate([session.run(None, {name: image[np.newaxis]})[0] for image in images])


def quantized(example, prepared, method, activations, path):
    """Writes the quantized network."""
    name = onnxruntime.InferenceSession(str(prepared), providers=["CPUExecutionProvider"]).get_inputs()[0].name
    quantize_static(
        str(prepared),
        str(path),
        Samples(name, example.calibration),
        quant_format=QuantFormat.QDQ,
        per_channel=True,
        activation_type=ACTIVATIONS[activations],
        weight_type=QuantType.QInt8,
        calibrate_method=METHODS[method],
    )


def rows(example, folder):
    """Returns the rows, starting with the float network."""
    images = len(example.images)
    exact = logits(example.model, example.images)
    yield [example.name, "float", "", example.accuracy(exact), images, images, ""]
    prepared = folder / f"{example.name}_prepared.onnx"
    quant_pre_process(str(example.model), str(prepared), skip_symbolic_shape=True)
    for activations in ACTIVATIONS:
        for method in METHODS:
            path = folder / f"{example.name}_{method}_{activations}.onnx"
            quantized(example, prepared, method, activations, path)
            found = logits(path, example.images)
            as_float = int((found.argmax(1) == exact.argmax(1)).sum())
            sqnr = 10 * np.log10((exact.astype(float) ** 2).sum() / ((found.astype(float) - exact) ** 2).sum())
            yield [example.name, method, activations, example.accuracy(found), images, as_float, f"{sqnr:.2f}"]


def main():
    logging.disable(logging.WARNING)
    with open(sys.argv[1], "w", newline="") as out, tempfile.TemporaryDirectory() as temporary:
        write = csv.writer(out, lineterminator="\n").writerow
        write(["network", "method", "activations", "right", "images", "as_float", "sqnr_db"])
        folder = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else temporary)
        for name in quantizer_examples.NAMES:
            for row in rows(quantizer_examples.load(name), folder):
                write(row)


if __name__ == "__main__":
    main()
