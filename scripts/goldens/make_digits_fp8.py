"""Writes examples/digits/digits_fp8.onnx: the digits network with float8e4m3fn activations and weights.

    python scripts/goldens/make_digits_fp8.py examples/digits

Every operand of a convolution and of the matrix product goes through QuantizeLinear and DequantizeLinear. The scale of
an activation is its largest magnitude over the calibration images, divided by 448; weights have such a scale per output
channel. Biases stay float32. It needs the packages onnx, numpy and ml_dtypes.
"""

import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

LARGEST = 448


def main():
    folder = Path(sys.argv[1])
    model = onnx.load(folder / "digits_float.onnx")
    graph = model.graph
    constants = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    layers = [node for node in graph.node if node.op_type in ("Conv", "Gemm")]
    seen = onnx.ModelProto()
    seen.CopyFrom(model)
    seen.graph.output.extend(helper.make_tensor_value_info(layer.input[0], TensorProto.FLOAT, None) for layer in layers)
    reference = ReferenceEvaluator(seen)
    images = np.load(folder / "calibration.npy").astype(np.float32).reshape(-1, 1, 8, 8, 1)
    largest = {layer.input[0]: 0.0 for layer in layers}
    for image in images:
        for layer, found in zip(layers, reference.run(None, {graph.input[0].name: image})[1:]):
            largest[layer.input[0]] = max(largest[layer.input[0]], float(np.abs(found).max()))

    nodes, initializers = [], [one for one in graph.initializer if one.name not in {layer.input[1] for layer in layers}]

    def constant(name, array):
        initializers.append(numpy_helper.from_array(array, name))
        return name

    zero = helper.make_tensor("zero", TensorProto.FLOAT8E4M3FN, [], b"\0", raw=True)
    initializers.append(zero)
    for node in graph.node:
        if node in layers:
            x, w = node.input[0], node.input[1]
            scale = constant(f"{x}/scale", np.float32(largest[x] / LARGEST))
            nodes.append(helper.make_node("QuantizeLinear", [x, scale, "zero"], [f"{x}/fp8"]))
            nodes.append(helper.make_node("DequantizeLinear", [f"{x}/fp8", scale], [f"{x}/real"]))
            # Both layouts have output channels first: the product is transposed.
            array = constants[w]
            channels = np.abs(array).reshape(array.shape[0], -1).max(axis=1)
            scales = (channels / LARGEST).astype(np.float32)
            codes = (array / scales.reshape(-1, *[1] * (array.ndim - 1))).astype(ml_dtypes.float8_e4m3fn)
            raw = codes.tobytes()
            initializers.append(helper.make_tensor(w, TensorProto.FLOAT8E4M3FN, array.shape, raw, raw=True))
            constant(f"{w}/scales", scales)
            nodes.append(helper.make_node("DequantizeLinear", [w, f"{w}/scales"], [f"{w}/real"], axis=0))
            node.input[0], node.input[1] = f"{x}/real", f"{w}/real"
        nodes.append(node)
    graph = helper.make_graph(nodes, "digits_fp8", graph.input, graph.output, initializers)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    onnx.checker.check_model(made)
    onnx.save(made, folder / "digits_fp8.onnx")


main()
