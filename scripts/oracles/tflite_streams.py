"""Networks with variables, drawn from a seed: each step stores values for the next one.

Every function draws one network on activations of one type; `STREAMS` lists them with the types that they are drawn for.
"""

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from tflite_cases import ALL, FUSED, Builtin, ints, like, options
from tflite_models import Tensor, append_tensor

STEPS = 50


class Stream:
    """Network with input `x`, and the initialization of its variables."""

    def __init__(self, draw, dtype, shape):
        self.model = schema.ModelT()
        self.model.version, self.model.operatorCodes, self.model.buffers = 3, [], [schema.BufferT()]
        self.network, self.start = subgraph(), subgraph()
        self.model.subgraphs = [self.network, self.start]
        # Codes of every step.
        self.x = draw.input(dtype, [STEPS, *shape])
        self.codes, self.x.shape = self.x.codes, [1, *shape]
        self.numbers = {}
        self.network.inputs = [self.number(self.x)]
        self.operator(self.network, Builtin.CALL_ONCE, options("CallOnceOptions", initSubgraphIndex=1), [], [])

    def number(self, tensor):
        """Returns the index of a tensor of the network."""
        if id(tensor) not in self.numbers:
            self.numbers[id(tensor)] = tensor, self.append(self.network, tensor)
        return self.numbers[id(tensor)][1]

    def append(self, graph, tensor):
        return append_tensor(self.model, graph, tensor, f"t{len(graph.tensors)}")

    def handle(self, graph, name):
        resource = schema.TensorT()
        resource.name, resource.shape, resource.buffer = f"t{len(graph.tensors)}", [], 0
        resource.type = schema.TensorType.RESOURCE
        graph.tensors.append(resource)
        at = len(graph.tensors) - 1
        self.operator(graph, Builtin.VAR_HANDLE, options("VarHandleOptions", container="", sharedName=name), [], [at])
        return at

    def operator(self, graph, builtin, made, inputs, outputs, version=1):
        operator, code = schema.OperatorT(), schema.OperatorCodeT()
        operator.inputs, operator.outputs = inputs, outputs
        code.builtinCode, code.deprecatedBuiltinCode, code.version = builtin, min(builtin, 127), version
        operator.opcodeIndex = len(self.model.operatorCodes)
        self.model.operatorCodes.append(code)
        operator.builtinOptionsType = getattr(schema.BuiltinOptions, type(made).__name__.removesuffix("T"))
        operator.builtinOptions = made
        graph.operators.append(operator)

    def variable(self, draw, name, shape):
        """Adds a variable with the type of `x` and drawn initial codes."""
        codes = draw.codes(self.x.dtype, shape)
        constant = Tensor(codes, dtype=self.x.dtype, scales=self.x.scales, zero_points=self.x.zero_points, constant=True)
        at = self.append(self.start, constant)
        assigned = [self.handle(self.start, name), at]
        self.operator(self.start, Builtin.ASSIGN_VARIABLE, options("AssignVariableOptions"), assigned, [])
        return self.handle(self.network, name), shape

    def read(self, variable):
        handle, shape = variable
        made = like(self.x)
        made.shape = list(shape)
        self.operator(self.network, Builtin.READ_VARIABLE, options("ReadVariableOptions"), [handle], [self.number(made)])
        return made

    def assign(self, variable, tensor):
        inputs = [variable[0], self.number(tensor)]
        self.operator(self.network, Builtin.ASSIGN_VARIABLE, options("AssignVariableOptions"), inputs, [])

    def run(self, builtin, made, inputs, output, shape, version=1):
        output.shape = list(shape)
        inputs = [self.number(tensor) for tensor in inputs]
        self.operator(self.network, builtin, made, inputs, [self.number(output)], version)
        return output

    def join(self, tensors, axis):
        shape = list(tensors[0].shape)
        shape[axis] = sum(tensor.shape[axis] for tensor in tensors)
        made = options("ConcatenationOptions", axis=axis, fusedActivationFunction=FUSED.NONE)
        return self.run(Builtin.CONCATENATION, made, tensors, like(self.x), shape, 2)

    def finished(self, *outputs):
        """Returns the file, and the codes of the steps."""
        self.network.outputs = [self.number(tensor) for tensor in outputs]
        builder = flatbuffers.Builder(1024)
        builder.Finish(self.model.Pack(builder), b"TFL3")
        return bytes(builder.Output()), self.codes[:, None]


def subgraph():
    made = schema.SubGraphT()
    made.tensors, made.inputs, made.outputs, made.operators = [], [], [], []
    return made


def delay(d, dtype):
    """Returns a read before the assignment."""
    s = Stream(d, dtype, [d.size(1, 5)])
    v = s.variable(d, "v", s.x.shape)
    before = s.read(v)
    s.assign(v, s.x)
    return s.finished(s.join([before, s.x], 1))


def both_sides(d, dtype):
    """Returns a read before the assignment and one after it."""
    s = Stream(d, dtype, [d.size(1, 5)])
    v = s.variable(d, "v", s.x.shape)
    before = s.read(v)
    s.assign(v, s.x)
    return s.finished(s.join([before, s.read(v)], 1))


def chain(d, dtype):
    """Returns two variables: the value of one moves to the other, read before or not."""
    s = Stream(d, dtype, [d.size(1, 5)])
    v, w = s.variable(d, "v", s.x.shape), s.variable(d, "w", s.x.shape)
    late = d.pick(True, False)
    first, second = s.read(v), None if late else s.read(w)
    s.assign(w, first)
    s.assign(v, s.x)
    return s.finished(s.join([first, s.read(w) if late else second], 1))


def sum_up(d, dtype):
    """Returns an accumulator: the sum of a step and of the stored value is stored."""
    s = Stream(d, dtype, [d.size(1, 5)])
    v = s.variable(d, "v", s.x.shape)
    made = options("AddOptions", fusedActivationFunction=d.fused(), potScaleInt16=False)
    total = s.run(Builtin.ADD, made, [s.read(v), s.x], d.pick(like(s.x), d.output(dtype)), s.x.shape)
    s.assign(v, total)
    return s.finished(total)


def convolution(d, dtype):
    """Returns a convolution over the last steps, which a variable holds."""
    kept, depth, channels = d.size(1, 4), d.size(1, 3), d.size(1, 3)
    s = Stream(d, dtype, [1, 1, depth])
    v = s.variable(d, "v", [1, kept, 1, depth])
    steps = s.join([s.read(v), s.x], 1)
    end, shape = [1, kept + 1, 1, depth], [1, kept, 1, depth]
    if d.pick(True, False):
        inputs, made = [steps, ints([0, 1, 0, 0]), ints(shape)], options("SliceOptions")
        last = s.run(Builtin.SLICE, made, inputs, like(s.x), shape)
    else:
        made = options("StridedSliceOptions", beginMask=13, endMask=15, ellipsisMask=0, newAxisMask=0, shrinkAxisMask=0)
        inputs = [steps, ints([0, 1, 0, 0]), ints(end), ints([1, 1, 1, 1])]
        last = s.run(Builtin.STRIDED_SLICE, made, inputs, like(s.x), shape)
    s.assign(v, last)
    w = d.weights("int8", [channels, kept + 1, 1, depth], 0, dtype)
    made = options("Conv2DOptions", fusedActivationFunction=d.fused(), padding=schema.Padding.VALID)
    made.strideH = made.strideW = made.dilationHFactor = made.dilationWFactor = 1
    inputs = [steps, w, d.bias(steps, w, channels)]
    return s.finished(s.run(Builtin.CONV_2D, made, inputs, d.output(dtype, d.scale(0.02, 0.2)), [1, 1, 1, channels]))


# Name, function, types, networks per type.
STREAMS = [
    ("stream_delay", delay, ALL, 3),
    ("stream_both_sides", both_sides, ALL, 3),
    ("stream_chain", chain, ALL, 4),
    ("stream_sum", sum_up, ALL, 6),
    ("stream_conv_2d", convolution, ALL, 8),
]
