#!/bin/sh
# Explores mappings of the depthwise layer of the digits network, and which activations stay on the chip: designs with equal values.
# `cli/tests/explore.rs` runs this line.
set -e
guardbit explore examples/digits/digits_int8.tflite --hw fpga-int14-os --axis array.depthwise=serial,block_diagonal,own_inputs --axis memory.residency=none,fit --objective cycles,energy --cost horowitz-45nm --random 8 -o out/mappings
