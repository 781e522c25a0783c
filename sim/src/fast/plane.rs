//! Adds codes of 8 bits with 32-bit float arithmetic.

use super::simd::Kernels;

/// Computes the nearest code to `slopes[0] * a + slopes[1] * b + offset` within bounds, which is the result
/// of an addition apart from intermediate roundings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Plane {
    slopes: [f32; 2],
    offset: f32,
    bounds: [f32; 2],
}

/// Threshold from which on floats are integers; the last byte of their bits is then that of the integer.
const INTEGERS: f32 = (1 << 23) as f32;

/// Magnitude of the rounding errors of such floats and of those of an addition.
const NUDGE: f32 = 1.0 / (1 << 16) as f32;

impl Plane {
    /// Searches near `slopes` and `offset` for a plane that gives the output byte of every pair of bytes,
    /// `table[first * 256 + second]`.
    pub fn through(kernels: Kernels, table: &[u8], slopes: [f32; 2], offset: f32) -> Option<Self> {
        let bounds = [table.iter().min()?, table.iter().max()?].map(|&byte| byte.into());
        let nudges = (0..=8i8).flat_map(|n| [f32::from(n), f32::from(-n)]);
        let mut near = nudges.map(|n| Self { slopes, offset: offset + n * NUDGE, bounds });
        near.find(|plane| plane.makes(kernels, table))
    }

    /// Returns whether the plane gives all of `table`, using the instructions that will compute codes.
    fn makes(self, kernels: Kernels, table: &[u8]) -> bool {
        let second: [u8; 256] = std::array::from_fn(|byte| byte as u8);
        let mut made = [0; 256];
        let mut rows = table.chunks(256).zip(0..=255u8);
        table.len() == 1 << 16
            && rows.all(|(row, first)| {
                kernels.plane(self, &[first; 256], &second, &mut made);
                made == row
            })
    }

    /// Writes the output bytes of the pairs of bytes at equal indices.
    #[inline(always)]
    pub fn codes(self, a: &[u8], b: &[u8], out: &mut [u8]) {
        for (out, (&a, &b)) in out.iter_mut().zip(a.iter().zip(b)) {
            let exact = f32::from(a) * self.slopes[0] + (f32::from(b) * self.slopes[1] + self.offset);
            *out = (exact.max(self.bounds[0]).min(self.bounds[1]) + INTEGERS).to_bits() as u8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Isa;

    const SLOPES: [f32; 2] = [0.618_034, 0.414_213_5];
    const OFFSET: f32 = -3.3;

    fn table() -> Vec<u8> {
        let [a, b] = SLOPES.map(f64::from);
        let exact = |i: usize| a * (i / 256) as f64 + b * (i % 256) as f64 + f64::from(OFFSET);
        (0..1 << 16).map(|i| exact(i).round().clamp(5.0, 231.0) as u8).collect()
    }

    /// Tests all pairs, and a number of them that does not fill a vector.
    fn check(isa: Isa) {
        let (kernels, table) = (Kernels::choose(Some(isa)), table());
        let through = |table: &[u8]| Plane::through(kernels, table, SLOPES, OFFSET);
        let plane = through(&table).expect("it has these slopes");
        let (first, second): (Vec<u8>, Vec<u8>) = (0..1 << 16).map(|i| ((i >> 8) as u8, i as u8)).unzip();
        for len in [0, 1, 63, 1000, 1 << 16] {
            let mut made = vec![0; len];
            kernels.plane(plane, &first[..len], &second[..len], &mut made);
            assert_eq!(made, table[..len], "{isa:?}");
        }
        for i in [0, 1, 255, 256, 40_000, 65_535] {
            let mut other = table.clone();
            other[i] ^= 1;
            assert!(through(&other).is_none(), "{isa:?} {i}");
        }
        assert!(through(&table[..65_535]).is_none() && through(&[]).is_none());
    }

    #[test]
    fn a_plane_makes_every_code() {
        Isa::ALL.into_iter().filter(|isa| isa.is_available()).for_each(check);
    }
}
