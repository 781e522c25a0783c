# Runs whole layers from their memory images on the reference design:
#   make icarus | verilator
#
# LAYERS   folders of layers, in order [default: all of them]
# CHAINED  1: a layer reads what the design wrote for the layers before, instead of the images
# ARRAY    files with a module gb_array of the ports of LAYER/gb_array.sv, instead of the reference design
# DUT      likewise, gb_dut
# SPILL    0 does not compare spilled sums, which are looked for in the reference array
# CYCLES   0 does not compare cycles
# ARGS     further arguments of the runs
#
# dut/LAYER.mem holds the output image that a design wrote: guardbit diff-layer . dut/LAYER.mem
LAYERS ?= $(patsubst %/tb_layer_params.sv,%,$(sort $(wildcard */tb_layer_params.sv)))
CHAINED ?= 0
SPILL ?= 1
CYCLES ?= 1
BUILD ?= build
# What others use comes first. Files that are not named here are not compiled.
MODULES := $(addprefix rtl/,gb_codes.sv gb_overflow.sv gb_fit.sv gb_round_shift.sv gb_product.sv gb_sum.sv gb_level.sv \
	gb_tree.sv gb_reduce.sv gb_float.sv gb_requant.sv gb_unit.sv gb_delay.sv gb_os_pe.sv gb_os_array.sv gb_ws_pe.sv \
	gb_ws_acc.sv gb_ws_array.sv)
TB := tb_clock.sv tb_layer.sv
DEFINES := $(if $(filter 0,$(SPILL)),-DGB_NO_SPILL)
RUN := +chained=$(CHAINED) +cycles=$(CYCLES) $(ARGS)

# The design of layer $(1).
design = $(if $(wildcard $(1)/gb_array.sv),$(if $(ARRAY),$(ARRAY),$(1)/gb_array.sv),$(if $(DUT),$(DUT),$(1)/gb_dut.sv))
sources = $(MODULES) $(call design,$(1)) $(1)/tb_layer_params.sv $(TB)

all: icarus

icarus:
	@mkdir -p $(BUILD) dut
	@set -e; $(foreach layer,$(LAYERS), \
	    iverilog -g2012 $(DEFINES) -s tb_layer -o $(BUILD)/$(layer).vvp $(call sources,$(layer)); \
	    vvp -n $(BUILD)/$(layer).vvp $(RUN) +dump=dut/$(layer).mem;)

# Optimizing the code of an array would take minutes.
verilator:
	@mkdir -p $(BUILD) dut
	@set -e; $(foreach layer,$(LAYERS), \
	    verilator --binary --timing -Wno-fatal -Wno-WIDTH -Wno-TIMESCALEMOD $(DEFINES) -MAKEFLAGS "OPT_FAST=-O0 OPT_SLOW=-O0" --top-module tb_layer \
	        --Mdir $(BUILD)/$(layer) -o tb $(call sources,$(layer)) >$(BUILD)/$(layer).log 2>&1 \
	        || { cat $(BUILD)/$(layer).log; exit 1; }; \
	    $(BUILD)/$(layer)/tb $(RUN) +dump=dut/$(layer).mem;)

clean:
	rm -rf $(BUILD) dut

.PHONY: all icarus verilator clean
