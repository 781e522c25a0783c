# Replays the vectors of this folder: make icarus, make verilator.
#
# Each replays the beats as they are, then again with idle cycles between them and resets.
#
# DUT      the design under test: files with a module gb_dut of the ports of rtl/gb_dut.sv
# WAVES    a file to dump the signals of the first run to: NAME.vcd or NAME.fst
# LATENCY  0 does not compare latencies with the manifest's
# IDLE     percentage of beats with idle cycles before them, IDLE_MAX most of them, RESETS number of resets,
#          SEED other places of all; of the second run. STRESS=0 leaves it out
# ARGS     further arguments of the runs; see tb_aligned.sv
DUT ?= rtl/gb_dut.sv
BUILD ?= build
LATENCY ?= 1
STRESS ?= 1
IDLE ?= 10
IDLE_MAX ?= 8
RESETS ?= 8
SEED ?= 1
RTL := rtl/gb_codes.sv rtl/gb_aligned_codes.sv rtl/gb_aligned_decode.sv rtl/gb_aligned_product.sv \
	rtl/gb_aligned_round.sv rtl/gb_aligned_term.sv rtl/gb_aligned_group.sv rtl/gb_aligned_beyond.sv \
	rtl/gb_aligned_encode.sv rtl/gb_aligned_sum.sv rtl/gb_aligned_promote.sv rtl/gb_aligned_scale.sv rtl/gb_aligned_block.sv \
	rtl/gb_aligned.sv
SOURCES = $(RTL) tb_params.sv $(DUT) tb_clock.sv tb_aligned.sv

FST := $(filter %.fst,$(WAVES))
TRACE := $(if $(WAVES),$(if $(FST),--trace-fst,--trace))
RUN := $(ARGS) +latency=$(LATENCY) $(if $(WAVES),+waves=$(WAVES))
STRESSED := $(if $(filter-out 0,$(STRESS)),$(ARGS) +latency=$(LATENCY) +idle=$(IDLE) +idle_max=$(IDLE_MAX) +resets=$(RESETS) +seed=$(SEED))
# With and without signals to dump, Verilator makes other files.
VERILATED := $(BUILD)/verilated$(TRACE)

all: icarus verilator

icarus:
	mkdir -p $(BUILD)
	iverilog -g2012 -s tb_aligned -o $(BUILD)/tb.vvp $(SOURCES)
	vvp -n $(BUILD)/tb.vvp $(RUN) $(if $(FST),-fst)
	$(if $(STRESSED),vvp -n $(BUILD)/tb.vvp $(STRESSED))

verilator:
	mkdir -p $(BUILD)
	verilator --binary --timing -O3 -Wno-fatal -Wno-WIDTH $(TRACE) --top-module tb_aligned --Mdir $(VERILATED) -o Vtb \
	    $(SOURCES) >$(BUILD)/log 2>&1 || { cat $(BUILD)/log; exit 1; }
	$(VERILATED)/Vtb $(RUN)
	$(if $(STRESSED),$(VERILATED)/Vtb $(STRESSED))

clean:
	rm -rf $(BUILD)

.PHONY: all icarus verilator clean
