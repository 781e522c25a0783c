//! Static widths: the tables of accumulator literature, reproduced exactly.

use std::sync::Arc;

use guardbit_graph::ops::Conv2d;
use guardbit_graph::{
    Activation, CodeRange, DType, Graph, GraphBuilder, MultiplierRule, Operand, OutputSpec, Quantization,
    Requantize, TensorType,
};
use guardbit_hwmodels::bounds::closed_form::{
    OperandBits, a2q_bits, a2q_plus_bits, a2q_type_bits, outer_bits,
};
use guardbit_hwmodels::bounds::{LayerBounds, Range, network_sums};
use guardbit_hwmodels::{from_yaml, lower};
use guardbit_num::Scheme;
use proptest::prelude::*;

/// `accumulators.md` 3.5: activations, weights, K, exact width, closed form, exact width with narrow weights.
#[test]
fn static_widths_by_type() {
    let (u8s, s8s) = (Range::of_codes(DType::UInt8), Range::of_codes(DType::Int8));
    let (u4s, s4s) = (Range::of_codes(DType::UInt4), Range::of_codes(DType::Int4));
    let cases = [
        (u8s, s8s, 8, 9, 20, 20, 20),
        (u8s, s8s, 8, 64, 22, 23, 22),
        (u8s, s8s, 8, 256, 24, 25, 24),
        (u8s, s8s, 8, 576, 26, 26, 26),
        (u8s, s8s, 8, 4608, 29, 29, 29),
        (s8s, s8s, 8, 576, 25, 25, 25),
        (u4s, s4s, 4, 64, 14, 15, 14),
        (u4s, s4s, 4, 128, 15, 16, 15),
        (u4s, s4s, 4, 576, 18, 18, 17),
        (u4s, s4s, 4, 4608, 21, 21, 20),
        (s8s, s4s, 4, 4096, 24, 24, 23),
    ];
    for (x, w, weight_bits, terms, exact, closed, narrow) in cases {
        let bits = |w: Range| x.times(w).hull(Range::ZERO).repeated(terms).bits(true);
        let name = format!("{x:?} {w:?} K={terms}");
        assert_eq!(bits(w), exact, "{name}");
        assert_eq!(bits(Range { min: -w.max, max: w.max }), narrow, "{name}, narrow weights");
        assert_eq!(a2q_type_bits(terms, OperandBits::of(x), weight_bits), closed, "{name}, closed form");
    }
}

/// `accumulators.md` 3.5: int14 holds W4A4u up to 68 products, 78 with narrow weights, and W8A8u not at all.
#[test]
fn int14_by_type() {
    let check = |x: DType, w: Range, greatest: usize| {
        let bits = |terms| Range::of_codes(x).times(w).hull(Range::ZERO).repeated(terms).bits(true);
        assert!(bits(greatest) <= 14 && bits(greatest + 1) > 14, "{x} {w:?}: {greatest}");
    };
    check(DType::UInt4, Range::of_codes(DType::Int4), 68);
    check(DType::UInt4, Range::new(-7, 7), 78);
    check(DType::UInt8, Range::of_codes(DType::Int8), 0);
}

/// Returns the bits of one layer of 8-bit dtypes with narrower codes: by type, A2Q's, by the weights, and
/// stored.
fn of_ranges(x: CodeRange, w: CodeRange, terms: usize) -> [u32; 3] {
    let ty = |shape: &[usize], dtype, range| {
        let quantization = Some(Quantization::per_tensor(1.0, 0).unwrap().with_range(range));
        TensorType { shape: shape.to_vec(), dtype, quantization }
    };
    let operands = [
        Operand::input("x", ty(&[1, 1, 1, terms], DType::UInt8, x)),
        Operand::constant("w", ty(&[1, 1, 1, terms], DType::Int8, w), vec![w.max(); terms]),
    ];
    let output = OutputSpec::quantized("y", DType::Int8, 1.0, 0).unwrap();
    let graph = Arc::new(Graph::of_op("ranges", Conv2d::default(), operands, output).unwrap());
    let accelerator = from_yaml("schema: 1\nname: test\nextends: fpga-int14-os\n", "test", &[]).unwrap();
    let program = lower(Arc::clone(&graph), &accelerator).unwrap();
    let layer = program.mac_layers().next().unwrap();
    let bounds = LayerBounds::new(&graph, layer);
    assert_eq!(
        bounds.channels[0].proved(),
        [Range::new(0, x.max()).times(Range::point(w.max())).repeated(terms)]
    );
    let sums = network_sums(&program).swap_remove(0).unwrap();
    assert_eq!(sums, [bounds.channels[0].proved()]);
    [bounds.type_bits(0), bounds.channels[0].a2q_type.unwrap(), bounds.weight_bits(0).unwrap()]
}

/// `accumulators.md` 3.5 with codes of 4 bits, full and narrow, held in 8-bit dtypes.
#[test]
fn ranges_give_the_widths_of_narrow_types() {
    let range = |min, max| CodeRange::new(min, max).unwrap();
    let (u4, s4, narrow) = (range(0, 15), range(-8, 7), range(-7, 7));
    for (terms, exact, closed, with_narrow) in
        [(64, 14, 15, 14), (128, 15, 16, 15), (576, 18, 18, 17), (4608, 21, 21, 20)]
    {
        let [by_type, a2q, _] = of_ranges(u4, s4, terms);
        assert_eq!((by_type, a2q), (exact, closed), "K={terms}");
        assert_eq!(of_ranges(u4, narrow, terms)[0], with_narrow, "K={terms}");
    }
    assert!(of_ranges(u4, s4, 68)[0] <= 14 && of_ranges(u4, s4, 69)[0] > 14);
    assert!(of_ranges(u4, narrow, 78)[0] <= 14 && of_ranges(u4, narrow, 79)[0] > 14);
}

/// `accumulators.md` 2.5: inner width, K, tile, outer width.
#[test]
fn outer_accumulators() {
    for (inner, terms, tile, outer) in
        [(16, 4096, 64, 22), (16, 4096, 128, 21), (16, 11008, 64, 24), (16, 576, 64, 20)]
    {
        assert_eq!(outer_bits(inner, terms, tile), outer, "K={terms} T={tile}");
    }
}

/// `accumulators.md` 2.3: the greatest l1 norms that a target width allows, rounded down.
#[test]
fn caps_of_the_l1_norm() {
    let (u4, s4) = (OperandBits { bits: 4, signed: false }, OperandBits { bits: 4, signed: true });
    let (u8, s8) = (OperandBits { bits: 8, signed: false }, OperandBits { bits: 8, signed: true });
    for (target, caps) in [(14, [511, 1023, 31, 63, 1092, 64]), (16, [2047, 4095, 127, 255, 4368, 256])] {
        let check = |cap: i128, bits: &dyn Fn(i128) -> u32| {
            assert!(bits(cap) <= target && bits(cap + 1) > target, "int{target}: {cap}");
        };
        for (cap, operand) in caps.into_iter().zip([u4, s4, u8, s8]) {
            check(cap, &|l1| a2q_bits(l1, operand));
        }
        check(caps[4], &|l1| a2q_plus_bits(l1, u4));
        check(caps[5], &|l1| a2q_plus_bits(l1, u8));
    }
}

proptest! {
    /// The integer forms equal the papers' formulas: `2^P` is compared with the arguments of the logarithms.
    #[test]
    fn closed_forms_are_exact(l1 in 0i128..1 << 40, bits in 1u32..17, signed: bool) {
        let operand = OperandBits { bits: bits + u32::from(signed), signed };
        // P - 1 >= log2(A + 1), least such P.
        let a = l1 << bits;
        let p = a2q_bits(l1, operand);
        prop_assert!(1i128 << (p - 1) > a && (p == 1 || 1i128 << (p - 2) < a + 1));
        // P >= log2(l1 * (2^N - 1) + 2), least such P.
        let argument = l1 * ((1i128 << operand.bits) - 1) + 2;
        let p = a2q_plus_bits(l1, operand);
        prop_assert!(1i128 << p >= argument && 1i128 << (p - 1) < argument);
    }

    /// Closed forms are never below the exact bound.
    #[test]
    fn closed_forms_are_sound(weights in prop::collection::vec(-128i32..128, 1..40), signed: bool) {
        let x = if signed { Range::new(-128, 127) } else { Range::new(0, 255) };
        let sum = |weights: &[i32]| {
            weights.iter().map(|&w| x.times(Range::point(w))).fold(Range::ZERO, Range::plus)
        };
        let l1 = |weights: &[i32]| weights.iter().map(|w| i128::from(w.abs())).sum();
        let operand = OperandBits::of(x);
        prop_assert!(sum(&weights).bits(true) <= a2q_bits(l1(&weights), operand));
        prop_assert!(sum(&weights).bits(true) <= a2q_type_bits(weights.len(), operand, 8));
        let centred: Vec<i32> = weights.iter().flat_map(|&w| [w, -w]).collect();
        prop_assert!(sum(&centred).bits(true) <= a2q_plus_bits(l1(&centred), operand));
        prop_assert!(a2q_plus_bits(l1(&centred), operand) <= a2q_bits(l1(&centred), operand));
    }
}

/// Returns two 1x1 convolutions; the first one's output is a single code for any input.
fn constant_then_any() -> Graph {
    let mut builder = GraphBuilder::new("test");
    let ty =
        |shape: &[usize], zero_point| TensorType::quantized(shape, DType::Int8, 1.0, zero_point).unwrap();
    let conv = || Conv2d {
        requantize: Requantize { scheme: Scheme::Single, rule: MultiplierRule::Float64 },
        ..Conv2d::default()
    };
    let output = |name: &str, scale| OutputSpec::quantized(name, DType::Int8, scale, 0).unwrap();
    let x = builder.input("x", ty(&[1, 2, 2, 3], -128)).unwrap();
    let w = builder.constant("w1", ty(&[2, 1, 1, 3], 0), vec![1, 2, -3, 4, -5, 2]).unwrap();
    let y = builder.node(conv(), &[Some(x), Some(w)], output("y", 1e6)).unwrap();
    let w = builder.constant("w2", ty(&[1, 1, 1, 2], 0), vec![127, -127]).unwrap();
    let z = builder.node(conv(), &[Some(y), Some(w)], output("z", 1.0)).unwrap();
    builder.finish(vec![z]).unwrap()
}

#[test]
fn bounds_of_a_small_network() {
    let graph = Arc::new(constant_then_any());
    let accelerator = from_yaml("schema: 1\nname: test\nextends: fpga-int14-os\n", "test", &[]).unwrap();
    let program = lower(Arc::clone(&graph), &accelerator).unwrap();
    let layers: Vec<_> = program.mac_layers().map(|layer| LayerBounds::new(&graph, layer)).collect();
    // x - zx lies in 0..=255: sums of weights by sign, times 255.
    let channels = &layers[0].channels;
    assert_eq!(channels[0].proved(), [Range::new(-3 * 255, 3 * 255)]);
    assert_eq!(channels[1].proved(), [Range::new(-5 * 255, 6 * 255)]);
    assert_eq!(channels[0].by_type, [Range::new(-3 * 255 * 128, 3 * 255 * 127)]);
    // l1 = 6 and 11, N = 8, s = 0; the first channel sums to 0.
    assert_eq!([channels[0].a2q, channels[1].a2q], [Some(12), Some(13)]);
    assert_eq!([channels[0].a2q_plus, channels[1].a2q_plus], [Some(11), None]);
    assert_eq!(layers[0].weight_bits(0), Some(12));
    // Any input of the second layer is possible, but its actual input is always 0.
    assert_eq!(layers[1].weight_bits(0), Some(16));
    assert_eq!(network_sums(&program)[1], Some(vec![vec![Range::ZERO]]));
}

/// A fused activation with two limits narrows the codes of the next layer exactly as a range of the tensor
/// does, and one with one limit does not: an accelerator may wrap codes beyond the other end.
#[test]
fn an_activation_limits_the_codes_of_the_next_layer() {
    let bounds = |activation, range: Option<[i32; 2]>| {
        let mut builder = GraphBuilder::new("test");
        let ty = |shape: &[usize]| TensorType::quantized(shape, DType::Int8, 1.0, 0).unwrap();
        let conv = |activation| Conv2d {
            activation,
            requantize: Requantize { scheme: Scheme::Single, rule: MultiplierRule::Float64 },
            ..Conv2d::default()
        };
        let mut middle = Quantization::per_tensor(0.125, 0).unwrap();
        if let Some([min, max]) = range {
            middle = middle.with_range(CodeRange::new(min, max).unwrap());
        }
        let middle = OutputSpec { name: "y".into(), dtype: DType::Int8, quantization: Some(middle) };
        let x = builder.input("x", ty(&[1, 1, 1, 2])).unwrap();
        let w = builder.constant("w1", ty(&[2, 1, 1, 2]), vec![1, 2, 3, 4]).unwrap();
        let y = builder.node(conv(activation), &[Some(x), Some(w)], middle).unwrap();
        let w = builder.constant("w2", ty(&[1, 1, 1, 2]), vec![100, -50]).unwrap();
        let output = OutputSpec::quantized("z", DType::Int8, 1.0, 0).unwrap();
        let z = builder.node(conv(Activation::None), &[Some(y), Some(w)], output).unwrap();
        let graph = Arc::new(builder.finish(vec![z]).unwrap());
        let accelerator = from_yaml("schema: 1\nname: test\nextends: fpga-int14-os\n", "test", &[]).unwrap();
        let program = lower(Arc::clone(&graph), &accelerator).unwrap();
        LayerBounds::new(&graph, program.mac_layers().last().unwrap()).channels.remove(0)
    };
    // 6 / 0.125 = 48.
    let clipped = bounds(Activation::Relu6, None);
    assert_eq!(clipped.proved(), [Range::new(-50 * 48, 100 * 48)]);
    assert_eq!(clipped, bounds(Activation::None, Some([0, 48])));
    let any = bounds(Activation::None, None);
    assert_eq!(any.proved(), [Range::new(-128 * 100 - 127 * 50, 127 * 100 + 128 * 50)]);
    assert_eq!(bounds(Activation::Relu, None), any);
}
