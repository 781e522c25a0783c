"""Writes hwmodels/tests/reference/scalesim_cycles.csv: compute cycles that SCALE-Sim 3.0.0 counts for random shapes.

    pip install scalesim==3.0.0 'numpy<2.4'
    python scripts/goldens/make_scalesim_cycles.py [--per-array N] [--out FILE]

Every row is a matrix product of `m x k` by `k x n` on an array of `rows x cols`, with the tool's "Total Cycles" for
output, weight and input stationary dataflow. Shapes come from a fixed seed. Stalls are always 0 (bandwidth mode CALC).
"""

import argparse
import contextlib
import csv
import io
import random
import tempfile
from pathlib import Path

from scalesim.scale_sim import scalesim

OUT = Path(__file__).resolve().parents[2] / "hwmodels" / "tests" / "reference" / "scalesim_cycles.csv"
ARRAYS = [(4, 4), (8, 8), (16, 16), (32, 32), (8, 32), (32, 8), (5, 12), (1, 16), (16, 1)]

CONFIG = """[general]
run_name = run
[architecture_presets]
ArrayHeight: {rows}
ArrayWidth: {cols}
IfmapSramSzkB: 64
FilterSramSzkB: 64
OfmapSramSzkB: 64
IfmapOffset: 0
FilterOffset: 10000000
OfmapOffset: 20000000
Bandwidth: 10
Dataflow: {dataflow}
MemoryBanks: 1
ReadRequestBuffer: 512
WriteRequestBuffer: 512
[layout]
IfmapCustomLayout: False
IfmapSRAMBankBandwidth: 10
IfmapSRAMBankNum: 10
IfmapSRAMBankPort: 2
FilterCustomLayout: False
FilterSRAMBankBandwidth: 10
FilterSRAMBankNum: 10
FilterSRAMBankPort: 2
[sparsity]
SparsitySupport: false
SparseRep: ellpack_block
OptimizedMapping: false
BlockSize: 8
RandomNumberGeneratorSeed: 40
[run_presets]
InterfaceBandwidth: CALC
UseRamulatorTrace: False
"""


def cycles(rows, cols, dataflow, shapes):
    """Returns the total cycles of every shape, as stated in the tool's COMPUTE_REPORT.csv."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        names = [f"g{index}" for index in range(len(shapes))]
        (folder / "hw.cfg").write_text(CONFIG.format(rows=rows, cols=cols, dataflow=dataflow))
        gemms = "".join(f"{name}, {m}, {n}, {k},\n" for name, (m, k, n) in zip(names, shapes))
        (folder / "gemm.csv").write_text("Layer, M, N, K,\n" + gemms)
        header = ", ".join(f"c{index}" for index in range(30))
        layouts = "".join(f"{name}, " + ", ".join(["1"] * 30) + ",\n" for name in names)
        (folder / "layout.csv").write_text(f"Layer, {header},\n{layouts}")
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            tool = scalesim(
                save_disk_space=True,
                verbose=False,
                config=str(folder / "hw.cfg"),
                topology=str(folder / "gemm.csv"),
                layout=str(folder / "layout.csv"),
                input_type_gemm=True,
            )
            tool.run_scale(top_path=str(folder / "out"))
        with open(folder / "out" / "run" / "COMPUTE_REPORT.csv", newline="") as file:
            lines = list(csv.reader(file, skipinitialspace=True))
    total, stall = lines[0].index("Total Cycles"), lines[0].index("Stall Cycles")
    if any(float(line[stall]) != 0 for line in lines[1:]):
        raise SystemExit("the tool reports stalls in CALC mode")
    return [int(float(line[total])) for line in lines[1:]]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--per-array", type=int, default=8)
    parser.add_argument("--out", type=Path, default=OUT)
    args = parser.parse_args()
    seed = random.Random(20240917)
    with open(args.out, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["rows", "cols", "m", "k", "n", "output_stationary", "weight_stationary", "input_stationary"])
        for rows, cols in ARRAYS:
            size = max(rows, cols)
            shapes = [tuple(seed.randint(1, 5 * size) for _ in range(3)) for _ in range(args.per_array)]
            found = [cycles(rows, cols, dataflow, shapes) for dataflow in ("os", "ws", "is")]
            for shape, *counts in zip(shapes, *found):
                writer.writerow([rows, cols, *shape, *counts])
            file.flush()


if __name__ == "__main__":
    main()
