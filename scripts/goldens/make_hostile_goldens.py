#!/usr/bin/env python3
"""Writes LiteRT's reference codes for the valid networks of cli/tests/hostile to NAME_y.npy next to each network.

Samples are codes; those of zp3 are f32max.npy, quantized in exact arithmetic and clamped.
Run with the Python of scripts/requirements/oracle.txt.
"""

from fractions import Fraction
from pathlib import Path

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType

FOLDER = Path(__file__).resolve().parents[2] / "cli/tests/hostile"


def codes(reals, details):
    """Rounds half away from zero, like LiteRT's quantize, but without an intermediate 32-bit integer."""
    (scale,), (zero_point,) = (details["quantization_parameters"][k] for k in ("scales", "zero_points"))
    limits = np.iinfo(details["dtype"])

    def code(real):
        scaled = Fraction(float(real)) / Fraction(float(scale))
        rounded = int(abs(scaled) + Fraction(1, 2)) * (1 if scaled > 0 else -1)
        return min(max(rounded + int(zero_point), limits.min), limits.max)

    return np.array([[code(real) for real in sample] for sample in reals], details["dtype"])


def golden(name, samples, model=None):
    model = model or (FOLDER / f"{name}.tflite").read_bytes()
    interpreter = Interpreter(
        model_content=model, experimental_op_resolver_type=OpResolverType.BUILTIN_REF
    )
    interpreter.allocate_tensors()
    (read,), (written,) = interpreter.get_input_details(), interpreter.get_output_details()
    if samples.dtype == np.float32:
        samples = codes(samples, read)
    outputs = []
    for sample in samples:
        interpreter.set_tensor(read["index"], sample.reshape(read["shape"]).astype(read["dtype"]))
        interpreter.invoke()
        outputs.append(interpreter.get_tensor(written["index"]))
    np.save(FOLDER / f"{name}_y.npy", np.concatenate(outputs))


if __name__ == "__main__":
    np.save(FOLDER / "const_input_x.npy", np.array([[0, 0, 0], [1, -2, 3], [127, -128, 50]], np.int8))
    np.save(FOLDER / "ctrl_x.npy", np.arange(8, dtype=np.int8).reshape(1, 8))
    golden("const_input", np.load(FOLDER / "const_input_x.npy"))
    golden("ctrl", np.load(FOLDER / "ctrl_x.npy"))
    head, tail = ((FOLDER / f"long_{part}.part").read_bytes() for part in ("head", "tail"))
    golden("long", np.load(FOLDER / "ctrl_x.npy"), head + b"L" * 100_000 + tail)
    golden("zp3", np.load(FOLDER / "f32max.npy"))
    golden("int16_conv_int32bias", np.load(FOLDER / "int16_conv_int32bias_x.npy"))
