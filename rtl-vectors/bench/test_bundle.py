"""Replays this bundle with cocotb (1.9 or later) against gb_dut.

    make cocotb SIM=icarus [WAVES=dump.vcd]

Everything comes from manifest.json and the .mem files; values are compared as plain integers. The first ten mismatches
are logged with their case and operands; any fails the test, as does a value that was not compared.

`replay` sends the beats as they are. `stress` has idle cycles between beats, and resets. Variables of the environment:
GUARDBIT_LATENCY=0 does not check latencies; GUARDBIT_IDLE, GUARDBIT_IDLE_MAX, GUARDBIT_RESETS and GUARDBIT_SEED are the
percentage of beats with idle cycles before them, the most of these, the number of resets, and the seed of their places.
A seed gives the same run as in tb.sv and tb.vhd.
"""

import json
import os
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


class Draws:
    """Numbers from 0 to below - 1, which tb.sv, tb.vhd and the benches of streams draw in the same order."""

    def __init__(self):
        self.state, self.most = setting("SEED", 1) % 65536 + 1, max(setting("IDLE_MAX", 64), 1)

    def draw(self, below):
        self.state = (self.state * 75 + 74) % 65537
        return self.state % 65536 % below

    def cycles(self):
        """As often one or two cycles as several or many."""
        cycles = self.draw(4)
        few = self.draw(5)
        many = self.draw(self.most)
        return min((1, 2, 3 + few, 8 + many)[cycles], self.most)


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

    def __init__(self, dut, idle, resets):
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
        within = [beat for beat in range(len(self.ctrl)) if self.is_valid(beat) and not self.is_start(beat)]
        self.last_within = max(within, default=-1)
        self.draws, self.idle, self.resets = Draws(), idle, resets
        self.cycle, self.dot, self.due, self.gap = 0, -1, 0, 0
        # The next beat; the first one of the dot product at hand, and the dot product before it.
        self.beat, self.first = 0, (0, -1)
        # Cycles that are left of idle ones, of those before a reset, and of a reset; beats that it is about to drop.
        self.pause, self.quiet, self.resetting, self.extra = 0, 0, 0, None
        self.kind = self.next_reset = self.overflowed = self.drained = 0
        self.is_paused = False
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

    def send(self):
        beat = self.beat
        self.drive(self.ctrl[beat], self.a[beat], self.w[beat])
        if not self.is_valid(beat):
            self.gap += 1
        else:
            gb_stress.sample("gap_between" if self.is_start(beat) else "gap_inside", self.gap)
            self.gap = 0
            self.first_in = self.cycle if self.first_in is None else self.first_in
            if self.is_start(beat):
                self.first = (beat, self.dot)
                self.dot += 1
            if self.is_end(beat):
                self.due += 1
                self.first_last = self.cycle if self.first_last is None else self.first_last
        self.beat += 1
        self.is_paused = False
        # Before the first dot product they do not matter.
        dot = max(self.dot, 0)
        dut = self.dut
        dut.in_bias.value, dut.in_mult.value, dut.in_exp.value = self.bias[dot], self.mult[dot], self.expo[dot]

    def no_beat(self):
        """A cycle without a beat: no other input matters."""
        self.gap += 1
        clear = self.draws.draw(2)
        noise = self.draws.draw(2)
        lanes = self.interface["lanes"]
        marks = (1 << 2 + len(self.levels) + lanes) - 4
        rows = [noise * ((1 << lanes * self.interface[f"{side}_slot"]) - 1) for side in ("activation", "weight")]
        self.drive(marks | clear << 1, *rows)

    def next_cycle(self):
        """What the design gets in this cycle.

        A reset waits until the design is idle, lets a few beats enter that it must drop, and sends the dot product again.
        """
        if self.resetting > 0:
            self.no_beat()
            # Beats during a reset must have no effect, the last one above all.
            drawn = self.draws.draw(2)
            self.dut.in_valid.value = int(self.resetting == 2 or self.resetting > 1 and drawn != 0)
            self.resetting -= 1
            if self.resetting == 0:
                self.dut.rst_n.value = 1
                self.send_again()
        elif self.quiet > 0:
            self.no_beat()
            self.quiet -= 1
            if self.quiet == 0:
                self.check_drained(self.beat)
                extra = self.draws.draw(3)
                # A reset after an overflow finds its sticky flag set, which the next dot product would clear.
                self.extra = 0 if KINDS[self.kind] == "overflowed" else extra
                # A reset between dot products drops beats of the next one.
                if self.is_start(self.beat):
                    self.first = (self.beat, self.dot)
        elif self.extra is not None:
            if self.drops_beat():
                self.send()
                self.extra -= 1
            else:
                self.no_beat()
                self.reset()
        elif self.pause > 0:
            self.no_beat()
            self.pause -= 1
        elif self.beat < len(self.ctrl):
            if self.is_reset_due():
                self.no_beat()
                self.quiet = DRAIN
                return
            drawn = self.draws.draw(100)
            if drawn < self.idle and not self.is_paused and self.is_valid(self.beat):
                cycles = self.draws.cycles()
                self.no_beat()
                self.pause, self.is_paused = cycles - 1, True
            else:
                self.send()
        else:
            self.no_beat()
            self.drained += 1

    def is_reset_due(self):
        """Whether the beat at hand is a place for the next kind of reset."""
        beat = self.beat
        if self.resets <= 0 or beat < self.next_reset or beat == 0 or not self.is_valid(beat):
            return False
        kind = KINDS[self.kind]
        if kind == "between":
            return self.is_start(beat)
        if kind == "within":
            # Every dot product may be one beat.
            if beat > self.last_within:
                self.kind = KINDS.index("overflowed")
                return False
            return not self.is_start(beat)
        flag = self.next_flag(beat, self.overflowed)
        # Not every bundle overflows.
        if flag is None:
            self.kind = KINDS.index("between")
            return False
        return bool(self.flags[beat - 1] & flag)

    def drops_beat(self):
        """Whether the next of the beats that a reset drops is one of the dot product at hand, before its end."""
        beat = self.beat
        if self.extra == 0 or beat == len(self.ctrl):
            return False
        return not self.is_end(beat) and (not self.is_start(beat) or beat == self.first[0])

    def reset(self):
        self.dut.rst_n.value = 0
        drawn = self.draws.draw(4)
        self.resetting, self.extra = 3 + drawn, None
        gb_stress.sample("reset", self.kind)
        self.overflowed += KINDS[self.kind] == "overflowed"
        self.kind, self.resets = (self.kind + 1) % len(KINDS), self.resets - 1
        self.next_reset += len(self.ctrl) // (self.resets + 1) // 2

    def send_again(self):
        """Goes back to the first beat of the dot product; what was compared of it does not count."""
        self.beat, self.dot = self.first
        for level in self.levels:
            level.back_to(self.beat)

    def compare(self):
        dut = self.dut
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

    async def run(self):
        await self.begin()
        in_reset = 0
        while self.drained <= DRAIN:
            self.next_cycle()
            await FallingEdge(self.dut.clk)
            self.cycle += 1
            in_reset = 0 if unsigned(self.dut.rst_n) else in_reset + 1
            if in_reset == 0:
                self.compare()
            elif in_reset > 1:
                self.compare_reset()
        self.end()

    def end(self):
        self.check_drained(len(self.ctrl))
        compared = self.manifest["compared"]
        found = {"acc": [level.at for level in self.levels], **self.compared}
        for key in ("acc", "sum", "out"):
            # Codes of a scheme that the reference RTL does not have are counted, but not compared.
            if key != "out" or self.arithmetic["requantize"]["in_rtl"]:
                assert found[key] == compared[key], f"compared {key}: {found[key]}, the manifest has {compared[key]}"
        self.dut._log.info(f"RESULT mismatches={self.mismatches.count} cycles={self.cycle} {found} {gb_stress.listed()} random={self.draws.state}")
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
    await Bench(dut, 0, 0).run()


@cocotb.test()
async def stress(dut):
    """Sends the beats with idle cycles before some, and resets between dot products, within one, and after an overflow."""
    await Bench(dut, setting("IDLE", 10), setting("RESETS", 6)).run()
