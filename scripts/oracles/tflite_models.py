"""TFLite files of one operator or a few, and the runtimes that run them."""

import os
import pickle
import sys

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema

# Element types: number in the schema and NumPy's type. 4-bit and 2-bit types are stored as int8 here.
DTYPES = {
    "int8": (schema.TensorType.INT8, np.int8),
    "uint8": (schema.TensorType.UINT8, np.uint8),
    "int16": (schema.TensorType.INT16, np.int16),
    "int32": (schema.TensorType.INT32, np.int32),
    "int64": (schema.TensorType.INT64, np.int64),
    "float32": (schema.TensorType.FLOAT32, np.float32),
    "int4": (schema.TensorType.INT4, np.int8),
    "int2": (schema.TensorType.INT2, np.int8),
}
BITS = {"int4": 4, "int2": 2}


class Tensor:
    """Tensor with its quantization; an output's shape is filled in by the first runtime that computes it.

    A tensor computed by another operator of the network has the operator as its `source`: builtin, options and inputs.
    """

    def __init__(self, codes=None, shape=None, dtype="int8", scales=None, zero_points=0, axis=None, constant=False, source=None):
        self.codes = None if codes is None else np.asarray(codes, DTYPES[dtype][1])
        self.shape = list(self.codes.shape if shape is None else shape)
        self.dtype = dtype
        self.scales = None if scales is None else np.atleast_1d(np.float32(scales))
        count = 0 if scales is None else len(self.scales)
        self.zero_points = [int(z) for z in np.broadcast_to(np.atleast_1d(zero_points), count)]
        self.axis = axis
        self.constant = constant
        self.source = source

    def data(self):
        """Returns the bytes of a constant: 4-bit and 2-bit codes are packed, the first one in the low bits."""
        bits = BITS.get(self.dtype)
        if bits is None:
            return self.codes.tobytes()
        per_byte = 8 // bits
        flat = self.codes.ravel().astype(np.int64) & ((1 << bits) - 1)
        flat = np.concatenate([flat, np.zeros(-len(flat) % per_byte, np.int64)]).reshape(-1, per_byte)
        return (flat << (np.arange(per_byte) * bits)).sum(axis=1).astype(np.uint8).tobytes()


def build(builtin, options, inputs, outputs, version=1):
    """Returns a model of one operator, including the operators that compute its inputs, as bytes. `options` is an
    options object of
    the schema, or None; an absent input is None."""
    model, graph = schema.ModelT(), schema.SubGraphT()
    model.version, model.operatorCodes, model.buffers = 3, [], [schema.BufferT()]
    graph.tensors, graph.inputs, graph.outputs, graph.operators = [], [], [], []
    numbers = {}

    def add(tensor, name):
        if tensor is None:
            return -1
        if id(tensor) in numbers:
            return numbers[id(tensor)]
        if tensor.source is not None:
            operator(*tensor.source, [(tensor, name)], prefix=f"{name}_")
            return numbers[id(tensor)]
        if not tensor.constant:
            graph.inputs.append(len(graph.tensors))
        return append(tensor, name)

    def append(tensor, name):
        numbers[id(tensor)] = append_tensor(model, graph, tensor, name)
        return numbers[id(tensor)]

    def operator(builtin, options, inputs, outputs, prefix="x", version=1):
        op, code = schema.OperatorT(), schema.OperatorCodeT()
        op.inputs = [add(tensor, f"{prefix}{index}") for index, tensor in enumerate(inputs)]
        op.outputs = [append(tensor, name) for tensor, name in outputs]
        code.builtinCode, code.deprecatedBuiltinCode, code.version = builtin, min(builtin, 127), version
        op.opcodeIndex = len(model.operatorCodes)
        model.operatorCodes.append(code)
        if options is not None:
            name = type(options).__name__.removesuffix("T")
            op.builtinOptionsType, op.builtinOptions = getattr(schema.BuiltinOptions, name), options
        graph.operators.append(op)
        return op

    made = operator(builtin, options, inputs, [(tensor, f"y{index}") for index, tensor in enumerate(outputs)], version=version)
    graph.outputs = list(made.outputs)
    model.subgraphs = [graph]
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def append_tensor(model, graph, tensor, name):
    """Appends a tensor and its data to a subgraph; returns its index there."""
    graph.tensors.append(_tensor(model, tensor, name))
    return len(graph.tensors) - 1


def _tensor(model, tensor, name):
    flat = schema.TensorT()
    flat.name, flat.shape, flat.type, flat.buffer = name, tensor.shape, DTYPES[tensor.dtype][0], 0
    if tensor.scales is not None:
        flat.quantization = schema.QuantizationParametersT()
        flat.quantization.scale = [float(s) for s in tensor.scales]
        flat.quantization.zeroPoint = tensor.zero_points
        flat.quantization.quantizedDimension = tensor.axis or 0
    if tensor.constant:
        data = schema.BufferT()
        data.data = np.frombuffer(tensor.data(), np.uint8)
        flat.buffer = len(model.buffers)
        model.buffers.append(data)
    return flat


def litert(resolver):
    """Returns LiteRT with a set of kernels: a function from a model and the inputs of every step to the outputs of
    every step."""

    def run(model, steps):
        from ai_edge_litert.interpreter import Interpreter, OpResolverType

        kind = getattr(OpResolverType, resolver)
        interpreter = Interpreter(model_content=model, experimental_op_resolver_type=kind, num_threads=1)
        interpreter.allocate_tensors()
        made = []
        for inputs in steps:
            for codes, details in zip(inputs, interpreter.get_input_details(), strict=True):
                interpreter.set_tensor(details["index"], codes)
            interpreter.invoke()
            made.append([interpreter.get_tensor(details["index"]) for details in interpreter.get_output_details()])
        return made

    return run


def tflm(model, steps):
    """Returns the outputs of every step in TensorFlow Lite Micro."""
    from tflite_micro import runtime

    interpreter = runtime.Interpreter.from_bytes(model, arena_size=max(1 << 20, 40 * len(model)))
    made = []
    for inputs in steps:
        for index, codes in enumerate(inputs):
            interpreter.set_input(codes, index)
        interpreter.invoke()
        made.append([])
        while True:
            try:
                made[-1].append(interpreter.get_output(len(made[-1])))
            except IndexError:
                break
    return made


RUNTIMES = {
    "litert_ref": litert("BUILTIN_REF"),
    "xnnpack": litert("AUTO"),
    "tflm": tflm,
}


def run(runtime, model, inputs):
    """Returns a runtime's results for a model: a list of arrays, or its error message, also if the runtime crashes."""
    made = run_steps(runtime, model, [inputs])
    return made if isinstance(made, str) else made[0]


def run_steps(runtime, model, steps):
    """Returns a runtime's results for the inputs of consecutive steps: a list of arrays per step."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        try:
            result = RUNTIMES[runtime](model, steps)
        except BaseException as error:  # noqa: BLE001, whatever it is, it is the answer
            result = f"{type(error).__name__}: {error}"
        with os.fdopen(writer, "wb") as pipe:
            pickle.dump(result, pipe)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        answer = pipe.read()
    _, status = os.waitpid(child, 0)
    sys.stdout.flush()
    return pickle.loads(answer) if answer else f"died (status {status})"
