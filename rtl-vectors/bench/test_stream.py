"""Replays this bundle with cocotb (1.9 or later) against gb_stream_dut: a design with valid and ready, or with AXI4-Stream.

    make stream-cocotb SIM=icarus [WAVES=dump.vcd]
    make axis-cocotb

Compares every sum and code. Also fails if a result changes or goes while it waits, if one is lost or comes twice, and if
one is valid in a reset. Variables of the environment are those of test_bundle.py, and GUARDBIT_STALL, the percentage of
cycles in which results begin to wait. A seed gives the same run as in tb_stream.sv and tb_stream.vhd.
"""

import json

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge, Timer

import gb_stress
from test_bundle import BUNDLE, DRAIN, Draws, Mismatches, setting, unsigned, words

# Cycles without progress after which the run ends.
PATIENCE = 4096


class Stream:
    """Offers beats, takes results, and compares them."""

    def __init__(self, dut, idle, stall, resets):
        self.dut, self.manifest = dut, json.loads((BUNDLE / "manifest.json").read_text())
        self.interface, self.levels = self.manifest["interface"], len(self.manifest["arithmetic"]["levels"])
        self.in_rtl = self.manifest["arithmetic"]["requantize"]["in_rtl"]
        self.beats = list(zip(words("ctrl"), words("stim_a"), words("stim_w"), words("exp_flags")))
        self.dots = list(zip(words("stim_bias"), words("stim_mult"), words("stim_exp")))
        self.sums, self.codes = words("exp_sum"), words("exp_out")
        # Per output word: the first beat of its dot product, and the dot products before it.
        starts = [beat for beat in range(len(self.beats)) if self.is_start(beat)]
        ends = [beat for beat in range(len(self.beats)) if self.is_end(beat)]
        self.origins = []
        for end in ends:
            dot = max(dot for dot, start in enumerate(starts) if start <= end)
            self.origins.append((starts[dot], dot))
        self.mismatches, self.draws = Mismatches(dut, self.manifest), Draws()
        self.idle, self.stall, self.resets = idle, stall, resets
        # Beats that were accepted, results that were taken, and results that are due.
        self.cycle = self.beat = self.words = self.due = 0
        self.dot, self.gap, self.still, self.drained = -1, 0, 0, 0
        self.in_wait = self.out_wait = self.pause = self.stalled = self.resetting = self.in_reset = 0
        self.kind = self.next_reset = 0
        self.offers = self.is_accepted = self.is_paused = self.is_ready = self.is_done = False
        self.waiting = None
        gb_stress.clear()

    def is_start(self, beat):
        return self.beats[beat][0] & 3 == 3

    def is_end(self, beat):
        return self.beats[beat][0] & 1 and self.beats[beat][0] >> 1 + self.levels & 1

    def differs(self, kind, got, expected):
        self.mismatches.compare(kind, got, expected, f"cycle={self.cycle} word={self.words}", word=self.words)

    def drive(self, word, a, w):
        dut, lanes = self.dut, self.interface["lanes"]
        dut.in_valid.value, dut.in_clear.value = word & 1, word >> 1 & 1
        dut.in_run_last.value = word >> 2 & (1 << self.levels) - 1
        dut.in_keep.value = word >> 2 + self.levels & (1 << lanes) - 1
        dut.in_a.value, dut.in_w.value = a, w
        self.offers = word & 1

    def no_beat(self):
        """A cycle without a beat: nothing else matters."""
        self.gap += 1
        clear = self.draws.draw(2)
        noise = self.draws.draw(2)
        lanes = self.interface["lanes"]
        marks = (1 << 2 + self.levels + lanes) - 4
        rows = [noise * ((1 << lanes * self.interface[f"{side}_slot"]) - 1) for side in ("activation", "weight")]
        self.drive(marks | clear << 1, *rows)

    def offer(self):
        """Offers the beat at hand, which stays until it is accepted."""
        starts = self.is_start(self.beat)
        gb_stress.sample("gap_between" if starts else "gap_inside", self.gap)
        self.gap = 0
        self.dot += starts
        self.drive(*self.beats[self.beat][:3])
        dut = self.dut
        dut.in_bias.value, dut.in_mult.value, dut.in_exp.value = self.dots[self.dot]

    def is_reset_due(self):
        """Of the kinds in turn: when everything has been taken, within a dot product, after an overflow."""
        beat, flags = self.beat, sum(8 << 4 * level for level in range(self.levels))
        if not self.resets or beat < self.next_reset or not 0 < beat < len(self.beats):
            return False
        starts = self.is_start(beat)
        is_due = bool((starts and self.words == self.due, not starts, self.beats[beat - 1][3] & flags)[self.kind])
        # Not every bundle overflows.
        if self.kind == 2 and not is_due and beat > self.next_reset + len(self.beats) // 2:
            self.kind = 0
        return is_due

    def reset(self):
        gb_stress.sample("reset", self.kind)
        self.no_beat()
        self.dut.rst_n.value = 0
        drawn = self.draws.draw(4)
        self.resetting = 3 + drawn
        self.kind, self.resets = (self.kind + 1) % 3, self.resets - 1
        self.next_reset += len(self.beats) // (self.resets + 1) // 2
        # Everything that is under way is lost.
        self.beat, dot = self.origins[self.words] if self.words < len(self.origins) else (len(self.beats), len(self.dots))
        self.dot, self.due, self.waiting, self.out_wait = dot - 1, self.words, None, 0

    def next_cycle(self):
        """What the design gets in this cycle."""
        if self.resetting:
            self.resetting -= 1
            if not self.resetting:
                self.dut.rst_n.value = 1
        elif not self.offers or self.is_accepted:
            if self.is_accepted:
                self.due += self.is_end(self.beat)
                self.beat += 1
                self.is_paused = False
            # A cycle without a beat is no transfer.
            while self.beat < len(self.beats) and not self.beats[self.beat][0] & 1:
                self.beat += 1
            if self.is_reset_due():
                self.reset()
            else:
                self.next_beat()
        if self.stalled:
            self.stalled -= 1
        else:
            drawn = self.draws.draw(100)
            if drawn < self.stall and self.beat < len(self.beats):
                self.stalled = self.draws.cycles()
        self.is_ready = not self.stalled
        self.dut.out_ready.value = int(self.is_ready)

    def next_beat(self):
        """Offers the beat at hand, or begins or continues idle cycles before it."""
        drawn = self.draws.draw(100)
        if self.beat >= len(self.beats):
            self.no_beat()
        elif self.pause:
            self.pause -= 1
            self.no_beat()
        elif drawn < self.idle and not self.is_paused:
            self.pause, self.is_paused = self.draws.cycles() - 1, True
            self.no_beat()
        else:
            self.offer()

    def transfer(self):
        """What is transferred with the next edge."""
        self.still += 1
        self.is_accepted = bool(self.offers and unsigned(self.dut.in_ready))
        if self.is_accepted:
            self.still = 0
            if self.in_wait:
                gb_stress.sample("stall_in", self.in_wait)
            self.in_wait = 0
        elif self.offers:
            self.in_wait += 1
        valid = unsigned(self.dut.out_valid)
        result = (unsigned(self.dut.sum), unsigned(self.dut.out_code)) if valid else None
        if self.waiting is not None and result != self.waiting:
            self.differs("unstable", 0, 1)
        self.waiting = None if self.is_ready else result
        if result and self.is_ready:
            self.still = 0
            if self.out_wait:
                gb_stress.sample("stall_out", self.out_wait)
            self.out_wait = 0
            self.compare(*result)
        elif result:
            self.out_wait += 1
        if self.beat >= len(self.beats) and self.words >= len(self.sums):
            self.drained += 1
            self.is_done = self.drained > DRAIN
        elif self.still > PATIENCE:
            self.differs("missing", 0, 1)
            self.is_done = True

    def compare(self, total, code):
        is_due = self.words < self.due or self.is_accepted and self.is_end(self.beat)
        if self.words >= len(self.sums) or not is_due:
            self.differs("extra", 1, 0)
            return
        self.differs("sum", total, self.sums[self.words])
        if self.in_rtl:
            self.differs("out", code, self.codes[self.words])
        self.words += 1

    async def run(self):
        dut = self.dut
        for signal in (dut.rst_n, dut.out_ready, dut.in_bias, dut.in_mult, dut.in_exp):
            signal.value = 0
        self.drive(0, 0, 0)
        try:
            clock = Clock(dut.clk, 10, unit="ns")
        except TypeError:
            clock = Clock(dut.clk, 10, units="ns")
        cocotb.start_soon(clock.start())
        for _ in range(4):
            await RisingEdge(dut.clk)
        # After what changes with the edge.
        await Timer(2, "ns")
        dut.rst_n.value = 1
        # The cycle at hand, in which nothing is sent.
        self.cycle = 1
        while not self.is_done:
            # Inputs change a little after the edge; outputs are read a little before the next one.
            await RisingEdge(dut.clk)
            self.in_reset = 0 if unsigned(dut.rst_n) else self.in_reset + 1
            await Timer(1, "ns")
            self.next_cycle()
            await FallingEdge(dut.clk)
            self.cycle += 1
            if self.in_reset > 1:
                self.differs("reset", unsigned(dut.out_valid), 0)
            if self.in_reset == 0 and unsigned(dut.rst_n):
                self.transfer()
            else:
                self.is_accepted = False
        self.dut._log.info(f"RESULT mismatches={self.mismatches.count} cycles={self.cycle} sum={self.words} {gb_stress.listed()} random={self.draws.state}")
        assert self.mismatches.count == 0, f"{self.mismatches.count} mismatches"
        assert self.words == self.manifest["compared"]["sum"], f"compared {self.words} sums"


@cocotb.test()
async def replay(dut):
    """Offers every beat at once, and takes every result at once."""
    await Stream(dut, 0, 0, 0).run()


@cocotb.test()
async def stress(dut):
    """Offers beats after idle cycles, lets results wait, and resets."""
    await Stream(dut, setting("IDLE", 10), setting("STALL", 10), setting("RESETS", 6)).run()
