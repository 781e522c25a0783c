//! Sums of codes of 8 bits by arithmetic of 32-bit floats.

use super::simd::Kernels;

/// The nearest code to `slopes[0] * a + slopes[1] * b + offset` within bounds: what an addition makes, but for its
/// roundings on the way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Plane {
    slopes: [f32; 2],
    offset: f32,
    bounds: [f32; 2],
}

/// From here on floats are integers, the last byte of which is that of the float.
const INTEGERS: f32 = (1 << 23) as f32;

/// What roundings of such floats, and those of an addition on the way, amount to.
const NUDGE: f32 = 1.0 / (1 << 16) as f32;

impl Plane {
    /// One that makes the output byte of every pair of bytes, `table[first * 256 + second]`, if there is one about here.
    pub fn through(kernels: Kernels, table: &[u8], slopes: [f32; 2], offset: f32) -> Option<Self> {
        let bounds = [table.iter().min()?, table.iter().max()?].map(|&byte| byte.into());
        let nudges = (0..=8i8).flat_map(|n| [f32::from(n), f32::from(-n)]);
        let mut near = nudges.map(|n| Self { slopes, offset: offset + n * NUDGE, bounds });
        near.find(|plane| plane.makes(kernels, table))
    }

    /// Whether it makes all of `table`, in the body that is going to make codes.
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

    /// Output bytes of the pairs of bytes at the same index.
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

    /// Those of all pairs, and as many as fill no vector.
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
