"""Runs the networks of a folder in ONNX Runtime on the inputs of its `inputs.json`: `run_onnx.py FOLDER`."""

import json
import pathlib
import sys

import numpy as np
import onnx

from onnx_case import array, run

folder = pathlib.Path(sys.argv[1])
made = {}
for name, inputs in json.loads((folder / "inputs.json").read_text()).items():
    model = onnx.load(folder / f"{name}.onnx")
    values = [np.array(i["data"], np.uint32).view(np.float32).reshape(i["shape"]) for i in inputs]
    feeds = {info.name: value for info, value in zip(model.graph.input, values)}
    try:
        made[name] = [array(o) for o in run(model, feeds)]
    except Exception as error:
        made[name] = str(error)
(folder / "outputs.json").write_text(json.dumps(made))
