"""Networks in `frontends/tests/onnx/exported`, which `make_exported_networks.py` and `make_qkeras_networks.py` have made, and what their runtimes make of them.

Quark's and Model Optimizer's run in ONNX Runtime, QKeras' in QONNX's executor. Nothing is trained: weights are seeded.
"""

import pathlib

import numpy as np
import onnx

from onnx_case import run
from onnx_networks import samples
from onnx_onnxruntime import NETWORKS

FOLDER = pathlib.Path(__file__).parents[1] / "frontends/tests/onnx/exported"
IMAGES = 4

# Why results may differ from the runtime's, by how much at most.
FLOAT = dict(near=1e-6, reason="the last product, mean or normalization stays in float, whose last bits differ between runtimes")
SIXTEEN = dict(near=1e-3, reason="ONNX Runtime computes layers of 16-bit codes in float32: a code near a tie can differ by one")
TIE = dict(near=0.04, reason="float operators before a quantizer: their last bits can put a code on the other side of a tie")

# How many layers a network has where its exporter leaves some in float: Model Optimizer leaves out products with a single row
# unless its target is DLA, Quark's configurations for transformers convolutions.
MODELOPT = {"cnn": 2, "residual": 8, "mlp": 0, "branches": 3, "block": 6}
TRANSFORMER = {"cnn": 1, "residual": 1, "mlp": 3, "branches": 2}

# Faults that are not mended yet.
FLOAT16 = {"residual_int8_fp16"}
UNSORTED = {"mlp_XINT8", "residual_XINT8", "branches_XINT8"}
WIDE_SUMS = {"mlp_S16S16_MIXED_S8S8", "residual_S16S16_MIXED_S8S8", "branches_S16S16_MIXED_S8S8", "branches_INT16_CNN_DEFAULT"}
INTEGER_SCALE = {"cnn_binary_qb8_relu4", "dense_binary_qb16_qb8", "dense_qb4_qb8_binary", "mlp_binary_qb8_relu4", "residual_binary_qb8_relu4"}
OPEN = FLOAT16 | UNSORTED | WIDE_SUMS | INTEGER_SCALE


def paths(exporter, opened):
    return [path for path in sorted((FOLDER / exporter).glob("*.onnx")) if (path.stem in OPEN) == opened]


def on_onnx_runtime(cases, path, layers, why):
    model = onnx.load(path)
    name, arrays = samples(NETWORKS[path.stem.split("_")[0]][0]())
    for index, image in enumerate(arrays[-IMAGES:]):
        outputs = run(model, {name: image})
        cases.add(f"{path.stem}_{index}", model, {name: image}, outputs, network=path.stem, layers=layers, **why)


def quark(cases, opened=False):
    for path in paths("quark", opened):
        network, config = path.stem.split("_", 1)
        layers = TRANSFORMER[network] if "TRANSFORMER" in config else NETWORKS[network][1]
        on_onnx_runtime(cases, path, layers, SIXTEEN if "16" in config else {})


def modelopt(cases, opened=False):
    for path in paths("modelopt", opened):
        network, config = path.stem.split("_", 1)
        layers = NETWORKS[network][1] if "dla" in config else MODELOPT[network]
        on_onnx_runtime(cases, path, layers, TIE if network == "block" else FLOAT)


def qkeras(cases, opened=False):
    from qonnx.core.modelwrapper import ModelWrapper
    from qonnx.core.onnx_exec import execute_onnx
    from qonnx.transformation.infer_shapes import InferShapes

    for path in paths("qkeras", opened):
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
