"""Writes cli/tests/int16/: models of one layer with 16-bit activations, and results of LiteRT's reference kernels.

    pip install -r scripts/requirements/oracle.txt
    python scripts/goldens/make_int16_goldens.py [--out DIR]

Writes NAME.tflite, and NAME.npz with the codes `x` and `y`. The bias has 32 bits (`quantized_bias_type` INT32) or 64
bits, or is absent. `deep` layers have sums beyond 32 bits; `wide` ones have biases and scaled results beyond 32 bits.
"""

import argparse
from pathlib import Path

import numpy as np
from ai_edge_litert import schema_py_generated as schema
from make_litert_op_goldens import Builtin, Tensor, build, run

OUT = Path(__file__).resolve().parents[2] / "cli" / "tests" / "int16"
BIAS_TYPES = {"int32": schema.TensorType.INT32, "int64": schema.TensorType.INT64}


def conv2d(random, size, depth, channels, kernel):
    options = schema.Conv2DOptionsT()
    options.padding, options.strideH, options.strideW = schema.Padding.SAME, 1, 1
    x = random.integers(-32768, 32768, (1, size, size, depth))
    return Builtin.CONV_2D, options, x, random.integers(-127, 128, (channels, kernel, kernel, depth)), 0


def depthwise_conv2d(random, size, channels, kernel):
    options = schema.DepthwiseConv2DOptionsT()
    options.padding, options.strideH, options.strideW, options.depthMultiplier = schema.Padding.SAME, 1, 1, 1
    x = random.integers(-32768, 32768, (1, size, size, channels))
    return Builtin.DEPTHWISE_CONV_2D, options, x, random.integers(-127, 128, (1, kernel, kernel, channels)), 3


def fully_connected(random, terms, units):
    x = random.integers(-32768, 32768, (1, terms))
    return Builtin.FULLY_CONNECTED, schema.FullyConnectedOptionsT(), x, random.integers(-127, 128, (units, terms)), 0


def deep(parts):
    """Changes operands to near their limits, so that sums grow with every product."""
    builtin, options, x, w, axis = parts
    return builtin, options, 32767 - np.abs(x) % 100, 127 - np.abs(w) % 3, axis


def write(folder, name, random, parts, bias, per_channel=True, largest=10**6, top=30000):
    """Writes a model with a bias of at most `largest`; `top` is approximately the largest output code."""
    builtin, options, x, w, axis = parts
    channels = w.shape[axis]
    scales = np.exp(random.uniform(-7, -5, channels if per_channel else 1)).astype(np.float32)
    x = Tensor(x, dtype="int16", scales=np.float32(np.exp(random.uniform(-8, -4))), zero_points=0)
    zeros = [0] * len(scales)
    inputs = [x, Tensor(w, scales=scales, zero_points=zeros, axis=axis if per_channel else None, constant=True)]
    if bias:
        codes, axis_of_bias = random.integers(-largest, largest + 1, channels), 0 if per_channel else None
        scales_of_bias = np.float32(x.scales[0]) * scales
        inputs.append(
            Tensor(codes, dtype=bias, scales=scales_of_bias, zero_points=zeros, axis=axis_of_bias, constant=True)
        )
        if hasattr(options, "quantizedBiasType"):
            options.quantizedBiasType = BIAS_TYPES[bias]
    terms = w.size // channels
    sums = float(np.abs(x.codes).max()) * float(np.abs(w).mean()) * (terms if w.min() > 0 else np.sqrt(terms))
    reach = max(sums, largest if bias else 0)
    y = Tensor(shape=[], dtype="int16", scales=x.scales[0] * scales.max() * reach / top, zero_points=0)
    run(builtin, options, inputs, y)
    # `run` has already set the output's shape.
    (folder / f"{name}.tflite").write_bytes(build(builtin, options, inputs, y))
    np.savez_compressed(folder / f"{name}.npz", x=x.codes, y=y.codes)
    print(f"{name}: {y.codes.size} codes, {len(np.unique(y.codes))} distinct")


def main():
    parser = argparse.ArgumentParser(description="make goldens of layers with 16-bit activations with LiteRT")
    parser.add_argument("--out", type=Path, default=OUT)
    folder = parser.parse_args().out
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(16)
    for bias in ["int32", "int64"]:
        end = bias[3:]
        write(folder, f"conv_{end}", random, conv2d(random, 5, 8, 32, 1), bias)
        write(folder, f"conv_{end}_3x3", random, conv2d(random, 5, 3, 16, 3), bias)
        write(folder, f"conv_{end}_per_tensor", random, conv2d(random, 5, 8, 32, 1), bias, per_channel=False)
        write(folder, f"conv_{end}_deep", random, deep(conv2d(random, 1, 700, 4, 1)), bias)
        write(folder, f"fc_{end}", random, fully_connected(random, 40, 60), bias)
        write(folder, f"fc_{end}_per_tensor", random, fully_connected(random, 40, 60), bias, per_channel=False)
    write(folder, "fc_64_deep", random, deep(fully_connected(random, 700, 4)), "int64")
    write(folder, "fc_none", random, fully_connected(random, 40, 60), None)
    write(folder, "depthwise_64", random, depthwise_conv2d(random, 5, 24, 3), "int64")
    write(folder, "depthwise_none", random, depthwise_conv2d(random, 5, 24, 3), None)
    write(folder, "conv_64_wide", random, conv2d(random, 2, 4, 32, 1), "int64", largest=2**42)
    write(folder, "conv_64_wide_result", random, conv2d(random, 2, 4, 32, 1), "int64", largest=2**44, top=2**36)
    write(folder, "fc_64_wide", random, fully_connected(random, 9, 32), "int64", largest=2**42)


if __name__ == "__main__":
    main()
