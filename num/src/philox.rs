//! A counter-based random number generator: every number is a function of its position and a key.

/// Returns block `counter` of Philox4x64-10 under `key`: four random 64-bit words, a pure function of both.
///
/// Source: J. K. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011). NumPy's
/// `numpy.random.Philox` is the same generator, but it increments the counter before each block.
pub fn philox4x64(counter: [u64; 4], key: [u64; 2]) -> [u64; 4] {
    const ROUNDS: usize = 10;
    const MULTIPLIERS: [u64; 2] = [0xD2E7_470E_E14C_6C93, 0xCA5A_8263_9512_1157];
    const WEYL: [u64; 2] = [0x9E37_79B9_7F4A_7C15, 0xBB67_AE85_84CA_A73B];
    let wide = |a: u64, b: u64| {
        let product = u128::from(a) * u128::from(b);
        ((product >> 64) as u64, product as u64)
    };
    let ([mut a, mut b, mut c, mut d], [mut left, mut right]) = (counter, key);
    for _ in 0..ROUNDS {
        let ((high_a, low_a), (high_c, low_c)) = (wide(MULTIPLIERS[0], a), wide(MULTIPLIERS[1], c));
        [a, b, c, d] = [high_c ^ b ^ left, low_c, high_a ^ d ^ right, low_a];
        (left, right) = (left.wrapping_add(WEYL[0]), right.wrapping_add(WEYL[1]));
    }
    [a, b, c, d]
}
