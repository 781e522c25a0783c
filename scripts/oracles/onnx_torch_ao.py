"""Exports of torch.ao (`torch_ao_export.py`) with their results in ONNX Runtime.

The exports are written by the Python that GUARDBIT_BREVITAS_PYTHON names. Fake-quantized networks run without fusion:
ONNX Runtime cannot fuse their sums, whose scales have an axis of length 1. PyTorch's own results are printed for
comparison. It requantizes like ONNX Runtime, but biases of its fake-quantized networks are real values, and means of
its quantized ones are rounded differently.
"""

import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np
import onnx
from onnx import numpy_helper

from onnx_case import run

# Forms that guardbit refuses, with the reason: no code holds a 64-bit index, no layer has three spatial axes, and
# one-dimensional transposed convolutions and normalizations of one image have no reader.
REFUSED = {
    "embedding": "is int64, which is not supported",
    "conv3d": "slides over 3 axes",
    "conv_transpose1d": "expected images",
    "group_norm": "operator `InstanceNormalization`",
    "instance_norm": "operator `InstanceNormalization`",
}
# Means of this many real numbers after the last quantizer, and normalizations: their last bits differ between runtimes.
MEANS = {"avg_pool_padded_fake_qnnpack": 9, "adaptive_avg_2_fake_qnnpack": 9}


def rounding_of_means(model, count):
    """Returns the maximum error of float32 sums of `count` values and a division: each rounding is at most 2^-24 of the
    largest sum."""
    scales = [numpy_helper.to_array(i).max() for i in model.graph.initializer if i.name.endswith("scale")]
    return float(2 * (count + 1) * 2.0**-24 * 255 * max(scales))


def add(cases):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        script = pathlib.Path(__file__).with_name("torch_ao_export.py")
        subprocess.run([os.environ["GUARDBIT_BREVITAS_PYTHON"], script, folder], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        compared = differing = 0
        for name, row in json.loads((folder / "rows.json").read_text()).items():
            if "error" in row:
                cases.unexported[name] = row["error"].split(" Please ")[0].split(" This could ")[0].split(", scope: ")[0]
                continue
            model = onnx.load(folder / f"{name}.onnx")
            (info,) = model.graph.input
            arrays = np.load(folder / f"{name}.npz")
            more = {"layers": row["layers"]}
            if refused := REFUSED.get(name.rsplit("_", 2)[0]):
                more["refused"] = refused
            if name in MEANS:
                more["near"] = rounding_of_means(model, MEANS[name])
                more["reason"] = "a float32 mean is the output: its last bits differ between runtimes"
            for index, x in enumerate(arrays["inputs"]):
                outputs = run(model, {info.name: x}, fused="_fake_" not in name)
                compared += outputs[0].size
                differing += int((outputs[0] != arrays["outputs"][index]).sum())
                cases.add(f"{name}_{index}", model, {info.name: x}, outputs, network=name, **more)
        print(f"PyTorch and ONNX Runtime: {differing} of {compared} differ")
