"""The node tests of the `onnx` package on quantized operators, with what its files expect and what ONNX Runtime makes.

What the tests feed beside the first input become constants: quantized operators have constant weights and scales.
"""

import pathlib
import re

import numpy as np
import onnx
from onnx import numpy_helper

from onnx_case import array, run

FAMILIES = re.compile(
    r"test_(convinteger|matmulinteger|qlinearconv|qlinearmatmul|quantizelinear|dequantizelinear|dynamicquantizelinear)"
)


def folder():
    return pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data" / "node"


def read(path):
    tensor = onnx.TensorProto()
    tensor.ParseFromString(path.read_bytes())
    return tensor


def add(cases):
    for test in sorted(folder().iterdir()):
        if not FAMILIES.match(test.name):
            continue
        model = onnx.load(test / "model.onnx")
        data = test / "test_data_set_0"
        inputs = [read(data / f"input_{i}.pb") for i in range(len(model.graph.input))]
        for info, tensor in zip(model.graph.input, inputs):
            tensor.name = info.name
        expected = [numpy_helper.to_array(read(data / f"output_{i}.pb")) for i in range(len(model.graph.output))]
        constants = inputs[1:]
        del model.graph.input[1:]
        model.graph.initializer.extend(constants)
        onnx.save(model, cases.folder / f"{test.name}.onnx")
        feeds = {model.graph.input[0].name: numpy_helper.to_array(inputs[0])}
        try:
            runtime = [array(o) for o in run(model, feeds)]
        except Exception as error:
            runtime = str(error)[:200]
        try:
            case = {"inputs": [array(v) for v in feeds.values()], "outputs": [array(o) for o in expected]}
        except Exception as error:
            case = {"inputs": [], "outputs": [], "unfed": str(error)}
        cases.cases.append({"name": test.name, "runtime": runtime, **case})
