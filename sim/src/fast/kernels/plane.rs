//! Sums of codes of 8 bits by arithmetic of 32-bit floats.

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
    pub fn through(table: &[u8], slopes: [f32; 2], offset: f32) -> Option<Self> {
        let bounds = [table.iter().min()?, table.iter().max()?].map(|&byte| byte.into());
        let nudges = (0..=8i8).flat_map(|n| [f32::from(n), f32::from(-n)]);
        let mut near = nudges.map(|n| Self { slopes, offset: offset + n * NUDGE, bounds });
        near.find(|plane| plane.makes(table))
    }

    /// Whether it makes all of `table`.
    fn makes(&self, table: &[u8]) -> bool {
        let mut rows = table.chunks(256).zip(0..=255u8);
        let makes = |row: &[u8], a| (0..=255u8).zip(row).all(|(b, &code)| self.code(a, b) == code);
        table.len() == 1 << 16 && rows.all(|(row, a)| makes(row, a))
    }

    /// The output byte. Floats are added and multiplied in the same way on every CPU.
    #[inline(always)]
    fn code(&self, a: u8, b: u8) -> u8 {
        let exact = f32::from(a) * self.slopes[0] + (f32::from(b) * self.slopes[1] + self.offset);
        (exact.max(self.bounds[0]).min(self.bounds[1]) + INTEGERS).to_bits() as u8
    }
}

/// Output bytes of the pairs of bytes at the same index.
#[inline(always)]
pub(crate) fn plane(plane: Plane, a: &[u8], b: &[u8], out: &mut [u8]) {
    for (out, (&a, &b)) in out.iter_mut().zip(a.iter().zip(b)) {
        *out = plane.code(a, b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(change: impl Fn(&mut [u8])) -> bool {
        let (slopes, offset) = ([0.618_034_f32, 0.414_213_5_f32], -3.3_f32);
        let exact = |i: usize| {
            f64::from(slopes[0]) * (i / 256) as f64
                + f64::from(slopes[1]) * (i % 256) as f64
                + f64::from(offset)
        };
        let mut table: Vec<u8> = (0..1 << 16).map(|i| exact(i).round().clamp(5.0, 231.0) as u8).collect();
        change(&mut table);
        Plane::through(&table, slopes, offset).is_some()
    }

    #[test]
    fn a_plane_makes_every_code() {
        assert!(check(|_| {}));
        for i in [0, 1, 255, 256, 40_000, 65_535] {
            assert!(!check(|table| table[i] ^= 1), "{i}");
        }
        assert!(Plane::through(&[7; 65_535], [0.0, 0.0], 7.0).is_none());
        assert!(Plane::through(&[], [0.0, 0.0], 7.0).is_none());
    }
}
