"""Changes models so that ONNX Runtime computes their sums exactly on any CPU.

On x86-64 CPUs without VNNI, ONNX Runtime adds products of uint8 activations and int8 weights in pairs that saturate at
16 bits (`vpmaddubsw`). Products of uint8 and uint8 are exact. Therefore the weights are converted to uint8 by adding
128, and so are their zero points, which keeps the represented values. ONNX Runtime's own setting for this,
`session.x64quantprecision`, skips some operators, and creates others without kernels (1.31.1).
"""

import functools
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

# Inputs of an operator: zero point of activations, weights, and zero point of weights.
PLACES = {
    "QLinearConv": (2, 3, 5),
    "QLinearMatMul": (2, 3, 5),
    "QGemm": (2, 3, 5),
    "ConvInteger": (2, 1, 3),
    "MatMulInteger": (2, 1, 3),
}
MOVES = {"Clip", "Flatten", "Identity", "MaxPool", "Relu", "Reshape", "Squeeze", "Transpose", "Unsqueeze"}
FLOAT = {"Conv", "ConvTranspose", "Gemm", "MatMul"}


@functools.cache
def saturates():
    """Returns whether sums saturate on this CPU."""
    info = pathlib.Path("/proc/cpuinfo")
    cpu = info.read_text().split() if info.exists() else []
    return "avx2" in cpu and not {"avx512_vnni", "avx_vnni"} & set(cpu)


class Rewriting:
    def __init__(self, model):
        self.graph = model.graph
        self.initialize_constants()
        self.constants = {i.name: i for i in self.graph.initializer}
        self.makers = {name: node for node in self.graph.node for name in node.output}
        self.types = {i.name: i.type.tensor_type.elem_type for i in self.graph.input}
        self.before = {}

    def initialize_constants(self):
        """Turns constant tensors that are nodes, as `torch.onnx` writes them, into initializers."""
        for node in [node for node in self.graph.node if node.op_type == "Constant"]:
            for tensor in (attribute.t for attribute in node.attribute if attribute.name == "value"):
                self.graph.initializer.add().CopyFrom(tensor)
                self.graph.initializer[-1].name = node.output[0]
                self.graph.node.remove(node)

    def type(self, name):
        """Returns the type of a tensor's elements, or of the codes before or after it; None if no operator needs it."""
        if name in self.constants:
            return self.constants[name].data_type
        maker = self.makers.get(name)
        if maker is None:
            return self.types.get(name)
        if maker.op_type == "DynamicQuantizeLinear":
            return TensorProto.UINT8
        if maker.op_type == "Cast":
            return next(attribute.i for attribute in maker.attribute if attribute.name == "to")
        if maker.op_type in {"QuantizeLinear", "DequantizeLinear"} and len(maker.input) == 3:
            return self.type(maker.input[2])
        return self.type(maker.input[0]) if maker.op_type in MOVES | {"DequantizeLinear"} else None

    def raised(self, name, node, shape=()):
        """Returns the name of an int8 tensor plus 128; a tensor of zeros with a shape if there is none."""
        new = f"{name or node.output[0]}_plus_128"
        if new in self.constants:
            return new
        if name and name not in self.constants:
            wide, sum_, to = f"{new}_wide", f"{new}_sum", TensorProto.INT32
            self.constant(np.int32(128), f"{new}_128")
            self.before.setdefault(id(node), []).extend([
                helper.make_node("Cast", [name], [wide], to=to),
                helper.make_node("Add", [wide, f"{new}_128"], [sum_]),
                helper.make_node("Cast", [sum_], [new], to=TensorProto.UINT8),
            ])  # fmt: skip
            return new
        old = numpy_helper.to_array(self.constants[name]) if name else np.zeros(shape, np.int8)
        self.constant((old.astype(np.int32) + 128).astype(np.uint8), new)
        return new

    def constant(self, values, name):
        self.constants[name] = numpy_helper.from_array(values, name)
        self.graph.initializer.append(self.constants[name])

    def raise_inputs(self, node, weights, zero, shape=()):
        inputs = list(node.input) + [""] * (zero + 1 - len(node.input))
        inputs[weights] = self.raised(inputs[weights], node)
        inputs[zero] = self.raised(inputs[zero], node, shape)
        node.input[:] = inputs

    def node(self, node):
        if node.op_type in PLACES:
            zero_in, weights, zero = PLACES[node.op_type]
            held = node.input[zero_in] if len(node.input) > zero_in and node.input[zero_in] else node.input[0]
            if self.type(held) == TensorProto.UINT8 and self.type(node.input[weights]) == TensorProto.INT8:
                self.raise_inputs(node, weights, zero)
        elif node.op_type in FLOAT and self.type(node.input[0]) == TensorProto.UINT8:
            maker = self.makers.get(node.input[1])
            while maker is not None and maker.op_type in MOVES:
                maker = self.makers.get(maker.input[0])
            if maker is not None and maker.op_type == "DequantizeLinear" and self.type(node.input[1]) == TensorProto.INT8:
                scale = self.constants.get(maker.input[1])
                self.raise_inputs(maker, 0, 2, tuple(scale.dims) if scale else ())

    def run(self):
        nodes = list(self.graph.node)
        for node in nodes:
            self.node(node)
        del self.graph.node[:]
        for node in nodes:
            self.graph.node.extend([*self.before.get(id(node), []), node])
        read = {name for node in self.graph.node for name in node.input} | {info.name for info in self.graph.output}
        kept = [constant for constant in self.graph.initializer if constant.name in read]
        del self.graph.initializer[:]
        self.graph.initializer.extend(kept)


def exact(model):
    """Returns the model, or an equivalent one whose sums are exact on this CPU."""
    if not saturates():
        return model
    model = onnx.ModelProto.FromString(model.SerializeToString())
    Rewriting(model).run()
    return model
