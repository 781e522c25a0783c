//! Tests of counter-based random numbers and of stochastic rounding.

use guardbit_num::{Rounding, philox4x32, stochastic_shift_right};

/// Known answers of Random123, the authors' own library (`kat_vectors`, `philox4x32 10`).
#[test]
fn blocks_are_those_of_its_authors() {
    let cases = [
        ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
        ([u32::MAX; 4], [u32::MAX; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
        (
            [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
            [0xa409_3822, 0x299f_31d0],
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
        ),
    ];
    for (counter, key, block) in cases {
        assert_eq!(philox4x32(counter, key), block, "{counter:?} {key:?}");
    }
}

/// For each dropped quarter, one word in four rounds up. Whole numbers stay.
#[test]
fn quarters_go_up_as_often_as_they_say() {
    for value in -9i128..10 {
        let ups = |word: u64| stochastic_shift_right(value, 2, word) - (value >> 2);
        let all: i128 = (0..4).map(ups).sum();
        assert_eq!(all, value & 3, "{value}");
        assert!((0..4).all(|word| (0..=1).contains(&ups(word))), "{value}");
        assert_eq!(stochastic_shift_right(value, 2, 0), Rounding::Floor.shift_right(value, 2));
        assert_eq!(stochastic_shift_right(value, 0, u64::MAX), value);
    }
}
