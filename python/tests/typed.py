"""Calls as users write them, which `mypy --strict` must accept. This file is not run."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import guardbit


def calls(x: npt.NDArray[np.int8], y: npt.NDArray[np.int64]) -> None:
    graph = guardbit.load("net.onnx")
    exported: Path = graph.export("again.onnx", force=True)
    result = guardbit.run(graph, "fpga-int14-os", x, y, set={"accumulation.acc.bits": 15}, stats="events")
    accuracy: float | None = result.accuracy
    outputs: dict[str, npt.NDArray[Any]] = result.outputs
    sweep = guardbit.sweep(
        "net.onnx",
        hw={"extends": "fpga-int14-os", "name": "mine"},
        x=x,
        y=y,
        axes={"accumulation.acc.bits": [15, 16], "reduction_order.walk": ["forward", "reverse"]},
    )
    column: Any = sweep["accuracy"]
    merged: guardbit.Sweep = guardbit.merge([Path("a"), sweep], out="merged")
    size = guardbit.size("net.onnx", "fpga-int14-os", x, budget="mismatch=0.1%")
    recommended: str = size.recommended

    def method(observed: guardbit.Observed) -> tuple[float, float]:
        return observed.low, observed.high

    quantized = guardbit.quantize("float.onnx", np.zeros((1, 2), dtype=np.float32), method=method)
    images = guardbit.vectors(quantized.graph, "fpga-int14-os", layer=0, x=x, whole=True, sample=0)
    differs: bool = not guardbit.diff_layer(images.folder, Path("dut.mem"), layer=0).equal
    found = guardbit.discriminate("fpga-int14-os", any=["bits", "overflow"], seed=1)
    matching: list[str] = found.matching([8191, None, *(sum for one in found.classes for sum in one["sums"])])
    try:
        guardbit.run(graph, "absent")
    except guardbit.GuardbitError as error:
        place: guardbit.Place | None = error.place
        print(error.code, place, error.help)
    print(exported, accuracy, outputs, column, merged.layers, recommended, differs, matching)
