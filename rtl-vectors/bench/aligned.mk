# Replays the vectors of this folder: make icarus, make verilator. DUT: your own gb_dut, with the ports of rtl/gb_dut.sv.
# ARGS: arguments of the bench, e.g. ARGS=+idle=30; see tb_aligned.sv.

DUT ?= rtl/gb_dut.sv
ARGS ?=
BUILD ?= build
RTL := rtl/gb_codes.sv rtl/gb_aligned_codes.sv rtl/gb_aligned_decode.sv rtl/gb_aligned_product.sv \
	rtl/gb_aligned_round.sv rtl/gb_aligned_term.sv rtl/gb_aligned_group.sv rtl/gb_aligned_beyond.sv \
	rtl/gb_aligned_encode.sv rtl/gb_aligned_sum.sv rtl/gb_aligned_promote.sv rtl/gb_aligned.sv
SOURCES = $(RTL) tb_params.sv $(DUT) tb_clock.sv tb_aligned.sv

all: icarus verilator

icarus:
	mkdir -p $(BUILD)
	iverilog -g2012 -s tb_aligned -o $(BUILD)/tb.vvp $(SOURCES)
	vvp -n $(BUILD)/tb.vvp $(ARGS)
	vvp -n $(BUILD)/tb.vvp +idle=10 $(ARGS)

verilator:
	mkdir -p $(BUILD)
	verilator --binary --timing -O3 -Wno-fatal -Wno-WIDTH --top-module tb_aligned --Mdir $(BUILD)/verilated -o Vtb \
	    $(SOURCES) >$(BUILD)/log 2>&1 || { cat $(BUILD)/log; exit 1; }
	$(BUILD)/verilated/Vtb $(ARGS)
	$(BUILD)/verilated/Vtb +idle=10 $(ARGS)

clean:
	rm -rf $(BUILD)

.PHONY: all icarus verilator clean
