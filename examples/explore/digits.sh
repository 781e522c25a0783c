#!/bin/sh
# Explores designs for the digits network: rows, columns, and widths of the column chain and of the accumulator below it, within one
# point of accuracy. Then runs two of the designs and compares them. `cli/tests/explore.rs` runs these lines.
set -e
guardbit explore examples/digits/digits_int8.tflite --hw fpga-int14-ws --axis array.rows=8,16 --axis array.cols=8,16 --axis accumulation.chain.bits=14..=18 --axis accumulation.acc.bits=14,16,18,20 --budget accuracy=1% --objective energy,cycles,area --cost examples/explore/mine.yaml --input examples/digits/test_images.npy --labels examples/digits/test_labels.npy -o out/explore
guardbit run examples/digits/digits_int8.tflite --hw out/explore/recommended.yaml --cost aladdin-40nm --cost horowitz-45nm --cost yosys-xc7 --input examples/digits/test_images.npy --labels examples/digits/test_labels.npy -o out/explored
guardbit run examples/digits/digits_int8.tflite --hw fpga-int14-ws --cost aladdin-40nm --cost horowitz-45nm --cost yosys-xc7 --input examples/digits/test_images.npy --labels examples/digits/test_labels.npy -o out/plain
guardbit compare out/explored out/plain
