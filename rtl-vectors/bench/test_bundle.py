"""Replays this bundle with cocotb (1.9 or later) against gb_dut.

    make cocotb SIM=icarus

Everything comes from manifest.json and the .mem files; values are compared as plain integers.
"""

import json
import os
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

BUNDLE = Path(os.environ.get("GUARDBIT_BUNDLE", "."))


def words(name):
    return [int(line, 16) for line in (BUNDLE / f"{name}.mem").read_text().split()]


def unsigned(signal):
    """The bits of a signal as an integer, under cocotb 1.x and 2.x."""
    value = signal.value
    return value.to_unsigned() if hasattr(value, "to_unsigned") else value.integer


class Level:
    """One accumulation level: compares where it adds."""

    def __init__(self, dut, index, info):
        self.acc = getattr(dut, f"acc_l{index}")
        self.index, self.name, self.mask = index, info["name"], (1 << info["acc_bits"]) - 1
        self.expected = words(f"exp_acc_{info['name']}")
        adds = [beat for beat, word in enumerate(words("mask")) if word >> index & 1]
        self.beats = iter(adds)
        self.left = len(adds)

    def compare(self, dut, flags, wide, cycle):
        if not unsigned(dut.updated) >> self.index & 1:
            return
        beat = next(self.beats)
        self.left -= 1
        got, expected = unsigned(self.acc) & self.mask, self.expected[beat]
        where = f"cycle {cycle}, beat {beat}, level {self.name}, exact sum {wide[beat]}"
        assert got == expected, f"{where}: expected {expected:#x}, got {got:#x}"
        got, expected = unsigned(dut.flags) >> 4 * self.index & 15, flags[beat] >> 4 * self.index & 15
        assert got == expected, f"{where}: expected flags {expected:04b}, got {got:04b}"


@cocotb.test()
async def replay(dut):
    manifest = json.loads((BUNDLE / "manifest.json").read_text())
    interface, arithmetic = manifest["interface"], manifest["arithmetic"]
    levels = [Level(dut, i, info) for i, info in enumerate(arithmetic["levels"])]
    count, lanes = len(levels), interface["lanes"]
    ctrl, a, w = words("ctrl"), words("stim_a"), words("stim_w")
    bias, mult, expo = words("stim_bias"), words("stim_mult"), words("stim_exp")
    flags, sums, codes = words("exp_flags"), words("exp_sum"), words("exp_out")
    wide = [word - (1 << 64) if word >> 63 else word for word in words("exp_wide")]
    inputs = (dut.in_valid, dut.in_clear, dut.in_run_last, dut.in_keep, dut.in_a, dut.in_w, dut.in_bias, dut.in_mult, dut.in_exp)
    for signal in inputs:
        signal.value = 0
    dut.rst_n.value = 0
    try:
        clock = Clock(dut.clk, 10, unit="ns")
    except TypeError:
        clock = Clock(dut.clk, 10, units="ns")
    cocotb.start_soon(clock.start())
    for _ in range(4):
        await FallingEdge(dut.clk)
    dut.rst_n.value = 1

    sent = {"sum": 0, "out": 0}
    started = -1
    for cycle in range(len(ctrl) + interface["out_latency"] + 4):
        word = ctrl[cycle] if cycle < len(ctrl) else 0
        dut.in_valid.value = word & 1
        if cycle < len(ctrl):
            dut.in_clear.value = word >> 1 & 1
            dut.in_run_last.value = word >> 2 & ((1 << count) - 1)
            dut.in_keep.value = word >> 2 + count & ((1 << lanes) - 1)
            dut.in_a.value, dut.in_w.value = a[cycle], w[cycle]
            started += word & 1 and word >> 1 & 1
            dut.in_bias.value, dut.in_mult.value, dut.in_exp.value = bias[started], mult[started], expo[started]
        await FallingEdge(dut.clk)
        for level in levels:
            level.compare(dut, flags, wide, cycle)
        for key, valid, signal, expected in (
            ("sum", dut.sum_valid, dut.sum, sums),
            ("out", dut.out_valid, dut.out_code, codes),
        ):
            if unsigned(valid):
                if key == "sum" or arithmetic["requantize"]["in_rtl"]:
                    got, want = unsigned(signal), expected[sent[key]]
                    assert got == want, f"cycle {cycle}, {key} {sent[key]}: expected {want:#x}, got {got:#x}"
                sent[key] += 1
    assert sent == {"sum": len(sums), "out": len(codes)}, sent
    assert all(level.left == 0 for level in levels)
