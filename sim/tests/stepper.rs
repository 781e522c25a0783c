//! The stepping kernel that benchmarks time behaves as the register is defined.

use guardbit_num::{Direction, Format, Overflow};
use guardbit_sim::{Isa, Stepper};
use proptest::collection::vec;
use proptest::prelude::*;

/// Returns sums and overflows of every dot product, addition by addition.
fn stepped(activations: &[Vec<i16>], weights: &[Vec<i16>], bits: u32) -> (Vec<Vec<i32>>, [u64; 2]) {
    let format = Format::signed(bits).unwrap();
    let mut events = [0; 2];
    let mut dot = |x: &[i16], channel: usize| {
        let products = x.iter().zip(weights).map(|(&x, row)| i128::from(x) * i128::from(row[channel]));
        let sum = products.fold(0, |held, product| {
            let fit = Overflow::Saturate.fit(held + product, format);
            events[0] += u64::from(fit.overflow == Some(Direction::High));
            events[1] += u64::from(fit.overflow == Some(Direction::Low));
            fit.value
        });
        sum as i32
    };
    let sums = activations.iter().map(|x| (0..weights[0].len()).map(|channel| dot(x, channel)).collect());
    (sums.collect(), events)
}

fn operands(rows: usize, cols: usize) -> impl Strategy<Value = Vec<Vec<i16>>> {
    let any = -128i16..128;
    // Long runs of one sign stay at a rail.
    let extreme = prop_oneof![4 => any, 1 => Just(-128i16), 1 => Just(127i16)];
    vec(vec(extreme, cols), rows)
}

fn cases() -> impl Strategy<Value = (Vec<Vec<i16>>, Vec<Vec<i16>>, u32)> {
    (1usize..19, prop_oneof![1usize..40, 250usize..260, 500usize..510], 1usize..40, 2u32..16).prop_flat_map(
        |(pixels, terms, channels, bits)| (operands(pixels, terms), operands(terms, channels), Just(bits)),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(guardbit_testing::cases(100)))]

    #[test]
    fn every_body_steps_as_defined((activations, weights, bits) in cases()) {
        let (expected, events) = stepped(&activations, &weights, bits);
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            let stepper = Stepper::new(&weights, bits, Some(isa)).unwrap();
            let mut sums = Vec::new();
            prop_assert_eq!(stepper.run(&activations, &mut sums), events, "{:?}", isa);
            let filled = weights[0].len().next_multiple_of(16);
            for (sums, expected) in sums.chunks(filled).zip(&expected) {
                prop_assert_eq!(&sums[..expected.len()], &expected[..], "{:?}", isa);
            }
        }
    }
}
