"""Creates transformer blocks quantized by ONNX Runtime's quantizer.

    python scripts/oracles/make_transformer.py FOLDER [--lengths 8,16,32] [--open]

Writes `transformer_TYPE_LENGTH.onnx` (QDQ, activations of TYPE uint8 and int8, int8 weights per tensor) for every
length of the context, and `tokens_LENGTH.npy`, 4 samples of float32 `[4, LENGTH, 32]`. With `--open` there is one file
per type, `transformer_TYPE.onnx`, whose axis `tokens` has no length, calibrated on samples of all lengths. All files
have equal float weights. `vit_TYPE.onnx` is a small vision transformer, with samples `pictures.npy`. Needs
scripts/requirements/onnx.txt.
"""

import argparse
import pathlib

import numpy as np
import onnx
from onnxruntime.quantization import QuantFormat, QuantType

from onnx_networks import block, quantized, samples, vit

TYPES = {"uint8": QuantType.QUInt8, "int8": QuantType.QInt8}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--lengths", default="8", help="numbers separated by commas")
    parser.add_argument("--open", action="store_true", help="one file for all lengths")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    calibration = []
    for length in map(int, args.lengths.split(",")):
        net = block(length)
        _, arrays = samples(net)
        calibration += arrays[:4]
        np.save(args.folder / f"tokens_{length}.npy", np.concatenate(arrays[-4:]))
        for name, activation in TYPES.items() if not args.open else ():
            model = quantized(net, QuantFormat.QDQ, False, activation)
            onnx.save(model, args.folder / f"transformer_{name}_{length}.onnx")
    for name, activation in TYPES.items() if args.open else ():
        net = block(computed=True)
        model = quantized(net, QuantFormat.QDQ, False, activation, {1: "tokens"}, calibration)
        onnx.save(model, args.folder / f"transformer_{name}.onnx")
    net = vit()
    np.save(args.folder / "pictures.npy", np.concatenate(samples(net)[1][-4:]))
    for name, activation in TYPES.items():
        onnx.save(quantized(net, QuantFormat.QDQ, False, activation), args.folder / f"vit_{name}.onnx")


if __name__ == "__main__":
    main()
