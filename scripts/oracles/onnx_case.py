"""Models and their results in a runtime, as files that the tests of `frontends` read."""

import json
import pathlib

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from onnx_exact import exact

MS = "com.microsoft"
OPSET = 21
# Allowed error of a real value before a quantizer, relative to the largest value of its tensor. It is 64 roundings, for
# the longest sums of these networks, and 4 in float16, which only rounds the results of operators.
FLOAT32, FLOAT16 = 64 * 2.0**-24, 4 * 2.0**-11
ELEMENT = {
    np.dtype(np.int8): TensorProto.INT8,
    np.dtype(np.uint8): TensorProto.UINT8,
    np.dtype(np.int16): TensorProto.INT16,
    np.dtype(np.uint16): TensorProto.UINT16,
    np.dtype(np.int32): TensorProto.INT32,
    np.dtype(np.float32): TensorProto.FLOAT,
}


class Net:
    """Network under construction: nodes, constants and inputs."""

    def __init__(self):
        self.nodes, self.constants, self.inputs, self.feeds, self.outputs = [], [], [], {}, []
        self.functions = []
        # Number of integer layers, if stated.
        self.layers = None
        # Whether the runtime fuses operators.
        self.fused = True

    def input(self, array, name=None):
        name = name or f"in{len(self.inputs)}"
        array = np.ascontiguousarray(array)
        self.inputs.append(helper.make_tensor_value_info(name, ELEMENT[array.dtype], array.shape))
        self.feeds[name] = array
        return name

    def const(self, array, name=None):
        name = name or f"const{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def raw(self, tensor):
        self.constants.append(tensor)
        return tensor.name

    def op(self, op, inputs, domain="", outputs=1, **attributes):
        names = [f"t{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, domain=domain, **attributes))
        return names[0] if outputs == 1 else names

    def q(self, x, scale, zero, **attributes):
        return self.op("QuantizeLinear", [x, self.const(np.float32(scale)), self.const(zero)], **attributes)

    def dq(self, x, scale, zero, **attributes):
        return self.op("DequantizeLinear", [x, self.const(np.float32(scale)), self.const(zero)], **attributes)

    def out(self, name):
        self.outputs.append(helper.make_empty_tensor_value_info(name))

    def real_out(self, name, shape):
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))

    def model(self, opset=OPSET, domains=(MS,)):
        graph = helper.make_graph(self.nodes, "net", self.inputs, self.outputs, self.constants)
        local = {function.domain for function in self.functions}
        opsets = [helper.make_opsetid("", opset)] + [helper.make_opsetid(d, 1) for d in [*domains, *sorted(local)]]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10, functions=self.functions)


def session(model, fused=True):
    options = onnxruntime.SessionOptions()
    if not fused:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    # Otherwise operators on int8 codes with several readers run in float on x86-64.
    options.add_session_config_entry("session.qdqisint8allowed", "1")
    return onnxruntime.InferenceSession(exact(model).SerializeToString(), options, providers=["CPUExecutionProvider"])


def run(model, feeds, fused=True):
    return session(model, fused).run(None, feeds)


def quantizers(model, feeds, relative):
    """Returns the codes of every quantizer of activations in ONNX Runtime without fusion, and whether each is so close
    to a tie that
    a real value off by `relative` of the largest value is rounded the other way. Also returns the outputs of that run.
    """
    constants = {tensor.name for tensor in model.graph.initializer}
    constants |= {name for node in model.graph.node if node.op_type == "Constant" for name in node.output}
    nodes = [n for n in model.graph.node if n.op_type == "QuantizeLinear" and n.input[0] not in constants]
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    own = [output.name for output in copy.graph.output]
    of_graph = set(own) | {i.name for i in copy.graph.input}
    wanted = dict.fromkeys(name for n in nodes for name in (*n.input[:3], *n.output) if name not in of_graph)
    copy.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in wanted)
    values = feeds | dict(zip([*own, *wanted], run(copy, feeds, fused=False)))
    makers = {name: node for node in model.graph.node for name in node.output}
    codes, ties = {}, {}
    for node in nodes:
        x, made = (np.asarray(values[name], np.float64 if i == 0 else None) for i, name in enumerate((node.input[0], node.output[0])))
        scale = np.asarray(values[node.input[1]], np.float64)
        assert scale.size == 1, "a scale per tensor"
        distance = np.abs(np.mod(x / scale, 1) - 0.5)
        near = distance <= relative * np.abs(x / scale).max()
        # A layer with its activation and quantizer is one operation here, so a tie of the first quantizer is one of the
        # second.
        relu = makers.get(node.input[0])
        if relu and relu.op_type in ("Relu", "Clip") and relu.input[0] in makers and makers[relu.input[0]].op_type == "DequantizeLinear":
            near |= ties.get(makers[relu.input[0]].input[0], False)
        ties[node.output[0]] = near
        codes[node.output[0]] = {"codes": array(made), "near": near.astype(int).ravel().tolist()}
    return codes, [values[name] for name in own]


def array(values):
    """Returns an array as JSON: real numbers as the bits of float32, and those of at most 8 bits as codes."""
    values = np.asarray(values)
    if values.dtype.name == "bfloat16":
        values = values.astype(np.float32)
    if values.dtype.name.startswith("float") and values.itemsize == 1:
        values = values.view(f"u{values.itemsize}")
    if values.dtype.kind == "f":
        return {"dtype": "float32", "shape": values.shape, "data": values.astype(np.float32).view(np.uint32).ravel().tolist()}
    name = values.dtype.name if values.dtype.kind in "iub" else "int32"
    return {"dtype": name, "shape": values.shape, "data": values.astype(np.int64).ravel().tolist()}


class Cases:
    """Writer of cases to a folder."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.cases = []
        # Networks that their exporter cannot write, with its error.
        self.unexported = {}

    def add(self, name, model, feeds, outputs, **more):
        onnx.save(model, self.folder / f"{name}.onnx")
        inputs = [array(feeds[i.name]) for i in model.graph.input]
        self.cases.append({"name": name, "inputs": inputs, "outputs": [array(o) for o in outputs], **more})

    def by_quantizer(self, name, model, feeds, relative, reason, **more):
        """Adds a case that is compared quantizer by quantizer, each with the runtime's own codes as inputs."""
        codes, outputs = quantizers(model, feeds, relative)
        (output,) = (output.name for output in model.graph.output)
        (last,) = (node for node in model.graph.node if output in node.output)
        near = 0 if last.op_type in ("QuantizeLinear", "DequantizeLinear") else relative * float(np.abs(outputs[0]).max())
        if last.op_type == "DequantizeLinear":
            # Codes whose real values are an output have the output's name here.
            codes[output] = codes.pop(last.input[0])
        self.add(name, model, feeds, outputs, codes=codes, near=near, reason=reason, **more)

    def net(self, name, net, model=None, **more):
        model = model or net.model()
        try:
            outputs = run(model, net.feeds, net.fused)
        except Exception as error:
            raise RuntimeError(f"{name}: {error}") from error
        self.add(name, model, net.feeds, outputs, layers=net.layers, **more)

    def write(self):
        (self.folder / "cases.json").write_text(json.dumps(self.cases))
        (self.folder / "unexported.json").write_text(json.dumps(self.unexported))
