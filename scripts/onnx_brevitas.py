"""Brevitas' exports (`brevitas_export.py`): QONNX in QONNX's executor, QCDQ in ONNX Runtime as it stands in the file.

The exports are made by the Python that GUARDBIT_BREVITAS_PYTHON names. Scales are powers of two, so that float32 is exact, but
in networks whose name begins with `near_`.
"""

import os
import pathlib
import subprocess
import tempfile

import numpy as np
import onnx
import onnxruntime
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx
from qonnx.transformation.infer_shapes import InferShapes


def executed(path):
    """What QONNX's executor makes of an input."""
    model = ModelWrapper(str(path)).transform(InferShapes())
    name, output = model.graph.input[0].name, model.graph.output[0].name
    return lambda x: [execute_onnx(model, {name: x})[output]]


def runtime(path):
    """What ONNX Runtime makes of it, operator by operator."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return lambda x: session.run(None, {session.get_inputs()[0].name: x})


def add(cases):
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(__file__).with_name("brevitas_export.py")
        python = os.environ["GUARDBIT_BREVITAS_PYTHON"]
        subprocess.run([python, script, folder], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for path in sorted(pathlib.Path(folder).glob("*.onnx")):
            name = path.stem
            run = runtime(path) if name.endswith("_qcdq") else executed(path)
            inputs = np.load(path.with_name(name.removesuffix("_qcdq") + ".npy"))
            for index, x in enumerate(inputs):
                x = x[None]
                model = onnx.load(path)
                feeds = {model.graph.input[0].name: x}
                names = {i.name for i in model.graph.initializer}
                kept = [i for i in model.graph.input if i.name not in names]
                del model.graph.input[:]
                model.graph.input.extend(kept)
                cases.add(f"{name}_{index}", model, feeds, run(x), network=name)
