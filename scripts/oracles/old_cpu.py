"""Runs networks in ONNX Runtime on an emulated CPU, whose int8 kernels may saturate.

    old_cpu.py make FOLDER                  writes network.onnx, layers with unsigned activations, and x.npy
    old_cpu.py run MODEL X.npy OUT.npz      writes the codes of all outputs; under `qemu-x86_64 -cpu Haswell`
                                            those of a CPU that has AVX2, but not VNNI
    old_cpu.py compare OUT.npz RUN KIND     compares them with the exact or simulated codes of a guardbit run

Needs scripts/requirements/onnx.txt.
"""

import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

SAMPLES = 20


def make(folder):
    random = np.random.default_rng(5)
    constants, nodes = {}, []

    def quantized(name, scale, zero_point):
        constants[f"{name}_scale"], constants[f"{name}_zero"] = np.float32(scale), zero_point
        return [f"{name}_scale", f"{name}_zero"]

    def layer(op, x, y, shape, scale, **attributes):
        constants[f"{y}_w"] = random.integers(-127, 128, shape).astype(np.int8)
        # Neighbours of one sign saturate in pairs.
        positive = random.random(shape) < 0.2
        constants[f"{y}_w"][positive] = abs(constants[f"{y}_w"][positive])
        inputs = [x, f"{x}_scale", f"{x}_zero", f"{y}_w", *quantized(f"{y}_w", 1 / 128, np.int8(0))]
        inputs += quantized(y, scale, np.uint8(5))
        if op == "QLinearConv":
            constants[f"{y}_b"] = random.integers(-2000, 2000, shape[0]).astype(np.int32)
            inputs.append(f"{y}_b")
        nodes.append(helper.make_node(op, inputs, [y], **attributes))

    quantized("x", 1 / 64, np.uint8(3))
    # 27 products: the last pair has one.
    layer("QLinearConv", "x", "a", (8, 3, 3, 3), 0.3, pads=[1, 1, 1, 1])
    layer("QLinearConv", "a", "b", (16, 8, 3, 3), 1.2, strides=[2, 2], pads=[0, 0, 1, 1])
    layer("QLinearConv", "b", "c", (9, 16, 1, 1), 2.0)
    constants["flat"] = np.array([1, 9 * 6 * 6])
    nodes.append(helper.make_node("Reshape", ["c", "flat"], ["d"]))
    constants["d_scale"], constants["d_zero"] = constants["c_scale"], constants["c_zero"]
    layer("QLinearMatMul", "d", "e", (9 * 6 * 6, 7), 24.0)

    inputs = [helper.make_tensor_value_info("x", TensorProto.UINT8, [1, 3, 12, 12])]
    outputs = [
        helper.make_tensor_value_info(name, TensorProto.UINT8, shape)
        for name, shape in {"b": [1, 16, 6, 6], "e": [1, 7]}.items()
    ]
    initializers = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "old_cpu", inputs, outputs, initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, Path(folder) / "network.onnx")
    np.save(Path(folder) / "x.npy", random.integers(0, 256, (SAMPLES, 3, 12, 12)).astype(np.uint8))


def run(model, inputs, out):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    (network_input,) = session.get_inputs()
    dtype = np.float32 if "float" in network_input.type else np.uint8
    x = np.load(inputs)[:SAMPLES].astype(dtype).reshape(-1, *network_input.shape)
    names = [output.name for output in session.get_outputs()]
    results = [session.run(None, {network_input.name: sample}) for sample in x]
    graph = onnx.load(model).graph
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    made = {}
    for name, values in zip(names, zip(*results)):
        made[name] = np.concatenate(values)
        (writer,) = [node for node in graph.node if name in node.output]
        if writer.op_type == "DequantizeLinear":
            scale, zero_point = (constants[i] for i in writer.input[1:3])
            made[name] = np.rint(made[name] / scale).astype(np.int64) + zero_point
    np.savez(out, **made)


def compare(made, folder, kind):
    made, ran = np.load(made), np.load(Path(folder) / "outputs.npz")
    pairs = [(made[name].ravel(), ran[f"{kind}/{name}"].ravel()) for name in made.files]
    print(sum(a.size for a, _ in pairs), "codes,", sum(int((a != b).sum()) for a, b in pairs), "differ")


if __name__ == "__main__":
    {"make": make, "run": run, "compare": compare}[sys.argv[1]](*sys.argv[2:])
