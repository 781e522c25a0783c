"""Node tests of the `onnx` package on quantized operators, with their expected results and those of ONNX Runtime.

Version 1.18.0 has them as files; newer versions generate them. All inputs of a test except the first become constants,
because quantized operators have constant weights and scales.
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
# Only of newer versions: the files of version 1.18.0 truncate to bfloat16 and have another NaN of float8e5m2.
CASTS = re.compile(r"test_cast_(no_saturate_|e8m0_)?B?FLOAT\w*_to_B?FLOAT")


def folder():
    return pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data" / "node"


def read(path):
    tensor = onnx.TensorProto()
    tensor.ParseFromString(path.read_bytes())
    return tensor


def tensor(value):
    return value if isinstance(value, onnx.TensorProto) else numpy_helper.from_array(np.asarray(value))


def filed():
    """Returns name, model, inputs and outputs of the tests stored in the package."""
    for test in folder().iterdir():
        if FAMILIES.match(test.name):
            model = onnx.load(test / "model.onnx")
            data = test / "test_data_set_0"
            inputs = [read(data / f"input_{i}.pb") for i in range(len(model.graph.input))]
            yield test.name, model, inputs, [read(data / f"output_{i}.pb") for i in range(len(model.graph.output))]


def generated():
    """Returns name, model, inputs and outputs of tests that the package generates."""
    from onnx.backend.test.case.node import collect_testcases

    with np.errstate(all="ignore"):
        tests = collect_testcases(None)
    for test in tests:
        if FAMILIES.match(test.name) or CASTS.match(test.name):
            inputs, outputs = test.data_sets[0]
            yield test.name, test.model, [tensor(i) for i in inputs], [tensor(o) for o in outputs]


def runtime(model, feeds):
    """Returns ONNX Runtime's results; in an older opset if it does not support the newest."""
    try:
        return [array(o) for o in run(model, feeds)]
    except Exception as error:
        return str(error)[:200]


def add(cases):
    for name, model, inputs, outputs in sorted(filed() if folder().is_dir() else generated(), key=lambda test: test[0]):
        for info, value in zip(model.graph.input, inputs):
            value.name = info.name
        expected = [numpy_helper.to_array(output) for output in outputs]
        constants = inputs[1:]
        del model.graph.input[1:]
        model.graph.initializer.extend(constants)
        onnx.save(model, cases.folder / f"{name}.onnx")
        feeds = {model.graph.input[0].name: numpy_helper.to_array(inputs[0])}
        made = runtime(model, feeds)
        try:
            case = {"inputs": [array(v) for v in feeds.values()], "outputs": [array(o) for o in expected]}
        except Exception as error:
            case = {"inputs": [], "outputs": [], "unfed": str(error)}
        cases.cases.append({"name": name, "runtime": made, **case})
