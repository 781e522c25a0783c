"""Writes networks and their results in ONNX Runtime or QONNX: `make_onnx_oracle.py FAMILY FOLDER`.

Families: node_tests, one_op, float_ops, networks, transformer, dynamic, qonnx, qonnx_models,
brevitas, brevitas_quantizers, torch_ao, onnxruntime, onnxruntime_more, quark, modelopt, qkeras,
blocks. Needs scripts/requirements/onnx.txt.
"""

import importlib
import sys

from onnx_case import Cases

family, folder = sys.argv[1:]
cases = Cases(folder)
importlib.import_module(f"onnx_{family}").add(cases)
cases.write()
print(len(cases.cases), "cases")
