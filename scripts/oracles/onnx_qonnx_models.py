"""Networks of PyPI's `qonnx` (`data/onnx`) on random inputs, with the results of its executor."""

import pathlib

import numpy as np
import onnx
import qonnx
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx
from qonnx.transformation.infer_shapes import InferShapes

# mnist-conv, with opset 8, is a float network: see onnx_float_ops.py.
MODELS = ["bsd300x3-espcn/nn_resize/quant_model.onnx", "bsd300x3-espcn/subpixel/quant_model.onnx"]


def add(cases):
    folder = pathlib.Path(qonnx.__file__).parent / "data/onnx"
    for name in MODELS:
        model = onnx.load(folder / name)
        initial = {i.name for i in model.graph.initializer}
        (info,) = [i for i in model.graph.input if i.name not in initial]
        for dim in info.type.tensor_type.shape.dim[:1]:
            dim.dim_value = 1
        shape = [d.dim_value for d in info.type.tensor_type.shape.dim]
        wrapper = ModelWrapper(model).transform(InferShapes())
        feeds = {info.name: np.random.default_rng(1).uniform(0, 1, shape).astype(np.float32)}
        made = execute_onnx(wrapper, dict(feeds))
        for extra in [i for i in model.graph.input if i.name in initial]:
            model.graph.input.remove(extra)
        label = name.replace("/", "_").removesuffix(".onnx")
        cases.add(label, model, feeds, [made[o.name] for o in model.graph.output], network=label)
