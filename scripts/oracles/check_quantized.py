"""Compares the codes of a quantized network in guardbit with ONNX Runtime's.

    python scripts/oracles/check_quantized.py MODEL.onnx INPUT.npy TENSORS.npz

TENSORS.npz is written by `guardbit run MODEL.onnx --input INPUT.npy --dump-tensors`, for the first samples or all.
Compares the outputs of the network in ONNX Runtime. Also compares every inner tensor of codes that remains in its
optimized network, which fuses operations and tensors, under a name of the file. Images may have their axes in another
order here. Prints one row per tensor, then a JSON object with the sums. Exit code 1 if any code differs, or if an
output was not compared.

On x86-64 ONNX Runtime converts int8 activations to uint8 before it fuses operations, which changes the rounding of
elementwise operations and pools. Its setting `session.qdqisint8allowed` keeps them int8, which is the default on Arm.
"""

import json
import pathlib
import re
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

from onnx_exact import exact

MOVES = {"DequantizeLinear", "Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"}


def session(model, optimized=None):
    """Returns a session. It writes the optimized network to `optimized` if given, otherwise it runs the model without
    optimization."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.add_session_config_entry("session.qdqisint8allowed", "1")
    if optimized:
        options.optimized_model_filepath = str(optimized)
    else:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(exact(onnx.load(model)).SerializeToString(), options, providers=["CPUExecutionProvider"])


def run(session, samples):
    """Returns all outputs by name, with samples along the first axis."""
    name = session.get_inputs()[0].name
    made = [session.run(None, {name: sample[np.newaxis]}) for sample in samples]
    return {output.name: np.concatenate(values) for output, values in zip(session.get_outputs(), zip(*made))}


class File:
    """Tensors of codes in the file."""

    def __init__(self, model):
        self.constants = {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
        self.maker = {output: node for node in model.graph.node for output in node.output}
        self.readers = {}
        for node in model.graph.node:
            for name in node.input:
                self.readers.setdefault(name, []).append(node)
        self.codes = {node.output[0] for node in model.graph.node if node.op_type == "QuantizeLinear"}
        self.outputs = [output.name for output in model.graph.output]

    def quantized(self, name):
        """Returns the tensor of codes in the file for a value of the optimized network."""
        name = re.sub(r"_token_\d+$", "", name)
        while name not in self.codes:
            readers = self.readers.get(name, [])
            if len(readers) != 1 or readers[0].op_type not in {"Relu", "Clip", "QuantizeLinear"}:
                return None
            name = readers[0].output[0]
        return name

    def end(self, output):
        """Returns the tensor of codes of an output, with its scale and zero point if the output is real."""
        name, parameters = output, None
        while name not in self.codes:
            node = self.maker.get(name)
            if node is None or node.op_type not in MOVES:
                return None
            if node.op_type == "DequantizeLinear":
                parameters = tuple(self.constants[i] for i in node.input[1:3])
            name = node.input[0]
        return name, parameters


def differences(ours, codes):
    """Returns how many codes differ, in the order of axes that fits."""
    orders = {3: [(0, 1, 2), (0, 2, 1)], 4: [(0, 2, 3, 1), (0, 1, 2, 3), (0, 3, 1, 2)]}
    layouts = [codes.transpose(order) for order in orders.get(codes.ndim, [range(codes.ndim)])]
    if codes.ndim != ours.ndim:
        layouts = [codes.reshape(len(codes), -1)]
        ours = ours.reshape(len(ours), -1)
    counts = [int((ours.astype(np.int64) != codes).sum()) for codes in layouts if codes.shape == ours.shape]
    assert counts, (ours.shape, codes.shape)
    return min(counts)


def main():
    path, samples, tensors = sys.argv[1], np.load(sys.argv[2]), np.load(sys.argv[3])
    ours = {name.removeprefix("exact/"): tensors[name] for name in tensors.files if name.startswith("exact/")}
    samples = samples[: len(next(iter(ours.values())))]
    file = File(onnx.load(path))
    compared, missing = {}, []
    with tempfile.TemporaryDirectory() as folder:
        optimized = pathlib.Path(folder) / "optimized.onnx"
        made = run(session(path, optimized), samples)
        for output in file.outputs:
            name, parameters = file.end(output) or (output, None)
            if output in ours:
                # Codes whose real values are an output have the output's name here.
                ours.setdefault(name, ours[output])
            if name not in ours:
                missing.append(output)
                continue
            codes = made[output]
            if parameters is not None:
                scale, zero_point = parameters
                codes = np.rint(codes.astype(np.float64) / float(scale)).astype(np.int64) + int(zero_point)
            compared[f"{name} (output)"] = (ours[name], codes)
        inner = onnx.load(optimized)
        names = [name for node in inner.graph.node for name in node.output if file.quantized(name) in ours]
        inner.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in names)
        onnx.save(inner, optimized)
        made = run(session(optimized), samples)
        for name in names:
            if made[name].dtype.kind in "iu":
                compared[file.quantized(name)] = (ours[file.quantized(name)], made[name])
    total = {"tensors": len(compared), "codes": 0, "different": 0, "missing": missing}
    for name, (own, codes) in compared.items():
        different = differences(own, codes)
        print(f"{different:>8} of {codes.size:>9} differ  {name}")
        total["codes"] += codes.size
        total["different"] += different
    print(json.dumps(total))
    sys.exit(bool(total["different"] or missing))


if __name__ == "__main__":
    main()
