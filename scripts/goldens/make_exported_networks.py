"""Creates frontends/tests/onnx/exported: `make_exported_networks.py quark|modelopt FOLDER`. `make_qkeras_networks.py`
creates QKeras' files.

Each exporter needs a separate environment, because PyTorch with CUDA takes 6 GB:
  quark:    pip install amd-quark==0.13 onnxruntime==1.28.0 scikit-learn torch
  modelopt: pip install nvidia-modelopt==0.47.0 onnx~=1.21.0 onnxruntime==1.28.0 onnx-graphsurgeon onnxconverter-common onnxscript
            onnxslim polygraphy lief ml_dtypes cppimport scikit-learn torch
"""

import pathlib
import sys
import tempfile

import numpy as np
import onnx

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "oracles"))

from onnx_networks import Reader, samples  # noqa: E402
from onnx_onnxruntime import NETWORKS  # noqa: E402

MODELOPT = {
    "int8": {},
    "int8_max": dict(calibration_method="max"),
    "int8_conv": dict(op_types_to_quantize=["Conv"]),
    "int8_all": dict(op_types_to_quantize=["Conv", "Gemm", "MatMul", "Add", "AveragePool", "GlobalAveragePool", "MaxPool"]),
    "int8_dq_only": dict(dq_only=True),
    "int8_zero_point": dict(use_zero_point=True),
    "int8_dla": dict(target_dla=True),
    "int8_fp16": dict(high_precision_dtype="fp16"),
}
# Left out: float and block formats, which are not integer networks, and finetuning and searches. These only change
# weights, take long, and fail on some of the networks (ACCURATE: IndexError in 0.13).
OTHER = ("FP", "BF", "MX")


def quark(source, name, arrays, config, target):
    from quark.onnx import ModelQuantizer
    from quark.onnx.quantization.config import Config, get_default_config

    quantizer = ModelQuantizer(Config(global_quant_config=get_default_config(config)))
    quantizer.quantize_model(source, target, Reader(name, arrays[:10]))


def modelopt(source, name, arrays, config, target):
    from modelopt.onnx.quantization import quantize

    options = {"high_precision_dtype": "fp32", **MODELOPT[config]}
    data = {name: np.concatenate(arrays[:16])}
    quantize(source, calibration_data=data, output_path=target, calibration_eps=["cpu"], **options)


def configurations(exporter):
    if exporter == "modelopt":
        return list(MODELOPT)
    from quark.onnx.quantization.config.custom_config import DefaultConfigMapping

    return [name for name in DefaultConfigMapping if not name.startswith(OTHER) and not any(part in name for part in ("ADA", "ACCURATE"))]


def main(exporter, folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for config in configurations(exporter):
        for network, (make, _) in NETWORKS.items():
            net = make()
            with tempfile.TemporaryDirectory() as scratch:
                source = f"{scratch}/float.onnx"
                onnx.save(net.model(opset=18 if network == "branches" else 17, domains=()), source)
                globals()[exporter](source, *samples(net), config, str(folder / f"{network}_{config}.onnx"))


main(*sys.argv[1:])
