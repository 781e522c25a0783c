"""Replays this bundle with cocotb (1.9 or later) against gb_dut.

    make cocotb SIM=icarus [WAVES=dump.vcd]

Everything comes from manifest.json and the .mem files; values are compared as plain integers. The first ten mismatches
are logged with their case and operands; any fails the test, as does a value that was not compared.

`replay` sends the beats as they are. `stress` has idle cycles between beats, and resets. Variables of the environment:
GUARDBIT_LATENCY=0 does not check latencies; GUARDBIT_IDLE, GUARDBIT_IDLE_MAX, GUARDBIT_RESETS and GUARDBIT_SEED are the
percentage of beats with idle cycles before them, the most of these, the number of resets, and the seed of their places.
"""

import json
import os
import random
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

import gb_stress

BUNDLE = Path(os.environ.get("GUARDBIT_BUNDLE", "."))
SHOWN = 10
# Cycles after which nothing is under way in a design.
DRAIN = 64
# Resets: between dot products, within one, after an overflow.
KINDS = ["between", "within", "overflowed"]


def setting(name, default):
    return int(os.environ.get(f"GUARDBIT_{name}", default))


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
    """One accumulation level: compares where it adds, and that it holds its value elsewhere."""

    def __init__(self, dut, index, info, mask):
        self.acc = getattr(dut, f"acc_l{index}")
        self.index, self.name, self.bits = index, info["name"], (1 << info["acc_bits"]) - 1
        self.expected = words(f"exp_acc_{info['name']}")
        self.beats = [beat for beat, word in enumerate(mask) if word >> index & 1]
        # The next beat to show, as a place in `beats`; the port's last value; the cycle of the first value.
        self.at, self.held, self.seen = 0, 0, None

    def beat(self):
        """The next beat to show; the number of all beats after the last one."""
        return self.beats[self.at] if self.at < len(self.beats) else len(self.expected)

    def compare(self, dut, flags, wide, cycle, mismatches):
        port, where = unsigned(self.acc), f"level={self.name} cycle={cycle}"
        if not unsigned(dut.updated) >> self.index & 1:
            mismatches.compare("hold", port, self.held, where, beat=min(self.beat(), len(wide) - 1))
            self.held = port
            return
        self.held = port
        self.seen = cycle if self.seen is None else self.seen
        if self.at == len(self.beats):
            mismatches.compare("extra", 1, 0, where)
            return
        beat = self.beats[self.at]
        self.at += 1
        where = f"{where} beat={beat} exact={wide[beat]}"
        mismatches.compare("acc", port & self.bits, self.expected[beat], where, beat=beat)
        got, expected = unsigned(dut.flags) >> 4 * self.index & 15, flags[beat] >> 4 * self.index & 15
        mismatches.compare("flags", got, expected, where, beat=beat)

    def back_to(self, beat):
        """Shows the beats from `beat` on again."""
        while self.at > 0 and self.beats[self.at - 1] >= beat:
            self.at -= 1
        self.held = 0


class Bench:
    """Sends beats, compares what leaves the design, and counts it."""

    def __init__(self, dut):
        self.dut, self.manifest = dut, json.loads((BUNDLE / "manifest.json").read_text())
        self.interface, self.arithmetic = self.manifest["interface"], self.manifest["arithmetic"]
        levels, mask = self.arithmetic["levels"], words("mask")
        self.levels = [Level(dut, i, info, mask) for i, info in enumerate(levels)]
        self.ctrl, self.a, self.w = words("ctrl"), words("stim_a"), words("stim_w")
        self.bias, self.mult, self.expo = words("stim_bias"), words("stim_mult"), words("stim_exp")
        self.flags, self.wide = words("exp_flags"), [signed(word, 64) for word in words("exp_wide")]
        # Per level: the last beat after which its sticky flag is set.
        flagged = [[beat for beat, flags in enumerate(self.flags) if flags >> 4 * i & 8] for i in range(len(levels))]
        self.last_flags = [max(beats, default=-1) for beats in flagged]
        self.expected = {"sum": words("exp_sum"), "out": words("exp_out")}
        self.compared = {"sum": 0, "out": 0}
        self.mismatches = Mismatches(dut, self.manifest)
        self.cycle, self.dot, self.due, self.gap = 0, -1, 0, 0
        gb_stress.clear()
        self.first_in = self.first_last = self.first_out = None
        self.inputs = (dut.in_valid, dut.in_clear, dut.in_run_last, dut.in_keep, dut.in_a, dut.in_w)

    def is_valid(self, beat):
        return self.ctrl[beat] & 1

    def is_start(self, beat):
        return self.ctrl[beat] & 3 == 3

    def is_end(self, beat):
        return self.ctrl[beat] & 1 and self.ctrl[beat] >> 1 + len(self.levels) & 1

    def next_flag(self, beat, turn):
        """Returns the bit of the sticky flag that the next reset after an overflow waits for, or None.

        Of the levels that overflow in the beat before or later: in turn, from the last one on.
        """
        for step in range(len(self.levels)):
            level = (len(self.levels) - 1 + turn + step) % len(self.levels)
            if self.last_flags[level] >= beat - 1:
                return 8 << 4 * level
        return None

    async def begin(self):
        dut = self.dut
        for signal in self.inputs + (dut.in_bias, dut.in_mult, dut.in_exp):
            signal.value = 0
        dut.rst_n.value = 0
        try:
            clock = Clock(dut.clk, 10, unit="ns")
        except TypeError:
            clock = Clock(dut.clk, 10, units="ns")
        cocotb.start_soon(clock.start())
        for cycle in range(4):
            await FallingEdge(dut.clk)
            if cycle > 1:
                self.compare_reset()
        dut.rst_n.value = 1

    def drive(self, word, a, w):
        count, lanes = len(self.levels), self.interface["lanes"]
        values = (word & 1, word >> 1 & 1, word >> 2 & (1 << count) - 1, word >> 2 + count & (1 << lanes) - 1, a, w)
        for signal, value in zip(self.inputs, values):
            signal.value = value

    async def send(self, beat):
        self.drive(self.ctrl[beat], self.a[beat], self.w[beat])
        if not self.is_valid(beat):
            self.gap += 1
        else:
            gb_stress.sample("gap_between" if self.is_start(beat) else "gap_inside", self.gap)
            self.gap = 0
            self.first_in = self.cycle if self.first_in is None else self.first_in
            self.dot += self.is_start(beat)
            if self.is_end(beat):
                self.due += 1
                self.first_last = self.cycle if self.first_last is None else self.first_last
        # Before the first dot product they do not matter.
        dot = max(self.dot, 0)
        dut = self.dut
        dut.in_bias.value, dut.in_mult.value, dut.in_exp.value = self.bias[dot], self.mult[dot], self.expo[dot]
        await self.clock()

    def no_beat(self, rng):
        """A cycle without a beat: no other input matters."""
        self.gap += 1
        bits = 2 + len(self.levels) + self.interface["lanes"]
        noise = [rng.getrandbits(self.interface["lanes"] * self.interface[f"{side}_slot"]) for side in ("activation", "weight")]
        self.drive((1 << bits) - 2, *noise)

    async def idle(self, cycles, rng):
        for _ in range(cycles):
            self.no_beat(rng)
            await self.clock()

    async def clock(self):
        dut = self.dut
        await FallingEdge(dut.clk)
        self.cycle += 1
        for level in self.levels:
            level.compare(dut, self.flags, self.wide, self.cycle, self.mismatches)
        for key, valid, signal in (("sum", dut.sum_valid, dut.sum), ("out", dut.out_valid, dut.out_code)):
            if not unsigned(valid):
                continue
            word, expected = self.compared[key], self.expected[key]
            if key == "out" and self.first_out is None:
                self.first_out = self.cycle
            if key == "sum" or self.arithmetic["requantize"]["in_rtl"] or word >= len(expected):
                want = expected[word] if word < len(expected) else -1
                self.mismatches.compare(key, unsigned(signal), want, f"cycle={self.cycle} word={word}", word=word)
            self.compared[key] += 1

    def compare_reset(self):
        """From the second cycle of a reset on, nothing is held and nothing is valid."""
        dut = self.dut
        ports = [level.acc for level in self.levels] + [dut.updated, dut.flags, dut.sum_valid, dut.out_valid]
        for port in ports:
            self.mismatches.compare("reset", unsigned(port), 0, f"cycle={self.cycle} port={port._name}")

    def check_drained(self, beat):
        """Everything that was sent must have been compared by now."""
        for level in self.levels:
            missing = max(beat - level.beat(), 0)
            self.mismatches.compare("missing", missing, 0, f"level={level.name} beat={level.beat()}")
        for key, count in self.compared.items():
            self.mismatches.compare(f"missing_{key}", count, self.due, f"cycle={self.cycle}")

    async def reset(self, beat, kind, rng):
        """Waits until the design is idle, lets a few beats enter that the reset must drop, and resets.

        A reset after an overflow finds its sticky flag set, which the next dot product would clear.
        Returns the first beat of the dot product, which is sent again.
        """
        gb_stress.sample("reset", KINDS.index(kind))
        await self.idle(DRAIN, rng)
        self.check_drained(beat)
        first, dot = beat, self.dot
        if not self.is_start(beat):
            first = max(b for b in range(beat) if self.is_start(b))
            dot -= 1
        dropped = 0 if kind == "overflowed" else rng.randrange(3)
        for more in range(beat, min(beat + dropped, len(self.ctrl))):
            if self.is_end(more) or self.is_start(more) and more != first:
                break
            await self.send(more)
        self.no_beat(rng)
        self.dut.rst_n.value = 0
        cycles = rng.randrange(3, 7)
        for cycle in range(cycles):
            await FallingEdge(self.dut.clk)
            self.cycle += 1
            if cycle > 0:
                self.compare_reset()
            # Beats during a reset must have no effect, the last one above all.
            self.dut.in_valid.value = rng.randrange(2) | (cycle == cycles - 2)
        self.dut.in_valid.value = 0
        self.dut.rst_n.value = 1
        self.dot = dot
        for level in self.levels:
            level.back_to(first)
        return first

    async def end(self):
        await self.idle(DRAIN, random.Random(0))
        self.check_drained(len(self.ctrl))
        compared = self.manifest["compared"]
        found = {"acc": [level.at for level in self.levels], **self.compared}
        for key in ("acc", "sum", "out"):
            # Codes of a scheme that the reference RTL does not have are counted, but not compared.
            if key != "out" or self.arithmetic["requantize"]["in_rtl"]:
                assert found[key] == compared[key], f"compared {key}: {found[key]}, the manifest has {compared[key]}"
        self.dut._log.info(f"RESULT mismatches={self.mismatches.count} cycles={self.cycle} {found} {gb_stress.listed()}")
        if setting("LATENCY", 1):
            where = f"cycle={self.cycle}"
            acc = min(level.seen for level in self.levels if level.seen is not None) - self.first_in
            self.mismatches.compare("latency", acc, self.interface["acc_latency"], where)
            out = self.first_out - self.first_last
            self.mismatches.compare("out_latency", out, self.interface["out_latency"], where)
        assert self.mismatches.count == 0, f"{self.mismatches.count} mismatches"


@cocotb.test()
async def replay(dut):
    """Sends the beats as they are."""
    bench = Bench(dut)
    await bench.begin()
    for beat in range(len(bench.ctrl)):
        await bench.send(beat)
    await bench.end()


@cocotb.test()
async def stress(dut):
    """Sends the beats with idle cycles before some, and resets between dot products, within one, and after an overflow."""
    bench, rng = Bench(dut), random.Random(setting("SEED", 1))
    idle, idle_max, resets = setting("IDLE", 10), setting("IDLE_MAX", 64), setting("RESETS", 6)
    kinds, beat, next_reset, turn = list(KINDS), 0, 0, 0
    within = [b for b in range(len(bench.ctrl)) if bench.is_valid(b) and not bench.is_start(b)]
    await bench.begin()
    while beat < len(bench.ctrl):
        kind = kinds[0]
        if resets > 0 and beat >= next_reset and beat > 0 and bench.is_valid(beat):
            # Every dot product may be one beat.
            if kind == "within" and beat > max(within, default=-1):
                kind = kinds[0] = "overflowed"
            flag = bench.next_flag(beat, turn) if kind == "overflowed" else None
            # Not every bundle overflows.
            if kind == "overflowed" and flag is None:
                kind = "between"
            starts = bench.is_start(beat)
            if {"between": starts, "within": not starts, "overflowed": bench.flags[beat - 1] & (flag or 0)}[kind]:
                turn += kind == "overflowed"
                beat = await bench.reset(beat, kind, rng)
                resets -= 1
                kinds = KINDS[resets % 3 :] + KINDS[: resets % 3]
                next_reset += len(bench.ctrl) // (resets + 1) // 2
        if bench.is_valid(beat) and rng.randrange(100) < idle:
            # As often one or two cycles as several or many.
            cycles = rng.choice((1, 2, rng.randrange(3, 8), rng.randrange(8, 8 + idle_max)))
            await bench.idle(min(cycles, idle_max), rng)
        await bench.send(beat)
        beat += 1
    await bench.end()
