"""Brevitas' exports (`brevitas_export.py`): QONNX in QONNX's executor, QCDQ in ONNX Runtime without fusion.

The exports are written by the Python that GUARDBIT_BREVITAS_PYTHON names. Scales are powers of two, so that float32 is
exact, except in networks whose name begins with `near_`.
"""

import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np
import onnx
import onnxruntime
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx
from qonnx.transformation.channels_last import ConvertToChannelsLastAndClean
from qonnx.transformation.infer_shapes import InferShapes
from qonnx.transformation.qonnx_to_qcdq import QuantToQCDQ
from qonnx.util.cleanup import cleanup_model


# QONNX's operators on channels-last images, which only QONNX and FINN have.
CHANNELS_LAST = "qonnx.custom_op.channels_last"


def has_own_layout(path):
    return any(node.domain == CHANNELS_LAST for node in onnx.load(path).graph.node)


def transformed(path):
    """Writes the results of QONNX's transformations of a network: cleaned, channels-last, QCDQ."""
    clean = cleanup_model(ModelWrapper(str(path)))
    clean.save(str(path.with_name(f"{path.stem}_clean.onnx")))
    if "w1" not in path.stem:
        clean.transform(QuantToQCDQ()).save(str(path.with_name(f"{path.stem}_clean_qcdq.onnx")))
    clean.transform(ConvertToChannelsLastAndClean()).save(str(path.with_name(f"{path.stem}_last.onnx")))


def executed(path):
    """Returns the result of QONNX's executor for an input."""
    model = ModelWrapper(str(path)).transform(InferShapes())
    name, output = model.graph.input[0].name, model.graph.output[0].name
    return lambda x: [execute_onnx(model, {name: x})[output]]


def runtime(path):
    """Returns ONNX Runtime's result without fusion."""
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
        layers = json.loads(pathlib.Path(folder, "layers.json").read_text())
        for path in pathlib.Path(folder).glob("zoo_*[!q].onnx"):
            if not path.stem.endswith("_qcdq"):
                transformed(path)
        for path in sorted(pathlib.Path(folder).glob("*.onnx")):
            name = path.stem
            run = runtime(path) if name.endswith("_qcdq") else executed(path)
            base = name.removesuffix("_qcdq").removesuffix("_clean").removesuffix("_last")
            more = {"refused": CHANNELS_LAST} if name.endswith("_last") and has_own_layout(path) else {}
            inputs = np.load(path.with_name(base + ".npy"))
            for index, x in enumerate(inputs):
                x = x[None]
                model = onnx.load(path)
                feeds = {model.graph.input[0].name: x}
                names = {i.name for i in model.graph.initializer}
                kept = [i for i in model.graph.input if i.name not in names]
                del model.graph.input[:]
                model.graph.input.extend(kept)
                cases.add(f"{name}_{index}", model, feeds, run(x), network=name, layers=layers[base], **more)
