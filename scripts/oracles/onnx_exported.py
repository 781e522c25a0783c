"""Networks in `frontends/tests/onnx/exported` of `make_exported_networks.py` and `make_qkeras_networks.py`, with their
runtimes' results.

Quark's and Model Optimizer's networks run in ONNX Runtime, QKeras' in QONNX's executor. Weights are seeded, not trained.
"""

import pathlib

import numpy as np
import onnx

from onnx_case import FLOAT16, FLOAT32, run
from onnx_networks import samples
from onnx_onnxruntime import NETWORKS, SIXTEEN

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "frontends/tests/onnx/exported"
IMAGES = 4

# Reasons why results may differ from the runtime's, with the maximum difference.
FLOAT = dict(near=1e-6, reason="the last product, mean or normalization stays in float, whose last bits differ between runtimes")
TIE = "float operators before a quantizer: their last bits can put a code on the other side of a tie"

# Number of layers if the exporter leaves some in float. Model Optimizer leaves out products with a single row unless
# its target is DLA, and Quark's configurations for transformers leave out convolutions.
MODELOPT = {"cnn": 2, "residual": 8, "mlp": 0, "branches": 3, "block": 6}
TRANSFORMER = {"cnn": 1, "residual": 1, "mlp": 3, "branches": 2}

# 16 x 16-bit layers without a quantizer after them stay in float if their sums may exceed 32 bits; these remain.
WIDE_SUMS = {"mlp_S16S16_MIXED_S8S8": 2, "residual_S16S16_MIXED_S8S8": 4, "branches_S16S16_MIXED_S8S8": 5, "branches_INT16_CNN_DEFAULT": 5}
HALF = "regions in float16 work in float32 here: codes behind them can differ by one"


def paths(exporter):
    return sorted((FOLDER / exporter).glob("*.onnx"))


def on_onnx_runtime(cases, path, layers, by_quantizer=None, **why):
    """Adds a case. `by_quantizer` states the precision of the runtime's real values, and why codes may differ."""
    model = onnx.load(path)
    name, arrays = samples(NETWORKS[path.stem.split("_")[0]][0]())
    for index, image in enumerate(arrays[-IMAGES:]):
        of, feeds = f"{path.stem}_{index}", {name: image}
        if by_quantizer:
            cases.by_quantizer(of, model, feeds, *by_quantizer, network=path.stem, layers=layers)
        else:
            cases.add(of, model, feeds, run(model, feeds), network=path.stem, layers=layers, **why)


def quark(cases):
    for path in paths("quark"):
        network, config = path.stem.split("_", 1)
        layers = TRANSFORMER[network] if "TRANSFORMER" in config else NETWORKS[network][1]
        layers = WIDE_SUMS.get(path.stem, layers)
        on_onnx_runtime(cases, path, layers, (FLOAT32, SIXTEEN) if "16" in config else None)


def modelopt(cases):
    for path in paths("modelopt"):
        network, config = path.stem.split("_", 1)
        layers = NETWORKS[network][1] if "dla" in config else MODELOPT[network]
        if config.endswith("fp16"):
            on_onnx_runtime(cases, path, layers, (FLOAT16, HALF))
        elif network == "block":
            on_onnx_runtime(cases, path, layers, (FLOAT32, TIE))
        else:
            on_onnx_runtime(cases, path, layers, **FLOAT)


def qkeras(cases):
    from qonnx.core.modelwrapper import ModelWrapper
    from qonnx.core.onnx_exec import execute_onnx
    from qonnx.transformation.infer_shapes import InferShapes

    for path in paths("qkeras"):
        model = onnx.load(path)
        for info in [*model.graph.input, *model.graph.output]:
            info.type.tensor_type.shape.dim[0].dim_value = 1
        (info,) = model.graph.input
        shape = [dim.dim_value for dim in info.type.tensor_type.shape.dim]
        wrapper = ModelWrapper(onnx.ModelProto.FromString(model.SerializeToString())).transform(InferShapes())
        for index in range(IMAGES):
            x = np.random.default_rng(index).uniform(0, 1, shape).astype(np.float32)
            outputs = execute_onnx(wrapper, {info.name: x})
            layers = 4 if path.stem.startswith("residual") else 3
            made = [outputs[o.name] for o in model.graph.output]
            cases.add(f"{path.stem}_{index}", model, {info.name: x}, made, network=path.stem, layers=layers)
