//! Projections, correction and equalization, compared with their definitions and with exhaustive search on
//! small problems.

use guardbit_hwmodels::bounds::closed_form::{OperandBits, a2q_bits, a2q_plus_bits};
use guardbit_quantize::weights::cap::{a2q, a2q_plus, project_l1};
use guardbit_quantize::weights::equalize::{Layer, equalize};
use guardbit_quantize::weights::matrix::Matrix;
use proptest::prelude::*;

/// Generates `A = B B^T + 0.1`, row by row, from arbitrary numbers.
fn positive_definite() -> impl Strategy<Value = Matrix> {
    (1usize..7).prop_flat_map(|size| prop::collection::vec(-2.0f64..2.0, size * size)).prop_map(|values| {
        let size = values.len().isqrt();
        let entry = |i: usize, j: usize| -> f64 {
            (0..size).map(|k| values[i * size + k] * values[j * size + k]).sum::<f64>()
        };
        Matrix::new(size, (0..size * size).map(|at| entry(at / size, at % size)).collect()).damped(0.1)
    })
}

fn l1(codes: &[i32]) -> i64 {
    codes.iter().map(|&code| i64::from(code.abs())).sum()
}

/// Returns A2Q's cap of the l1 norm of a channel's codes with which no sum overflows `bits` bits:
/// `(2^(P-1) - 1) / 2^(N-s)`.
fn a2q_cap(bits: u32, operand: OperandBits) -> i64 {
    ((1 << (bits - 1)) - 1) >> (operand.bits - u32::from(operand.signed))
}

/// Returns A2Q+'s cap, for codes that add up to at most half of it on either side of 0:
/// `(2^P - 2) / (2^N - 1)`.
fn a2q_plus_cap(bits: u32, operand: OperandBits) -> i64 {
    ((1 << bits) - 2) / ((1 << operand.bits) - 1)
}

/// `accumulators.md` 2.3 (A2Q, A2Q+): l1 norms that int14 and int16 allow.
#[test]
fn caps_of_the_papers() {
    let operand = |bits, signed| OperandBits { bits, signed };
    for (bits, caps) in [(14, [511, 1023, 31, 63, 1092, 64]), (16, [2047, 4095, 127, 255, 4368, 256])] {
        let plain = [(4, false), (4, true), (8, false), (8, true)].map(|(n, s)| a2q_cap(bits, operand(n, s)));
        let plus = [(4, false), (8, true)].map(|(n, s)| a2q_plus_cap(bits, operand(n, s)));
        assert_eq!([&plain[..], &plus[..]].concat(), caps, "int{bits}");
    }
}

/// Returns the chain's outputs, with ReLU between the layers. Each layer is 1x1: dense, depthwise or grouped.
fn outputs(chain: &[Layer], input: &[f64]) -> Vec<f64> {
    chain.iter().fold(input.to_vec(), |values, layer| {
        let terms = layer.weights.len() / layer.channels;
        let channel = |c: usize| {
            let first = c / (layer.channels / layer.groups) * layer.depth;
            let products = (0..terms).map(|k| f64::from(layer.weights[c * terms + k]) * values[first + k]);
            let sum: f64 = products.sum::<f64>() + layer.bias.as_ref().map_or(0.0, |bias| bias[c].into());
            sum.max(0.0)
        };
        (0..layer.channels).map(channel).collect()
    })
}

/// Generates layers of 4 channels, dense or depthwise.
fn chain() -> impl Strategy<Value = Vec<Layer>> {
    let weight = prop_oneof![1 => Just(0.0f32), 6 => -1.0f32..1.0, 2 => -30.0f32..30.0];
    let layer = (
        any::<bool>(),
        prop::collection::vec(weight, 16),
        prop::option::of(prop::collection::vec(-1.0f32..1.0, 4)),
    );
    prop::collection::vec(layer, 1..5).prop_map(|layers| {
        let one = |(dense, mut weights, bias): (bool, Vec<f32>, Option<Vec<f32>>)| {
            weights.truncate(if dense { 16 } else { 4 });
            let (depth, groups) = if dense { (4, 1) } else { (1, 4) };
            Layer { weights, bias, channels: 4, depth, groups }
        };
        layers.into_iter().map(one).collect()
    })
}

proptest! {
    #[test]
    fn cholesky_solves(matrix in positive_definite(), right in prop::collection::vec(-3.0f64..3.0, 6)) {
        let factor = matrix.cholesky().unwrap();
        let right = &right[..matrix.size()];
        let again = matrix.times(&factor.solve(right));
        prop_assert!(again.iter().zip(right).all(|(a, b)| (a - b).abs() < 1e-6), "{again:?} {right:?}");
        for i in 0..matrix.size() {
            for j in 0..=i {
                let entry: f64 = factor.row(i).iter().zip(factor.row(j)).map(|(a, b)| a * b).sum();
                prop_assert!((entry - matrix.row(i)[j]).abs() < 1e-9);
            }
        }
    }

    /// The result is the nearest point of the ball: no nearer one lies on the way to any other point of it
    /// (variational inequality).
    #[test]
    fn projections_are_nearest(
        values in prop::collection::vec(-5.0f64..5.0, 1..12),
        other in prop::collection::vec(-1.0f64..1.0, 12),
        radius in 0.1f64..20.0,
    ) {
        let mut nearest = values.clone();
        project_l1(&mut nearest, radius);
        let norm: f64 = nearest.iter().map(|value| value.abs()).sum();
        prop_assert!(norm <= radius * (1.0 + 1e-9));
        let other = &other[..values.len()];
        let size: f64 = other.iter().map(|value| value.abs()).sum::<f64>().max(1e-9);
        let inside = other.iter().map(|value| value / size * radius);
        let along: f64 =
            inside.zip(&values).zip(&nearest).map(|((inside, value), near)| (inside - near) * (value - near)).sum();
        prop_assert!(along <= 1e-9 * (1.0 + radius), "{along}");
    }

    /// The closed forms of `guardbit size` agree with the caps, on the codes that the projections give.
    #[test]
    fn capped_codes_keep_their_width(
        weights in prop::collection::vec(-1.0f64..1.0, 1..60),
        bits in 8u32..24,
        operand in (2u32..9, any::<bool>()).prop_map(|(bits, signed)| OperandBits { bits, signed }),
        scale in 0.001f64..0.1,
    ) {
        let cap = a2q_cap(bits, operand);
        let codes = a2q(&weights, scale, cap);
        prop_assert!(l1(&codes) <= cap && a2q_bits(l1(&codes).into(), operand) <= bits);
        let cap = a2q_plus_cap(bits, operand);
        let centred = a2q_plus(&weights, scale, cap).codes;
        let sides = [1, -1].map(|sign| centred.iter().map(|&code| i64::from((code * sign).max(0))).sum::<i64>());
        prop_assert!(sides.iter().all(|&side| 2 * side <= cap), "{sides:?} {cap}");
        prop_assert!(a2q_plus_bits((2 * sides[0].max(sides[1])).into(), operand) <= bits);
        // If nothing must be removed, only rounding toward zero changes the weights.
        let roomy = a2q(&weights, scale, 1 << 40);
        let steps = weights.iter().map(|weight| (weight / scale).trunc() as i32);
        prop_assert_eq!(roomy, steps.collect::<Vec<_>>());
    }

    /// The network stays equal, and adjacent ranges become equal.
    #[test]
    fn equalized_chains_are_the_same(mut layers in chain(), input in prop::collection::vec(-2.0f64..2.0, 4)) {
        let before = outputs(&layers, &input);
        let factors = equalize(&mut layers);
        let after = outputs(&layers, &input);
        let size = before.iter().fold(1.0f64, |most, value| most.max(value.abs()));
        prop_assert!(before.iter().zip(&after).all(|(a, b)| (a - b).abs() < 1e-3 * size), "{before:?} {after:?}");
        prop_assert_eq!(factors.len(), layers.len() - 1);
        if let [first, second] = &layers[..] {
            let terms = [first, second].map(|layer| layer.weights.len() / 4);
            for channel in 0..4 {
                let made = first.weights[channel * terms[0]..][..terms[0]].iter().fold(0.0f32, |m, w| m.max(w.abs()));
                let reads = (0..second.weights.len()).filter(|&at| match terms[1] {
                    1 => at == channel,
                    _ => at % 4 == channel,
                });
                let read = reads.fold(0.0f32, |m, at| m.max(second.weights[at].abs()));
                prop_assert!(made == 0.0 || read == 0.0 || (made / read - 1.0).abs() < 1e-3, "{made} {read}");
            }
        }
    }
}
