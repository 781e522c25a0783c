"""Writes the networks of `frontends/tests/onnx` that tests run or refuse without Python: `make_onnx_goldens.py FOLDER`."""

import pathlib
import shutil
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "oracles"))

import onnx_networks  # noqa: E402
import onnx_one_op  # noqa: E402
import onnx_qonnx  # noqa: E402
from onnx_case import Cases, Net  # noqa: E402

KEPT = {
    "one_op": ["QLinearConv_1", "QLinearConv_7", "QLinearMatMul_2", "QLinearAdd_3", "QLinearMul_5", "QLinearAveragePool_4"]
    + ["QLinearGlobalAveragePool_2", "QLinearConcat_6", "QLinearSoftmax_3", "ConvInteger_1", "MatMulInteger_2", "QGemm_4"]
    + ["qdq_own_bias_0", "qdq_own_bias_1", "qdq_own_bias_2", "qdq_own_bias_5", "moved_pair_1", "moved_pair_4", "moved_pair_6"]
    + ["qdq_made_weights_0", "qdq_made_weights_2", "qdq_made_weights_3", "qdq_made_weights_7", "qdq_MaxPool_6"]
    + ["conv_transpose_0", "conv_transpose_3", "unusual_form_0", "unusual_form_4", "unusual_form_7", "unusual_form_13", "wide_sums_0", "wide_sums_3"]
    + ["qdq_Conv_2", "qdq_Gemm_1", "qdq_Add_4", "qdq_Concat_3", "qdq_moves_2", "qdq_Sigmoid_1", "qdq_Softmax_4"],
    "qonnx": ["mlp_w3a3_norm_0", "cnn_w2a2_1", "trunc_0", "deep_0"],
    "networks": ["residual_qdq_channel_u8s8_3", "mlp_qoperator_tensor_s8s8_1"],
}

folder = pathlib.Path(sys.argv[1])


def kept(module, names):
    work = folder / "work"
    cases = Cases(work)
    module.add(cases)
    chosen = [case for case in cases.cases if case["name"] in names]
    for case in chosen:
        shutil.move(work / f"{case['name']}.onnx", folder / "golden" / f"{case['name']}.onnx")
    shutil.rmtree(work)
    return chosen


(folder / "golden").mkdir(parents=True, exist_ok=True)
golden = Cases(folder / "golden")
for name, module in {"one_op": onnx_one_op, "qonnx": onnx_qonnx, "networks": onnx_networks}.items():
    golden.cases += kept(module, KEPT[name])
golden.write()
# Every network of these could be exported.
(folder / "golden" / "unexported.json").unlink()


def bad(name, net, change=None):
    model = net.model()
    if change:
        change(model)
    target = folder / "bad"
    target.mkdir(exist_ok=True)
    (target / f"{name}.onnx").write_bytes(model.SerializeToString())


def codes(net, shape=(1, 4)):
    return net.dq(net.q(net.input(np.zeros(shape, np.float32)), 0.5, np.int8(3)), 0.5, np.int8(3))


def one(op, *inputs, shape=(1, 4), **attributes):
    net = Net()
    net.out(net.op(op, [codes(net, shape), *(net.const(i) for i in inputs)], **attributes))
    return net


bad("operator", one("Einsum", equation="ij->ji"))
bad("domain", one("Attention", domain="com.microsoft"))
bad("gemm_alpha", one("Gemm", np.ones((4, 2), np.float32), alpha=0.5))
bad("pool_of_three_axes", one("MaxPool", shape=(1, 1, 4, 4, 4), kernel_shape=[2, 2, 2]))
bad("pool_dilated", one("MaxPool", shape=(1, 1, 4, 4), kernel_shape=[2, 2], dilations=[2, 2]))
bad("reshape", one("Reshape", np.array([3, -1], np.int64)))
bad("axis", one("Softmax", axis=7))
bad("pad_mode", one("Pad", np.zeros(4, np.int64), mode="wrap"))

net = Net()
x = net.q(net.input(np.zeros((1, 4), np.float32)), 0.5, np.int16(3))
net.out(net.dq(net.op("Reshape", [x, net.const(np.array([4], np.int64))]), 0.25, np.int16(3)))
bad("another_scale", net)

net = Net()
net.out(net.op("QLinearConv", [net.input(np.zeros((1, 1, 3, 3), np.uint8)), net.const(np.float32(1)), net.const(np.uint8(0)), net.input(np.zeros((1, 1, 3, 3), np.uint8)), net.const(np.float32(1)), net.const(np.uint8(0)), net.const(np.float32(1)), net.const(np.uint8(0))]))
bad("weights_that_are_computed", net)

net = Net()
net.out(net.dq(net.input(np.zeros((1, 4), np.int8)), 0.0, np.int8(0)))
bad("scale_of_zero", net)


def size(model, value):
    model.graph.input[0].type.tensor_type.shape.dim[1].dim_param = value


bad("open_size", one("Relu"), lambda model: size(model, "width"))
bad("old", one("Relu"), lambda model: setattr(model.opset_import[0], "version", 6))
old_slice = one("Slice", axes=[0], starts=[0], ends=[1])
bad("old_slice", old_slice, lambda model: setattr(model.opset_import[0], "version", 8))


def calls_itself(model):
    node = helper.make_node("f", ["x"], ["y"], domain="d")
    model.functions.append(helper.make_function("d", "f", ["x"], ["y"], [node], []))
    model.opset_import.append(helper.make_opsetid("d", 1))
    last = model.graph.node[-1]
    last.op_type, last.domain = "f", "d"


bad("function", one("Relu"), calls_itself)


def doubles(model):
    """Returns a model with 40 functions, each of which calls the previous one twice: no nodes remain, but 2 ** 40 calls."""
    names = [f"f{index}" for index in range(40)]
    for before, name in zip([None, *names], names):
        calls = [] if before is None else [helper.make_node(before, ["x"], [y], domain="d") for y in ["a", "y"]]
        model.functions.append(helper.make_function("d", name, ["x"], ["y"], calls, []))
    model.opset_import.append(helper.make_opsetid("d", 1))
    last = model.graph.node[-1]
    last.op_type, last.domain = names[-1], "d"


bad("function_doubles", one("Relu"), doubles)
bad("made_twice", one("Relu"), lambda model: model.graph.node.append(model.graph.node[-1]))


def own_output(model):
    model.graph.node[-1].input[0] = model.graph.node[-1].output[0]


bad("reads_itself", one("Relu"), own_output)
bad("output_twice", one("Relu"), lambda model: model.graph.output.append(model.graph.output[0]))


def declare(model, shape):
    value = helper.make_tensor_value_info(model.graph.node[-1].output[0], TensorProto.FLOAT, shape)
    model.graph.output[0].CopyFrom(value)


bad("another_shape", one("Relu"), lambda model: declare(model, [1, 2, 2]))
bad("another_size", one("Relu"), lambda model: declare(model, ["n", 5]))
constants = [np.ones(3, np.float32), np.zeros(3, np.float32), np.zeros(3, np.float32), np.ones(3, np.float32)]
bad("normalizes_one_axis", one("BatchNormalization", *constants, shape=(3,)))

net = Net()
x = net.op("ConstantOfShape", [net.const(np.array([1 << 25], np.int64))])
for _ in range(3):
    x = net.op("Relu", [x])
net.out(net.op("Add", [codes(net, (1, 1)), x]))
bad("computed_constants", net)

net = Net()
scale = lambda value: [net.const(np.float32(value)), net.const(np.int32(0))]
net.out(net.op("QLinearConcat", [*scale(1), net.input(np.zeros((1, 4), np.int32)), *scale(2)], "com.microsoft", axis=1))
bad("table_of_int32", net)


def external(model, location):
    tensor = model.graph.initializer[0]
    tensor.ClearField("float_data")
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=location)


for name, location in {"absolute": "/etc/passwd", "outside": "../x", "missing": "absent.bin", "empty": ""}.items():
    bad(f"external_{name}", one("Relu"), lambda model: external(model, location))


def first(model, **fields):
    for key, value in fields.items():
        if isinstance(value, list):
            model.graph.initializer[0].ClearField(key)
            getattr(model.graph.initializer[0], key).extend(value)
        else:
            setattr(model.graph.initializer[0], key, value)


bad("too_few_bytes", one("Relu"), lambda model: first(model, dims=[5]))
bad("negative_size", one("Relu"), lambda model: first(model, dims=[-5]))
bad("huge", one("Relu"), lambda model: first(model, dims=[1 << 40, 1 << 40]))
bad("type", one("Relu"), lambda model: first(model, data_type=14))
(folder / "bad" / "text.onnx").write_bytes(b"this is no ONNX file")
(folder / "bad" / "empty.onnx").write_bytes(b"")
