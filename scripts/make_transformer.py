"""Makes transformer blocks that ONNX Runtime's quantizer quantized, one file per length of the context.

    python scripts/make_transformer.py FOLDER [--lengths 8,16,32]

Writes `transformer_TYPE_LENGTH.onnx` (QDQ, activations of TYPE uint8 and int8, int8 weights per tensor) and
`tokens_LENGTH.npy`, 4 samples of float32 `[4, LENGTH, 32]`. All lengths have the same weights. Needs scripts/requirements-onnx.txt.
"""

import argparse
import pathlib

import numpy as np
import onnx
from onnxruntime.quantization import QuantFormat, QuantType

from onnx_networks import block, quantized, samples

TYPES = {"uint8": QuantType.QUInt8, "int8": QuantType.QInt8}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--lengths", default="8", help="numbers separated by commas")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    for length in map(int, args.lengths.split(",")):
        net = block(length)
        _, arrays = samples(net)
        np.save(args.folder / f"tokens_{length}.npy", np.concatenate(arrays[-4:]))
        for name, activation in TYPES.items():
            model = quantized(net, QuantFormat.QDQ, False, activation)
            onnx.save(model, args.folder / f"transformer_{name}_{length}.onnx")


if __name__ == "__main__":
    main()
