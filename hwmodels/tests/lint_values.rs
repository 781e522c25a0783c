//! Registers that do not hold the values of a network.

use std::sync::Arc;

use guardbit_graph::ops::Conv2d;
use guardbit_graph::{DType, GraphBuilder, OutputSpec, TensorType};
use guardbit_hwmodels::{check_program, check_with, check_yaml, from_yaml, lower};

/// Returns the warnings about registers for a dense layer of `terms` products with weights of 127, codes of `dtype` and one bias.
fn warnings(terms: usize, codes: DType, bias: i64, keys: &str) -> String {
    let mut builder = GraphBuilder::new("dense");
    let ty = |shape: &[usize], dtype| TensorType::quantized(shape, dtype, 1.0, 0).unwrap();
    let x = builder.input("x", ty(&[1, 1, 1, terms], codes)).unwrap();
    let w = builder.constant("w", ty(&[1, 1, 1, terms], DType::Int8), vec![127; terms]).unwrap();
    let b = match codes {
        DType::Int16 => builder.wide_constant("b", ty(&[1], DType::Int64), vec![bias]).unwrap(),
        _ => builder.constant("b", ty(&[1], DType::Int32), vec![bias as i32]).unwrap(),
    };
    let output = OutputSpec::quantized("y", codes, 1.0, 0).unwrap();
    let y = builder.node(Conv2d::default(), &[Some(x), Some(w), Some(b)], output).unwrap();
    let graph = Arc::new(builder.finish(vec![y]).unwrap());
    let accelerator = from_yaml(&format!("schema: 1\nextends: exact-int32-os\n{keys}"), "test", &[]).unwrap();
    let problems = check_program(&lower(graph, &accelerator).unwrap());
    let of_registers = problems.iter().filter(|problem| problem.code().contains("too_narrow"));
    of_registers.map(|problem| format!("{}: {problem}\n", problem.code())).collect()
}

#[test]
fn wide_codes_and_biases_may_need_more_than_32_bits() {
    // 1024 * 32768 * 127 needs 33 bits, and 256 times less with 8-bit codes; the adder receives what 32 bits
    // hold, and 2^40.
    insta::assert_snapshot!(warnings(1024, DType::Int16, 1 << 40, ""), @r"
    guardbit::hw::too_narrow_for_codes: sums may overflow because the codes have more than 8 bits; sums of 8-bit codes would fit: `y` needs 33 bits in `acc`, which has 32
    guardbit::hw::bias_adder_too_narrow: sums plus biases may overflow the bias adder: `y` needs 42 bits of 32
    ");
    // The adder of a bias that the model stores in 64 bits has 64 bits, unless the file states a number.
    insta::assert_snapshot!(warnings(1024, DType::Int16, 1 << 40, "bias: {at: post, bits: from_model}"), @"guardbit::hw::too_narrow_for_codes: sums may overflow because the codes have more than 8 bits; sums of 8-bit codes would fit: `y` needs 33 bits in `acc`, which has 32");
    // The real weights prove that 512 products fit.
    assert_eq!(warnings(512, DType::Int16, 0, ""), "");
    assert_eq!(warnings(1024, DType::Int8, 1 << 20, ""), "");
    // Levels that are too narrow even for 8-bit codes are narrow on purpose.
    let narrow = "accumulation: [{name: acc, terms: all, bits: 14}]";
    assert_eq!(warnings(1024, DType::Int8, 0, narrow), "");
    assert_eq!(warnings(1024, DType::Int16, 0, narrow), "");
    assert_eq!(
        warnings(
            1024,
            DType::Int16,
            1 << 40,
            "accumulation: [{name: acc, terms: all, bits: auto}]\nbias: {bits: auto}"
        ),
        ""
    );
    // A bias of 21 bits in an adder of 20.
    insta::assert_snapshot!(warnings(4, DType::Int8, 1 << 20, "bias: {at: post, bits: 20}"), @"guardbit::hw::bias_adder_too_narrow: sums plus biases may overflow the bias adder: `y` needs 22 bits of 20");
    assert_eq!(warnings(4, DType::Int8, 1 << 18, "bias: {at: post, bits: 20}"), "");
}

/// A warning about single products of any codes is refuted by the weights of a network, or stays.
#[test]
fn weights_refute_that_a_product_overflows() {
    let warns = |weight: i32, bits: u32| {
        let mut builder = GraphBuilder::new("dense");
        let ty = |shape: &[usize]| TensorType::quantized(shape, DType::Int8, 1.0, 0).unwrap();
        let x = builder.input("x", ty(&[1, 1, 1, 4])).unwrap();
        let w = builder.constant("w", ty(&[1, 1, 1, 4]), vec![weight, 0, 1, -1]).unwrap();
        let output = OutputSpec::quantized("y", DType::Int8, 1.0, 0).unwrap();
        let y = builder.node(Conv2d::default(), &[Some(x), Some(w), None], output).unwrap();
        let graph = Arc::new(builder.finish(vec![y]).unwrap());
        let yaml = format!(
            "{{schema: 1, extends: fpga-int14-os, accumulation: [{{name: acc, terms: all, bits: {bits}, overflow: wrap}}]}}"
        );
        let (accelerator, about) = check_yaml(&yaml, "test", &[]);
        let program = lower(graph, &accelerator.unwrap()).unwrap();
        let problems = check_with(about, &program);
        problems.iter().any(|problem| problem.code() == "guardbit::hw::product_wider_than_accumulator")
    };
    // -128 * 64 is the least number of 14 bits, and -128 * -64 is one more than the greatest.
    assert_eq!([warns(63, 14), warns(64, 14), warns(-64, 14), warns(64, 15)], [false, false, true, false]);
}
