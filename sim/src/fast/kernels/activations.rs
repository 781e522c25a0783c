//! Activations that the lanes multiply.

use super::{LANES, Row};

/// Activations of one pixel, step by step. A further one, a 0, follows an odd number of them.
pub(crate) trait Activations: Copy {
    /// Returns the first `steps` steps.
    fn first(self, steps: usize) -> Self;
    /// Returns the activations without the first `steps` steps.
    fn skip(self, steps: usize) -> Self;
    /// Returns the operand of every lane in step `k`.
    fn lanes(self, k: usize) -> Row;
    /// Returns the operand of one lane in step `k`.
    fn at(self, k: usize, lane: usize) -> i16;
}

/// All lanes read one activation.
impl Activations for &[i16] {
    #[inline(always)]
    fn first(self, steps: usize) -> Self {
        &self[..steps]
    }

    #[inline(always)]
    fn skip(self, steps: usize) -> Self {
        &self[steps..]
    }

    #[inline(always)]
    fn lanes(self, k: usize) -> Row {
        [self[k]; LANES]
    }

    #[inline(always)]
    fn at(self, k: usize, _: usize) -> i16 {
        self[k]
    }
}

/// Every lane reads an activation of its own.
impl Activations for &[Row] {
    #[inline(always)]
    fn first(self, steps: usize) -> Self {
        &self[..steps]
    }

    #[inline(always)]
    fn skip(self, steps: usize) -> Self {
        &self[steps..]
    }

    #[inline(always)]
    fn lanes(self, k: usize) -> Row {
        self[k]
    }

    #[inline(always)]
    fn at(self, k: usize, lane: usize) -> i16 {
        self[k][lane]
    }
}

/// Lanes that read adjacent cells: in step `k`, those from `cells[offsets[k]]` on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Neighbours<'x> {
    cells: &'x [i16],
    offsets: &'x [usize],
}

impl<'x> Neighbours<'x> {
    /// Creates the activations; `reach` is the greatest of `offsets`.
    ///
    /// # Panics
    /// If some lane reads beyond `cells`.
    pub fn new(cells: &'x [i16], offsets: &'x [usize], reach: usize) -> Self {
        Self { cells: &cells[..reach + LANES], offsets }
    }

    /// Returns the operands of the lanes in step `k`.
    #[inline(always)]
    pub fn row(&self, k: usize) -> &Row {
        // The window ends before the image does, so there is always a row.
        self.cells[self.offsets[k]..].first_chunk().unwrap_or(&[0; LANES])
    }
}

impl Activations for Neighbours<'_> {
    #[inline(always)]
    fn first(self, steps: usize) -> Self {
        Self { offsets: &self.offsets[..steps], ..self }
    }

    #[inline(always)]
    fn skip(self, steps: usize) -> Self {
        Self { offsets: &self.offsets[steps..], ..self }
    }

    #[inline(always)]
    fn lanes(self, k: usize) -> Row {
        *self.row(k)
    }

    #[inline(always)]
    fn at(self, k: usize, lane: usize) -> i16 {
        self.cells[self.offsets[k] + lane]
    }
}

/// Operands in place that are `origin` more than their bytes. Step `k` reads from `bytes[offsets[k]]` on:
/// with `OWN`, every lane its own byte, otherwise all lanes the first one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ByteCells<'x, const OWN: bool> {
    bytes: &'x [u8],
    offsets: &'x [usize],
    origin: i16,
}

impl<'x, const OWN: bool> ByteCells<'x, OWN> {
    /// Creates the activations of a window whose cells begin with `bytes`. Reading beyond them panics.
    pub fn new(bytes: &'x [u8], offsets: &'x [usize], origin: i32) -> Self {
        Self { bytes, offsets, origin: origin as i16 }
    }
}

impl<const OWN: bool> Activations for ByteCells<'_, OWN> {
    #[inline(always)]
    fn first(self, steps: usize) -> Self {
        Self { offsets: &self.offsets[..steps], ..self }
    }

    #[inline(always)]
    fn skip(self, steps: usize) -> Self {
        Self { offsets: &self.offsets[steps..], ..self }
    }

    #[inline(always)]
    fn lanes(self, k: usize) -> Row {
        let mut row = [0; LANES];
        match OWN {
            true => {
                let bytes = &self.bytes[self.offsets[k]..][..LANES];
                row.iter_mut().zip(bytes).for_each(|(lane, &byte)| *lane = i16::from(byte) + self.origin);
            }
            false => row = [self.at(k, 0); LANES],
        }
        row
    }

    #[inline(always)]
    fn at(self, k: usize, lane: usize) -> i16 {
        i16::from(self.bytes[self.offsets[k] + if OWN { lane } else { 0 }]) + self.origin
    }
}

/// Returns the first `steps` steps of every pixel.
#[inline(always)]
pub(crate) fn first<X: Activations, const P: usize>(x: &[X; P], steps: usize) -> [X; P] {
    let mut x = *x;
    for x in &mut x {
        *x = x.first(steps);
    }
    x
}

/// Appends operands, which are `origin` more than their bytes.
#[inline(always)]
pub(crate) fn operands(bytes: &[u8], origin: i32, out: &mut Vec<i16>) {
    let origin = origin as i16;
    out.extend(bytes.iter().map(|&byte| i16::from(byte) + origin));
}

/// Appends magnitudes of operands, which are `origin` more than their bytes.
#[inline(always)]
pub(crate) fn magnitudes(bytes: &[u8], origin: i32, out: &mut Vec<u8>) {
    let origin = origin as i16;
    out.extend(bytes.iter().map(|&byte| (i16::from(byte) + origin).unsigned_abs() as u8));
}

/// Appends the sums of squares of every `channels` operands, which are `origin` more than their bytes.
#[inline(always)]
pub(crate) fn squares(bytes: &[u8], origin: i32, channels: usize, out: &mut Vec<u32>) {
    let origin = origin as i16;
    let square = |&byte: &u8| {
        let operand = i32::from(i16::from(byte) + origin);
        (operand * operand) as u32
    };
    out.extend(bytes.chunks_exact(channels).map(|position| position.iter().map(square).sum::<u32>()));
}

/// Appends every operand paired with the one `distance` cells further; the latter is arbitrary if it does not
/// exist. An operand is `origin` more than its byte.
#[inline(always)]
pub(crate) fn pairs(bytes: &[u8], distance: usize, origin: i32, out: &mut Vec<u32>) {
    let operand = |byte: u8| (i32::from(byte) + origin) as u32;
    let second = bytes.get(distance..).unwrap_or_default();
    out.extend(bytes.iter().zip(second).map(|(&a, &b)| operand(a) & 0xffff | operand(b) << 16));
    out.extend(bytes[second.len()..].iter().map(|&a| operand(a) & 0xffff));
}
