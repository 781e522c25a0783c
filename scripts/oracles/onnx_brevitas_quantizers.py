"""Every quantizer of `brevitas.quant` in a layer (`brevitas_quantizers.py`): QONNX in QONNX's executor, QCDQ in ONNX
Runtime.
The exports are written by the Python that GUARDBIT_BREVITAS_PYTHON names.

Both runtimes sum in float32, and scales are not powers of two, so codes near a tie may differ by one. A float bias
before a QuantizeLinear is rounded to steps of the sums. Therefore QCDQ runs with ONNX Runtime's fusion, except for
biases with their own scale, which its fused kernels ignore.
"""

import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np
import onnx
from onnx import numpy_helper

from onnx_brevitas import executed, runtime
from onnx_case import session

# Forms that guardbit refuses: floating-point codes, and zero points between integers.
FLOAT = "FloatQuant` of node"
REAL_ZERO = "has a zero point that is not an integer"


def step_of_output(model):
    """Returns the scale of the last quantizer."""
    last = [node for node in model.graph.node if node.op_type in {"Quant", "DequantizeLinear", "BipolarQuant", "Trunc"}][-1]
    made = {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type == "Constant":
            made[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
    return float(made[last.input[1]].max()) if last.input[1] in made else 0.0


def of_file(path, name):
    # Accumulator-aware layers quantize their input again, and the runtime would drop one of two consecutive quantizers.
    if name.startswith("bias_") or "AccumulatorAware" in name:
        return runtime(path)
    made = session(onnx.load(path))
    return lambda x: made.run(None, {made.get_inputs()[0].name: x})


def add(cases):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        script = pathlib.Path(__file__).with_name("brevitas_quantizers.py")
        subprocess.run([os.environ["GUARDBIT_BREVITAS_PYTHON"], script, folder], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for name, row in json.loads((folder / "rows.json").read_text()).items():
            if "error" in row:
                cases.unexported[name] = row["error"]
                continue
            path = folder / f"{name}.onnx"
            model = onnx.load(path)
            more = {"layers": row["layers"]}
            refused = FLOAT if row["layers"] == 0 else REAL_ZERO if name.endswith("HQO_qonnx") else None
            if refused:
                more["refused"] = refused
            elif row["ties"]:
                more |= {"near": step_of_output(model) * (1 + 2.0**-22), "reason": "float32 sums may round a code near a tie either way"}
            run = None if refused else of_file(path, name) if name.endswith("_qcdq") else executed(path)
            constants = {i.name for i in model.graph.initializer}
            kept = [i for i in model.graph.input if i.name not in constants]
            del model.graph.input[:]
            model.graph.input.extend(kept)
            arrays = np.load(folder / f"{row['inputs']}.npy")
            for index, x in enumerate(arrays):
                outputs = [] if refused else run(x[None])
                ties = row["ties"] if index == 0 else 0
                cases.add(f"{name}_{index}", model, {kept[0].name: x[None]}, outputs, network=name, **({} if refused else {"ties": ties}), **more)
