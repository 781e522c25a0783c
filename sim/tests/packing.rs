//! Compares two output channels in one adder of a DSP48E2 with 48-bit arithmetic written out.

use crate::common::{
    accelerator, conv2d, datapath, one_layer, output, program, quantized, register, run, serial,
};
use guardbit_graph::{DType, Padding};
use guardbit_hwmodels::{Fixup, Packing, Program, Terms};
use guardbit_num::Overflow;
use guardbit_sim::{Engine, Options};
use proptest::prelude::*;

/// Returns the two lanes after each product: `(a * 2^18 + d) * b` in 48 bits.
fn dsp48(pairs: &[(i64, i64, i64)], fixup: Fixup) -> (i64, i64) {
    let mut p = 0i64;
    for &(a, d, b) in pairs {
        // A 48-bit register: the high 16 bits of 64 are copies of its sign.
        p = ((p + (a * (1 << 18) + d) * b) << 16) >> 16;
    }
    let low = (p << 46) >> 46;
    let sign = if fixup == Fixup::Lut { (p >> 17) & 1 } else { 0 };
    (low, (p >> 18) + sign)
}

/// Returns a layer with two channels `d` and `a` over activations `b`, in chains of `chain` products.
fn packed(a: &[i32], d: &[i32], chain: usize, fixup: Fixup) -> Program {
    let k = a.len();
    let weights = (quantized(&[2, 1, 1, k], DType::Int8, 1.0, 0), [d, a].concat());
    let x = quantized(&[1, 1, 1, k], DType::Int8, 1.0, 0);
    let out = output("y", DType::Int16, 1024.0, 0);
    let graph = one_layer(conv2d(1, Padding::Valid), x, Some(weights), None, out);
    let dsp = serial("dsp", Terms::Count(chain), register(18, Overflow::Wrap));
    let acc = serial("acc", Terms::All, register(40, Overflow::Wrap));
    let mut accelerator = accelerator(datapath(vec![dsp, acc]));
    accelerator.packing = Packing::Dsp48e2Int8x2(fixup).into();
    program(&graph, &accelerator)
}

/// Returns the errors of the low and the high channel.
fn errors(a: &[i32], d: &[i32], b: &[i32], chain: usize, fixup: Fixup, engine: Engine) -> (u128, u128) {
    let options = Options { engine, ..Options::default() };
    let ran = run(&packed(a, d, chain, fixup), &[b.to_vec()], options).unwrap();
    let error = |c: usize| ran.stats.channels[c].sum_abs_err;
    (error(0), error(1))
}

/// Returns the expected errors.
fn expected(a: &[i32], d: &[i32], b: &[i32], chain: usize, fixup: Fixup) -> (u128, u128) {
    let triples: Vec<(i64, i64, i64)> =
        a.iter().zip(d).zip(b).map(|((&a, &d), &b)| (a.into(), d.into(), b.into())).collect();
    let (mut low, mut high) = (0, 0);
    for run in triples.chunks(chain) {
        let (l, h) = dsp48(run, fixup);
        low += l - run.iter().map(|&(_, d, b)| d * b).sum::<i64>();
        high += h - run.iter().map(|&(a, _, b)| a * b).sum::<i64>();
    }
    (low.unsigned_abs().into(), high.unsigned_abs().into())
}

fn check(a: &[i32], d: &[i32], b: &[i32], chain: usize) {
    for fixup in [Fixup::None, Fixup::Lut] {
        for engine in [Engine::Reference, Engine::Fast] {
            let found = errors(a, d, b, chain, fixup, engine);
            assert_eq!(
                found,
                expected(a, d, b, chain, fixup),
                "{fixup} {engine:?} chain {chain} {a:?} {d:?} {b:?}"
            );
        }
    }
}

/// 7 products of -128 * -128 fit the low lane. The eighth gives 2^17, which wraps, and the fix-up mistakes it
/// for a borrow.
#[test]
fn seven_worst_products_are_the_limit() {
    let exact = |n: usize| {
        let worst = vec![-128; n];
        check(&worst, &worst, &worst, n);
        errors(&worst, &worst, &worst, n, Fixup::Lut, Engine::Reference) == (0, 0)
    };
    let limit = (1..20).take_while(|&n| exact(n)).last();
    assert_eq!(limit, Some(7));
    let worst = [-128; 8];
    assert_eq!(errors(&worst, &worst, &worst, 8, Fixup::Lut, Engine::Fast), (1 << 18, 1));
    // Without a fix-up the high lane still holds its own sum: nothing was borrowed yet.
    assert_eq!(errors(&worst, &worst, &worst, 8, Fixup::None, Engine::Fast), (1 << 18, 0));
}

/// A negative low lane takes 1 from the high lane; the fix-up restores it.
#[test]
fn a_negative_low_lane_borrows() {
    assert_eq!(errors(&[5], &[-1], &[1], 7, Fixup::None, Engine::Reference), (0, 1));
    assert_eq!(errors(&[5], &[-1], &[1], 7, Fixup::Lut, Engine::Reference), (0, 0));
}

/// A channel without a neighbour has an adder of its own.
#[test]
fn lanes_are_neighbours_of_a_group() {
    let program = packed(&[1], &[2], 7, Fixup::Lut);
    let layer = program.mac_layers().next().unwrap();
    assert_eq!([0, 1].map(|channel| layer.low_lane(channel)), [None, Some(0)]);
}

proptest! {
    #[test]
    fn lanes_are_those_of_48_bits(
        products in prop::collection::vec((-128i32..128, -128i32..128, prop_oneof![Just(-128), -128i32..128]), 1..40),
        chain in 1usize..40,
    ) {
        let pick = |of: fn(&(i32, i32, i32)) -> i32| products.iter().map(of).collect::<Vec<_>>();
        check(&pick(|p| p.0), &pick(|p| p.1), &pick(|p| p.2), chain);
    }
}
