#!/bin/sh
# How the depthwise layer of the digits network lies on the array, and which activations stay on the chip: designs of the same values.
# `cli/tests/explore.rs` runs this line.
set -e
guardbit explore examples/digits/digits_int8.tflite --hw fpga-int14-os --axis array.depthwise=serial,block_diagonal,own_inputs --axis memory.residency=none,fit --objective cycles,energy --cost horowitz-45nm --random 8 -o out/mappings
