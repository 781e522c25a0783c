"""Checks the networks that guardbit wrote to a folder: `check_written.py FOLDER`. Prints one line per problem.

Each network must pass ONNX's full check and state the type and the shape of every tensor. If its number of samples is
fixed and it has no 4-bit codes, QONNX's executor runs it and must agree with ONNX Runtime. If its number of samples is
open, it is run on several samples at once and one by one. If the folder has `outputs.json`, it states the required
output names of each network.
"""

import json
import pathlib
import sys
import warnings

import numpy as np
import onnx
import onnxruntime
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx

SAMPLES = 3
# ONNX Runtime has no arrays of these types as inputs and outputs, so QONNX's executor cannot run such nodes.
FEW_BITS = {onnx.TensorProto.INT4, onnx.TensorProto.UINT4}


def session(path):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def shape(info):
    return [dim.dim_value for dim in info.type.tensor_type.shape.dim]


def problems(path, wanted):
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    graph = model.graph
    outputs = [info.name for info in graph.output]
    if wanted is not None and outputs != wanted:
        yield f"outputs are {outputs}, not {wanted}"
    stated = {info.name for info in [*graph.input, *graph.output, *graph.value_info] if info.type.tensor_type.HasField("shape")}
    yield from (f"{name} has no shape" for node in graph.node for name in node.output if name not in stated)
    rng, runtime = np.random.default_rng(1), session(path)
    free = all(shape(info)[0] == 0 for info in graph.input)
    sizes = {info.name: [SAMPLES if free else 1, *shape(info)[1:]] if free else shape(info) for info in graph.input}
    feeds = {name: rng.normal(0, 5, size).astype(np.float32) for name, size in sizes.items()}
    names = [info.name for info in graph.output]
    made = dict(zip(names, runtime.run(None, feeds)))
    if free:
        one_by_one = [runtime.run(None, {k: v[i : i + 1] for k, v in feeds.items()}) for i in range(SAMPLES)]
        expected = {name: np.concatenate(parts) for name, parts in zip(names, zip(*one_by_one))}
    elif FEW_BITS & {*(i.type.tensor_type.elem_type for i in graph.value_info), *(i.data_type for i in graph.initializer)}:
        expected = made
    else:
        with warnings.catch_warnings():
            # Warnings about shapes that differ from those in the file are errors.
            warnings.simplefilter("error")
            expected = execute_onnx(ModelWrapper(str(path)), feeds)
    for name in names:
        if made[name].shape != expected[name].shape or (made[name] != expected[name]).any():
            yield f"{name} is {made[name].ravel()[:4]} at once, {expected[name].ravel()[:4]} otherwise"
    yield "open" if free else "few-bits" if expected is made else "fixed"


folder = pathlib.Path(sys.argv[1])
names = folder / "outputs.json"
names = json.loads(names.read_text()) if names.exists() else {}
for path in sorted(folder.glob("*.onnx")):
    try:
        *wrong, kind = problems(path, names.get(path.stem))
    except Exception as error:
        wrong, kind = [str(error)], "unknown"
    print("\n".join(f"{path.stem} {kind}: {line}" for line in wrong) or f"{path.stem} {kind}: ok")
