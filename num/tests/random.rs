//! Tests of counter-based random numbers and of stochastic rounding.

use guardbit_num::{Rounding, philox4x64, stochastic_shift_right};

/// NumPy 2.4: `np.random.Philox(counter=C - 1, key=K).random_raw(4)`, with 256-bit numbers of 64-bit words, least
/// first.
#[test]
fn blocks_are_those_of_numpy() {
    let cases = [
        (
            [0; 4],
            [0; 2],
            [0x1655_4d9e_ca36_314c, 0xdb20_fe9d_672d_0fdc, 0xd7e7_72ce_e186_176b, 0x7e68_b68a_ec7b_a23b],
        ),
        (
            [5, 1, 77, 3],
            [42, 9],
            [0xc4b4_2ff1_ddab_cd9f, 0x9a70_be2c_1ccb_1766, 0x85d2_3ce6_6eb6_fa17, 0xcd3f_8c55_5755_af2f],
        ),
    ];
    for (counter, key, block) in cases {
        assert_eq!(philox4x64(counter, key), block, "{counter:?} {key:?}");
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
