//! Laws of observed values and of parameters.

use guardbit_graph::CodeRange;
use guardbit_quantize::method::METHODS;
use guardbit_quantize::{Observed, ObservedChannels, Range, Scales, Symmetry, Target};
use guardbit_testing::cases;
use proptest::prelude::*;

/// Generates any float, mostly of similar magnitudes.
fn value() -> impl Strategy<Value = f32> {
    prop_oneof![
        8 => -4.0f32..4.0,
        2 => Just(0.0),
        1 => -1e-3f32..1e-3,
        1 => any::<f32>(),
        1 => prop::num::f32::ANY,
    ]
}

fn samples() -> impl Strategy<Value = Vec<Vec<f32>>> {
    prop::collection::vec(prop::collection::vec(value(), 0..40), 0..6)
}

fn target() -> impl Strategy<Value = Target> {
    let codes = prop_oneof![
        (2u32..=16).prop_map(|bits| (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
        (2u32..=16).prop_map(|bits| (1 - (1 << (bits - 1)), (1 << (bits - 1)) - 1)),
        (1u32..=16).prop_map(|bits| (0, (1 << bits) - 1)),
        (-5i32..5, 0i32..9).prop_map(|(min, more)| (min, min + more)),
    ];
    (codes, any::<bool>(), any::<bool>()).prop_map(|((min, max), symmetric, any)| Target {
        codes: CodeRange::new(min, max).unwrap(),
        symmetry: if symmetric { Symmetry::Symmetric } else { Symmetry::Asymmetric },
        scales: if any { Scales::Any } else { Scales::PowersOfTwo },
    })
}

fn seen(samples: &[Vec<f32>]) -> Observed {
    let mut observed = Observed::default();
    samples.iter().for_each(|sample| observed.add(sample));
    observed
}

/// Returns the bins of the values of `samples`, counted in a simple way.
fn counted(samples: &[Vec<f32>], width: f64) -> Vec<(f64, u64)> {
    let mut bins = std::collections::BTreeMap::<i64, u64>::new();
    for value in samples.iter().flatten().filter(|value| value.is_finite() && **value != 0.0) {
        let bin = (f64::from(value.abs()) / width).ceil() as i64;
        *bins.entry(if *value < 0.0 { -bin } else { bin }).or_default() += 1;
    }
    let middle = |bin: i64| (bin as f64 - 0.5 * bin.signum() as f64) * width;
    bins.into_iter().map(|(bin, count)| (middle(bin), count)).collect()
}

proptest! {
    /// The histogram does not depend on how values arrive, and no value is missing.
    #[test]
    fn histograms_grow_without_losing_counts(samples in samples(), split in 0usize..6) {
        let all = seen(&samples);
        let finite = samples.iter().flatten().filter(|value| value.is_finite()).count() as u64;
        prop_assert_eq!(all.histogram().total(), finite);
        let given = samples.iter().map(Vec::len).sum::<usize>() as u64;
        prop_assert_eq!(all.left_out() + finite, given);
        if let Some(width) = all.histogram().width() {
            prop_assert!(all.magnitude() <= width * 8192.0 && all.magnitude() > width * 4096.0);
            prop_assert_eq!(all.histogram().middles().collect::<Vec<_>>(), counted(&samples, width));
        }
        let (first, second) = samples.split_at(split.min(samples.len()));
        let mut merged = seen(first);
        merged.merge(&seen(second));
        prop_assert_eq!(&merged, &all);
        let reversed: Vec<Vec<f32>> =
            samples.iter().rev().map(|sample| sample.iter().rev().copied().collect()).collect();
        let backwards = seen(&reversed);
        prop_assert_eq!(backwards.histogram(), all.histogram());
        for most in [1, 2, 128, 2048, 8192] {
            for coarse in [all.histogram().magnitudes(most), all.histogram().two_sided(most), all.histogram().centred(most)] {
                prop_assert_eq!(coarse.counts.iter().sum::<u64>(), finite);
                prop_assert!(coarse.counts.len() <= 2 * most + 1);
                prop_assert!(coarse.edge(coarse.counts.len()) >= all.extremes().1);
            }
        }
    }

    /// Each channel observes what a tensor of its own would.
    #[test]
    fn channels_are_tensors_of_their_own(samples in samples(), channels in 1usize..4) {
        let whole: Vec<Vec<f32>> =
            samples.iter().map(|sample| sample[..sample.len() / channels * channels].to_vec()).collect();
        let mut all = ObservedChannels::new(channels);
        whole.iter().for_each(|sample| all.add(sample));
        for (channel, observed) in all.channels().iter().enumerate() {
            let own: Vec<Vec<f32>> =
                whole.iter().map(|sample| sample.iter().skip(channel).step_by(channels).copied().collect()).collect();
            prop_assert_eq!(observed, &seen(&own));
        }
    }

    /// Real 0 is a code, every value of the range is within a step of one, and scales are normal.
    #[test]
    fn parameters_cover_their_range(ends in (value(), value()), target in target(), part in 0.0f64..=1.0) {
        let (a, b) = (f64::from(ends.0), f64::from(ends.1));
        prop_assume!(a.is_finite() && b.is_finite());
        let range = Range { low: a.min(b), high: a.max(b) };
        let parameters = target.parameters(range);
        prop_assert!(parameters.scale.is_normal() && parameters.scale > 0.0);
        prop_assert!(target.codes.contains(parameters.zero_point));
        prop_assert_eq!(parameters.real(parameters.zero_point), 0.0);
        prop_assert_eq!(parameters.code(0.0, target.codes), parameters.zero_point);
        if target.scales == Scales::PowersOfTwo {
            prop_assert_eq!(parameters.scale.to_bits() & 0x7f_ffff, 0);
        }
        let signed_pair = -target.codes.min() == target.codes.max() || -target.codes.min() == target.codes.max() + 1;
        let (low, high) = (range.low.min(0.0), range.high.max(0.0));
        let steps = f64::from(target.codes.max()) - f64::from(target.codes.min());
        let covers = target.symmetry == Symmetry::Asymmetric || signed_pair;
        if covers && steps >= 2.0 && high - low >= f64::from(f32::MIN_POSITIVE) * steps * 1.01 {
            let value = low + part * (high - low);
            let code = parameters.code(value as f32, target.codes);
            let apart = (parameters.real(code) - value).abs();
            prop_assert!(apart <= f64::from(parameters.scale) * 1.01, "{value}: {apart} {parameters:?}");
        }
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(48)))]

    /// No method's range exceeds the observed values, and none panics.
    #[test]
    fn ranges_lie_within_what_was_seen(samples in samples(), target in target()) {
        let observed = seen(&samples);
        let (low, high) = observed.extremes();
        for method in METHODS {
            let range = method.range(&observed, &target);
            prop_assert!(range.low.is_finite() && range.high.is_finite(), "{}", method.name());
            prop_assert!(range.low >= low && range.high <= high, "{}: {range:?}", method.name());
            prop_assert!(range.low <= range.high, "{}: {range:?}", method.name());
        }
    }
}
