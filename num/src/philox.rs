//! A counter-based random number generator: every number is a function of its position and a key.

/// Number of rounds.
pub const PHILOX_ROUNDS: usize = 10;
/// Multipliers of the counter's words 0 and 2.
pub const PHILOX_MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
/// What each round adds to the words of the key.
pub const PHILOX_STEPS: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// Returns block `counter` of Philox4x32-10 under `key`: four random 32-bit words, a pure function of both.
///
/// Source: J. K. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011). cuRAND and PyTorch's CUDA
/// generator use the same function.
pub fn philox4x32(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let wide = |a: u32, b: u32| {
        let product = u64::from(a) * u64::from(b);
        ((product >> 32) as u32, product as u32)
    };
    let ([mut a, mut b, mut c, mut d], [mut left, mut right]) = (counter, key);
    for _ in 0..PHILOX_ROUNDS {
        let (high_a, low_a) = wide(PHILOX_MULTIPLIERS[0], a);
        let (high_c, low_c) = wide(PHILOX_MULTIPLIERS[1], c);
        [a, b, c, d] = [high_c ^ b ^ left, low_c, high_a ^ d ^ right, low_a];
        (left, right) = (left.wrapping_add(PHILOX_STEPS[0]), right.wrapping_add(PHILOX_STEPS[1]));
    }
    [a, b, c, d]
}
