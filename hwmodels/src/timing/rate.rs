//! Sizes and rates of memories, in integers.
//!
//! Files state sizes and rates as decimals. Rounded to six decimals they are exact fractions, and so are
//! cycles.

use crate::Memory;

/// 10 to the power of the number of decimals kept.
const SCALE: u128 = 1_000_000;

/// Bits of a byte.
pub(super) const BYTE: u128 = 8;

/// Rate of a memory: bytes that move in a number of cycles.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rate {
    bytes: u128,
    cycles: u128,
}

impl Rate {
    /// Returns a rate of `bytes_per_cycle` bytes per cycle.
    pub fn of(bytes_per_cycle: f64) -> Self {
        Self { bytes: scaled(bytes_per_cycle).max(1), cycles: SCALE }
    }

    /// Returns the rate of the external memory. With `bursts` outstanding bursts, each of which takes the
    /// latency, it is at most `bursts * bytes / latency` (Little's law).
    pub fn outside(memory: &Memory) -> Self {
        let port = Self::of(memory.dram_bytes_per_cycle);
        let Some(bursts) = memory.dram_outstanding_bursts else { return port };
        let bytes = u128::from(bursts) * u128::from(memory.dram_burst_bytes);
        let bound = Self { bytes: bytes.max(1), cycles: memory.dram_latency_cycles.into() };
        let [of_port, of_bound] =
            [(port, bound), (bound, port)].map(|(a, b)| a.bytes.saturating_mul(b.cycles));
        if of_port <= of_bound { port } else { bound }
    }

    /// Returns the cycles to move `part / of` of `bits` bits, rounded up and saturated at [`u64::MAX`]. `of`
    /// is above 0.
    pub fn cycles(self, bits: u128, part: u64, of: u64) -> u64 {
        let of = u128::from(of);
        let bits = bits.saturating_mul(part.into());
        // Computes bits * cycles / of, rounded up. The second rounding up below makes no difference.
        let rest = (bits % of * self.cycles).div_ceil(of);
        let shares = (bits / of).saturating_mul(self.cycles).saturating_add(rest);
        u64::try_from(shares.div_ceil(self.bytes.saturating_mul(BYTE))).unwrap_or(u64::MAX)
    }
}

/// Returns the whole bits of one of `parts` parts of `kib` KiB.
pub(crate) fn bits_of_kib(kib: f64, parts: u128) -> u128 {
    scaled(kib).saturating_mul(1024 * BYTE) / (SCALE * parts)
}

/// Returns a number with at most six decimals, times 10^6. Exact for decimals of at most 15 digits, which
/// files contain.
pub(super) fn scaled(decimal: f64) -> u128 {
    (decimal * SCALE as f64).round() as u128
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks `ceil(bits / 8 / rate)` against values computed by hand. In `f64`, 6 bytes at 0.1 per cycle
    /// give 60 cycles, and 3 bytes at 0.3 give one cycle too many.
    #[test]
    fn cycles_of_decimal_rates() {
        for (rate, bytes, expected) in [
            (16.0, 16, 1),
            (16.0, 17, 2),
            (0.1, 6, 60),
            (0.3, 3, 10),
            (0.3, 4, 14),
            (48.6, 486, 10),
            (48.6, 487, 11),
            (1.1, 33, 30),
            (0.000001, 5, 5_000_000),
            (1e9, 1, 1),
        ] {
            assert_eq!(Rate::of(rate).cycles(bytes * BYTE, 1, 1), expected, "{bytes} bytes at {rate}");
        }
        assert_eq!(Rate::of(0.7).cycles(7 * BYTE, 1, 3), 4, "a third of 10 cycles");
        assert_eq!(Rate::of(1e-6).cycles(u128::MAX, u64::MAX, 1), u64::MAX);
        assert_eq!(Rate::of(1e9).cycles(0, 3, 7), 0);
    }

    #[test]
    fn rooms_of_decimal_sizes() {
        assert_eq!(bits_of_kib(0.5, 1), 4096);
        assert_eq!(bits_of_kib(0.1, 1), 819);
        assert_eq!(bits_of_kib(64.0, 2), 32 * 8192);
        assert_eq!(bits_of_kib(1e9, 1), 8_192_000_000_000);
    }
}
