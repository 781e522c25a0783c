#!/usr/bin/env python3
"""Measures the area of floating-point accumulators with Yosys: the table in docs/how-to/accelerator-float.md.

    scripts/goldens/float_areas.py [--lanes 8] [--operand e4m3] [--result float32] [--fraction-bits 8-25]

prints a row for each number of fraction bits: LUTs, flip-flops and carry cells of `gb_aligned` on an FPGA (xc7, no DSP),
without its flags. Needs Yosys.
"""

import argparse
import re
import subprocess
import tempfile
from pathlib import Path

RTL = Path(__file__).parents[2] / "rtl-vectors" / "rtl"
# Exponent bits, fraction bits, bias, and the codes that are not finite, as numbered in gb_aligned_codes.sv.
FORMATS = {
    "e4m3": (4, 3, 7, 1),
    "e5m2": (5, 2, 15, 0),
    "e2m1": (2, 1, 1, 3),
    "float16": (5, 10, 15, 0),
    "bfloat16": (8, 7, 127, 0),
    "e8m13": (8, 13, 127, 0),
    "float32": (8, 23, 127, 0),
}
# Without flags, what only they need is removed.
TOP = """
module top #(parameter LANES = 8, parameter A = 8, parameter R = 32, {parameters})
  (input clk, rst_n, in_valid, in_clear, in_last, input [LANES-1:0] in_keep, input [LANES*A-1:0] in_a, in_w,
   output sum_valid, output [31:0] sum);
  gb_aligned #(.LANES(LANES), {connected}) unit (
    .clk(clk), .rst_n(rst_n), .in_valid(in_valid), .in_clear(in_clear), .in_last(in_last), .in_keep(in_keep),
    .in_a(in_a), .in_w(in_w), .in_sa('0), .in_sw('0), .sum_valid(sum_valid), .sum(sum));
endmodule
"""


def area(lanes, operand, result, fraction_bits):
    """Returns LUTs, flip-flops and carry cells."""
    values = {"FRACTION_BITS": fraction_bits}
    for prefix, name in (("A", operand), ("B", operand), ("R", result)):
        values |= {f"{prefix}_{key}": value for key, value in zip(("EXP", "FRAC", "BIAS", "SPECIALS"), FORMATS[name])}
    width = {name: 1 + FORMATS[name][0] + FORMATS[name][1] for name in (operand, result)}
    parameters = ", ".join(f"parameter {key} = {value}" for key, value in values.items())
    text = TOP.format(parameters=parameters, connected=", ".join(f".{key}({key})" for key in values))
    packages = ["gb_codes.sv", "gb_aligned_codes.sv"]
    modules = sorted(path.name for path in RTL.glob("gb_aligned*.sv") if path.name not in packages)
    reads = "".join(f"read_verilog -defer -sv {RTL / name}; " for name in packages + modules)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "top.sv").write_text(text)
        script = (
            f"{reads} read_verilog -defer -sv top.sv; "
            f"chparam -set LANES {lanes} -set A {width[operand]} -set R {width[result]} top; "
            "synth_xilinx -family xc7 -nodsp -flatten -noiopad -noclkbuf -top top; stat"
        )
        run = subprocess.run(["yosys", "-p", script], cwd=folder, capture_output=True, text=True, check=True)
    counts = re.findall(r"^\s+(\w+)\s+(\d+)$", run.stdout[run.stdout.rindex("Number of cells:") :], re.M)

    def total(pattern):
        return sum(int(number) for cell, number in counts if re.fullmatch(pattern, cell))

    return total(r"LUT\d"), total(r"FD\w+"), total("CARRY4")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--lanes", type=int, default=8)
    parser.add_argument("--operand", choices=FORMATS, default="e4m3")
    parser.add_argument("--result", choices=FORMATS, default="float32")
    parser.add_argument("--fraction-bits", default="8-25", help="a number, or a range FIRST-LAST")
    args = parser.parse_args()
    first, _, last = args.fraction_bits.partition("-")
    version = subprocess.run(["yosys", "-V"], capture_output=True, text=True, check=True).stdout.split()[1]
    print(f"Yosys {version}, {args.lanes} products of {args.operand}, result {args.result}")
    print("| fraction bits | LUTs | flip-flops | carry cells |\n|---|---|---|---|")
    for bits in range(int(first), int(last or first) + 1):
        lut, ff, carry = area(args.lanes, args.operand, args.result, bits)
        print(f"| {bits} | {lut} | {ff} | {carry} |", flush=True)


if __name__ == "__main__":
    main()
