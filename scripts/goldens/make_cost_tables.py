#!/usr/bin/env python3
"""Measures areas of multipliers, adders and registers with Yosys, for the tables in hwmodels/costs/yosys-*.yaml.

Each module is synthesized separately: in one module, `a * b + q` would be merged, and the costs of its parts lost. An
accumulator has a synchronous reset and an enable. The cost of its adder is its cost minus a register of that width.

    scripts/goldens/make_cost_tables.py xc7 | osu018 [--widths 8,14,32] [--factors 4,8]

prints the tables. Needs Yosys, and for osu018 Debian's qflow-tech-osu018. `study/tests/costs.rs` checks some of them.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

LIBERTY = "/usr/share/qflow/tech/osu018/osu018_stdcells.lib"
RTL = """
module multiplier #(parameter A = 8, parameter B = 8)
  (input signed [A-1:0] a, input signed [B-1:0] b, output signed [A+B-1:0] y);
  assign y = a * b;
endmodule
module register #(parameter W = 14) (input clk, rst, en, input [W-1:0] d, output reg [W-1:0] q);
  always @(posedge clk) if (rst) q <= 0; else if (en) q <= d;
endmodule
module tree_wrap #(parameter W = 14) (input signed [W-1:0] a, b, output signed [W-1:0] y);
  assign y = a + b;
endmodule
module tree_saturate #(parameter W = 14) (input signed [W-1:0] a, b, output signed [W-1:0] y);
  wire signed [W:0] s = a + b;
  assign y = (s[W] != s[W-1]) ? {s[W], {(W-1){~s[W]}}} : s[W-1:0];
endmodule
module serial_wrap #(parameter W = 14) (input clk, rst, en, input signed [W-1:0] x, output reg signed [W-1:0] q);
  always @(posedge clk) if (rst) q <= 0; else if (en) q <= q + x;
endmodule
module serial_saturate #(parameter W = 14) (input clk, rst, en, input signed [W-1:0] x, output reg signed [W-1:0] q);
  wire signed [W:0] s = q + x;
  always @(posedge clk) if (rst) q <= 0; else if (en) q <= (s[W] != s[W-1]) ? {s[W], {(W-1){~s[W]}}} : s[W-1:0];
endmodule
"""


def yosys(module, parameters, passes):
    chparam = " ".join(f"-set {name} {value}" for name, value in parameters.items())
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "parts.sv").write_text(RTL)
        script = f"read_verilog -sv parts.sv; chparam {chparam} {module}; hierarchy -top {module}; {passes}"
        run = subprocess.run(["yosys", "-p", script], cwd=folder, capture_output=True, text=True, check=True)
    # The final statistics come last; earlier ones belong to intermediate passes.
    return run.stdout[run.stdout.rindex("Number of cells:"):]


def xc7(module, parameters):
    """Returns LUTs and flip-flops."""
    passes = f"synth_xilinx -family xc7 -nodsp -flatten -noiopad -noclkbuf -top {module}; stat"
    counts = re.findall(r"^\s+(\w+)\s+(\d+)$", yosys(module, parameters, passes), re.M)
    lut = sum(int(n) for cell, n in counts if re.fullmatch(r"LUT\d", cell))
    ff = sum(int(n) for cell, n in counts if cell.startswith("FD"))
    return lut, ff


def osu018(module, parameters):
    """Returns the cell area."""
    passes = (
        f"synth -flatten -top {module}; dfflibmap -liberty {LIBERTY}; abc -liberty {LIBERTY}; stat -liberty {LIBERTY}"
    )
    return (round(float(re.search(r"Chip area.*: ([\d.]+)", yosys(module, parameters, passes)).group(1))),)


def numbers(text):
    return [int(number) for number in text.split(",")]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("library", choices=["xc7", "osu018"])
    arguments.add_argument("--widths", type=numbers, default=list(range(4, 41)))
    arguments.add_argument("--factors", type=numbers, default=[2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 17])
    chosen = arguments.parse_args()
    measure = {"xc7": xc7, "osu018": osu018}[chosen.library]
    for narrow in chosen.factors:
        for wide in chosen.factors:
            if wide >= narrow:
                print("multiplier", wide, narrow, *measure("multiplier", {"A": wide, "B": narrow}), flush=True)
    for width in chosen.widths:
        for module in ["register", "tree_wrap", "tree_saturate", "serial_wrap", "serial_saturate"]:
            print(module, width, *measure(module, {"W": width}), flush=True)


if __name__ == "__main__":
    sys.exit(main())
