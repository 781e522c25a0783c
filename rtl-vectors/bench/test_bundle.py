"""Replays this bundle with cocotb (1.9 or later) against gb_dut.

    make cocotb SIM=icarus [WAVES=dump.vcd]

Everything comes from manifest.json and the .mem files; values are compared as plain integers. The first ten mismatches
are logged with their case and operands; any fails the test.
"""

import json
import os
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

BUNDLE = Path(os.environ.get("GUARDBIT_BUNDLE", "."))
SHOWN = 10


def words(name):
    return [int(line, 16) for line in (BUNDLE / f"{name}.mem").read_text().split()]


def unsigned(signal):
    """The bits of a signal as an integer, under cocotb 1.x and 2.x."""
    value = signal.value
    return value.to_unsigned() if hasattr(value, "to_unsigned") else value.integer


def signed(word, bits):
    return word - (1 << bits) if word >> bits - 1 & 1 else word


class Mismatches:
    """Counts what differs; logs the first ones with their case and operands."""

    def __init__(self, dut, manifest):
        self.log, self.cases, self.count = dut._log, manifest["cases"], 0
        self.arithmetic, self.interface = manifest["arithmetic"], manifest["interface"]
        self.a, self.w, self.ctrl = words("stim_a"), words("stim_w"), words("ctrl")

    def compare(self, kind, got, expected, where, beat=None, word=None):
        if got == expected:
            return
        self.count += 1
        if self.count <= SHOWN:
            self.log.error(f"MISMATCH kind={kind} {where} expected={expected:x} got={got:x}{self.case(beat, word)}")

    def case(self, beat, word):
        for case in self.cases:
            if beat is not None and beat < case["first_beat"] + case["beats"]:
                return f" case={case['id']} operands={self.operands(beat)}"
            if beat is None and case["out_word"] == word:
                return f" case={case['id']} operands={self.operands(case['first_beat'] + case['beats'] - 1)}"
        return ""

    def operands(self, beat):
        """Of the lanes in use: activation * weight."""
        lanes, keep = self.interface["lanes"], self.ctrl[beat] >> 2 + len(self.arithmetic["levels"])
        sides = (("activation", self.a[beat]), ("weight", self.w[beat]))

        def value(side, row, lane):
            slot, bits = self.interface[f"{side}_slot"], self.arithmetic[side]["bits"]
            return str(signed(row >> lane * slot & (1 << bits) - 1, bits))

        used = [lane for lane in range(lanes) if keep >> lane & 1]
        return ",".join("*".join(value(side, row, lane) for side, row in sides) for lane in used)


class Level:
    """One accumulation level: compares where it adds."""

    def __init__(self, dut, index, info):
        self.acc = getattr(dut, f"acc_l{index}")
        self.index, self.name, self.mask = index, info["name"], (1 << info["acc_bits"]) - 1
        self.expected = words(f"exp_acc_{info['name']}")
        adds = [beat for beat, word in enumerate(words("mask")) if word >> index & 1]
        self.beats = iter(adds)
        self.left = len(adds)

    def compare(self, dut, flags, wide, cycle, mismatches):
        if not unsigned(dut.updated) >> self.index & 1:
            return
        beat = next(self.beats, None)
        self.left -= 1
        if beat is None:
            mismatches.compare("extra", 1, 0, f"level={self.name} cycle={cycle}")
            return
        where = f"level={self.name} cycle={cycle} beat={beat} exact={wide[beat]}"
        mismatches.compare("acc", unsigned(self.acc) & self.mask, self.expected[beat], where, beat=beat)
        got, expected = unsigned(dut.flags) >> 4 * self.index & 15, flags[beat] >> 4 * self.index & 15
        mismatches.compare("flags", got, expected, where, beat=beat)


@cocotb.test()
async def replay(dut):
    manifest = json.loads((BUNDLE / "manifest.json").read_text())
    interface, arithmetic = manifest["interface"], manifest["arithmetic"]
    levels = [Level(dut, i, info) for i, info in enumerate(arithmetic["levels"])]
    count, lanes = len(levels), interface["lanes"]
    ctrl, a, w = words("ctrl"), words("stim_a"), words("stim_w")
    bias, mult, expo = words("stim_bias"), words("stim_mult"), words("stim_exp")
    flags, sums, codes = words("exp_flags"), words("exp_sum"), words("exp_out")
    wide = [signed(word, 64) for word in words("exp_wide")]
    mismatches = Mismatches(dut, manifest)
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
            level.compare(dut, flags, wide, cycle, mismatches)
        for key, valid, signal, expected in (
            ("sum", dut.sum_valid, dut.sum, sums),
            ("out", dut.out_valid, dut.out_code, codes),
        ):
            if unsigned(valid):
                if key == "sum" or arithmetic["requantize"]["in_rtl"]:
                    want = expected[sent[key]] if sent[key] < len(expected) else -1
                    where = f"cycle={cycle} word={sent[key]}"
                    mismatches.compare(key, unsigned(signal), want, where, word=sent[key])
                sent[key] += 1
    assert mismatches.count == 0, f"{mismatches.count} mismatches"
    assert sent == {"sum": len(sums), "out": len(codes)}, sent
    assert all(level.left == 0 for level in levels)
