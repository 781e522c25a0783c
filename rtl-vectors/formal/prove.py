#!/usr/bin/env python3
"""Proves that an accumulator of your own computes what the reference design of this bundle does, for every input and any number of
cycles.

    formal/prove.py my_dut.sv                    ports of profile `sums`: sum and sum_valid are compared
    formal/prove.py my_dut.sv --profile full     accumulators, updated and flags too
    formal/prove.py                              the reference design with itself

Needs yosys 0.23 or later, with yosys-abc (Debian: yosys). Both designs start with a reset. From then on all inputs are free in every
cycle, resets included, and outputs must be equal in every cycle: sums where sum_valid is 1, flags where updated is 1. The proof is
by induction over cycles; yosys-abc finds the invariant (property directed reachability) and verifies it.

The proof covers the widths and modes of the bundle and no others. It does not cover output codes, `x` values and timing.
Exit code 0: proved. 1: not equal; prints the shortest input sequence found. 2: neither within the time limit, or an error.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# In the order of compilation.
RTL = "codes overflow fit round_shift product sum level tree reduce float requant unit".split()


def fail(text: str) -> None:
    """Ends with an error."""
    print(f"prove: {text}", file=sys.stderr)
    sys.exit(2)


def ports(design: str) -> list[tuple[bool, str, int]]:
    """Returns direction (output?), name and bits of the ports of `gb_dut`."""
    head = design.split("module gb_dut (")[1].split("\n);")[0]
    found = re.findall(r"(input|output)\s+logic(?: signed)?(?: \[(\d+):0\])? (\w+)", head)
    return [(kind == "output", name, int(top or 0) + 1) for kind, top, name in found]


def miter(all_ports: list[tuple[bool, str, int]], profile: str) -> tuple[str, list[str]]:
    """Returns a module whose output `bad` is 1 where the designs differ, and the names of what it compares."""
    declared, inside, differ = [], [], []
    outputs = {name: bits for is_output, name, bits in all_ports if is_output}
    compared = ["sum_valid", "sum"]
    if profile == "full":
        compared += ["updated", "flags"] + [name for name in outputs if name.startswith("acc_l")]
    for is_output, name, bits in all_ports:
        if not is_output:
            declared.append(f"input logic [{bits - 1}:0] {name}")
        elif name in compared:
            inside.append(f"    logic [{bits - 1}:0] {name}_a, {name}_b;")
    differ = ["sum_valid_a != sum_valid_b", "(sum_valid_a && sum_a != sum_b)"]
    if profile == "full":
        differ.append("updated_a != updated_b")
        for level in range(outputs["updated"]):
            differ.append(f"acc_l{level}_a != acc_l{level}_b")
            part = f"[{4 * level}+:4]"
            differ.append(f"(updated_a[{level}] && flags_a{part} != flags_b{part})")

    def instance(module: str, side: str) -> str:
        wires = []
        for is_output, name, _ in all_ports:
            if not is_output:
                wires.append(f".{name}({'reset' if name == 'rst_n' else name})")
            elif name in compared:
                wires.append(f".{name}({name}_{side})")
        return f"    {module} u_{module} ({', '.join(wires)});"

    lines = [
        f"module miter ({', '.join(declared)}, output logic bad);",
        "    // The first cycle is a reset.",
        "    logic begun, reset;",
        "    initial begun = 1'b0;",
        "    always_ff @(posedge clk) begun <= 1'b1;",
        "    assign reset = rst_n && begun;",
        *inside,
        instance("gold", "a"),
        instance("gate", "b"),
        f"    assign bad = begun && ({' || '.join(differ)});",
        "endmodule",
    ]
    return "\n".join(lines) + "\n", compared


def stimuli(counterexample: str, names: str) -> str:
    """Returns the inputs of every cycle: a line per cycle, values in hexadecimal."""
    bits = {int(number): (name, int(bit)) for number, bit, name in re.findall(r"^input (\d+) (\d+) (\S+)", names, re.M)}
    cycles: dict[int, dict[str, int]] = {}
    for number, cycle, value in re.findall(r"^pi(\d+)@(\d+)=(\d)", counterexample, re.M):
        if int(number) in bits:
            name, bit = bits[int(number)]
            values = cycles.setdefault(int(cycle), {})
            values[name] = values.get(name, 0) | int(value) << bit
    lines = []
    for cycle, values in sorted(cycles.items()):
        if cycle == 0:
            values["rst_n"] = 0
        lines.append(f"  cycle {cycle}: " + " ".join(f"{name}={value:x}" for name, value in values.items() if name != "clk"))
    return "\n".join(lines) + "\n"


def run(command: list[str], folder: str) -> str:
    """Runs a program, and returns its output; ends with its errors if it fails."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    except FileNotFoundError:
        fail(f"{command[0]} is not installed (Debian: apt-get install yosys)")
    if done.returncode != 0:
        fail(f"{command[0]} failed:\n{(done.stderr + done.stdout)[-2000:]}")
    return done.stdout


def main() -> int:
    """Proves one design, and returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="*", help="the design, in the order of compilation [default: the reference]")
    parser.add_argument("--bundle", type=Path, default=Path(__file__).parent.parent, help="folder of `guardbit vectors` [default: this one]")
    parser.add_argument("--top", default="my_dut", help="its top module [default: my_dut]")
    parser.add_argument("--profile", choices=["sums", "full"], default="sums", help="its ports [default: sums]")
    parser.add_argument("--timeout", type=int, default=300, help="time limit of the proof in seconds [default: 300]")
    args = parser.parse_args()
    bundle = args.bundle.resolve()
    manifest = bundle / "manifest.json"
    if not manifest.is_file():
        fail(f"{args.bundle} is not a bundle: it has no manifest.json")
    arithmetic = json.loads(manifest.read_text())["arithmetic"]
    text, compared = miter(ports((bundle / "rtl/gb_dut.sv").read_text()), args.profile)
    missing = [str(file) for file in args.files if not file.is_file()]
    if missing:
        fail(f"no such file: {', '.join(missing)}")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "miter.sv").write_text(text)
        reference = " ".join(f"{bundle}/rtl/gb_{name}.sv" for name in RTL)
        own = " ".join(str(file.resolve()) for file in args.files)
        gate = f"-D GB_TOP={args.top} {own} {bundle}/adapters/gb_dut_{args.profile}.sv"
        if not args.files:
            gate = f"{reference} {bundle}/rtl/gb_dut.sv"
        # The reference is elaborated first, so that modules of the same names on the other side cannot replace its own.
        script = f"""
read_verilog -sv -D SYNTHESIS {reference} {bundle}/rtl/gb_dut.sv
hierarchy -check -top gb_dut
proc; flatten; opt_clean
rename gb_dut gold
design -stash gold
read_verilog -sv -D SYNTHESIS {gate}
hierarchy -check -top gb_dut
proc; flatten; opt_clean
rename gb_dut gate
design -stash gate
design -copy-from gold -as gold gold
design -copy-from gate -as gate gate
read_verilog -sv miter.sv
prep -top miter -flatten
memory; async2sync; opt -full; wreduce; opt -full
techmap; opt; dffunmap
abc -g AND -fast
setundef -undriven -anyseq; opt_clean
write_aiger -zinit -map miter.map miter.aig
"""
        # Registers without an initial value, and signals that nothing drives, become inputs of any value.
        Path(folder, "prove.ys").write_text(script)
        run(["yosys", "-q", "prove.ys"], folder)
        # Equal parts of both designs, multipliers among them, are merged before the proof.
        steps = f"read_aiger miter.aig; strash; scorr; pdr -T {args.timeout}; print_status; write_cex -n cex.txt"
        report = run(["yosys-abc", "-c", steps], folder)
        counterexample = Path(folder, "cex.txt")
        shown = ""
        if counterexample.is_file():
            shown = stimuli(counterexample.read_text(), Path(folder, "miter.map").read_text())
    levels = [
        f"{level['name']}: {level['bits'] or 'exact'}{' bits ' + level['overflow'] if level['bits'] else ''}, {level['reduce']}"
        for level in arithmetic["levels"]
    ]
    scope = f"{', '.join(compared)}; levels {'; '.join(levels)}; every input, any number of cycles from a reset"
    status = re.search(r"Status = (-?\d+)\s+Frames = (\d+)", report)
    if status and status[1] == "1":
        print(f"proved equal: {scope}")
        return 0
    if status and status[1] == "0":
        print(f"not equal: {', '.join(compared)} differ in the last of these cycles\n{shown}", end="")
        return 1
    print(f"not decided within {args.timeout} seconds: {scope}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
