//! Codes of one tensor at their own width, shared between runs with equal codes.

use std::sync::Arc;

use guardbit_graph::DType;

/// Codes of one tensor of one sample, in row-major order. Clones share the memory.
#[derive(Debug, Clone)]
pub struct Codes(Arc<Packed>);

/// Codes as the narrowest integers that hold every code of a dtype.
#[derive(Debug, Clone)]
pub(crate) enum Packed {
    Bytes(Bytes),
    I16(Vec<i16>),
    I32(Vec<i32>),
}

/// Codes of at most 8 bits minus the least code of their dtype.
#[derive(Debug, Clone)]
pub(crate) struct Bytes {
    /// Bytes, followed by [`SLACK`] further ones.
    bytes: Vec<u8>,
    /// Least code of the dtype.
    pub least: i32,
}

/// Number of bytes after the last code that vector instructions may read.
pub(crate) const SLACK: usize = 64;

/// Mutable range of codes.
#[derive(Debug)]
pub(crate) enum PackedMut<'p> {
    /// See [`Bytes`].
    Bytes(&'p mut [u8]),
    I16(&'p mut [i16]),
    I32(&'p mut [i32]),
}

/// Codes in which a sample can be given: [`Codes`], or 32-bit integers.
pub trait ToCodes: Sync {
    /// Returns the number of codes.
    fn count(&self) -> usize;

    /// Returns the codes of a tensor of type `dtype`.
    ///
    /// # Errors
    /// The first code outside the range of `dtype`.
    fn to_codes(&self, dtype: DType) -> Result<Codes, i32>;
}

/// Memory of codes that are no longer needed. Reusing it is faster than allocating zeroed memory.
#[derive(Debug, Default)]
pub(crate) struct Spare(Vec<Vec<u8>>);

impl Spare {
    /// Greatest number of tensors that are kept, and greatest number of bytes of all of them. Not all kept
    /// memory is reused, and the host's results do not come from it.
    const TENSORS: usize = 8;
    const BYTES: usize = 1 << 23;

    /// Returns `count` codes of type `dtype` with arbitrary values, all of which must be written.
    pub fn take(&mut self, dtype: DType, count: usize) -> Packed {
        let mut codes = Packed::zeros(dtype, 0);
        let Packed::Bytes(Bytes { bytes, .. }) = &mut codes else { return Packed::zeros(dtype, count) };
        let len = count + SLACK;
        let fitting = (0..self.0.len()).filter(|&index| self.0[index].capacity() >= len);
        let Some(index) = fitting.min_by_key(|&index| self.0[index].capacity()) else {
            return Packed::zeros(dtype, count);
        };
        *bytes = self.0.swap_remove(index);
        bytes.resize(len, 0);
        // Zero, as in new memory, so that vector instructions always read the same values there.
        bytes[count..].fill(0);
        codes
    }

    /// Keeps the memory of `codes` unless it is shared. If there would be too much, the oldest memory is
    /// freed.
    pub fn keep(&mut self, codes: Codes) {
        let Ok(Packed::Bytes(Bytes { bytes, .. })) = Arc::try_unwrap(codes.0) else { return };
        self.0.push(bytes);
        while self.0.len() > Self::TENSORS || self.bytes() > Self::BYTES {
            self.0.remove(0);
        }
    }

    fn bytes(&self) -> usize {
        self.0.iter().map(Vec::capacity).sum()
    }
}

impl Codes {
    /// Packs codes of type `dtype`.
    ///
    /// # Errors
    /// The first code outside the range of `dtype`.
    pub fn new(dtype: DType, codes: &[i32]) -> Result<Self, i32> {
        let (least, greatest) = (dtype.min(), dtype.max());
        // Without an early exit the compiler can vectorize the loop.
        if codes.iter().fold(false, |found, &code| found | (code < least) | (code > greatest)) {
            return Err(codes.iter().copied().find(|code| !(least..=greatest).contains(code)).unwrap_or(0));
        }
        Ok(Self::within(dtype, codes))
    }

    /// Packs codes that are known to be within the range of `dtype`.
    pub(crate) fn within(dtype: DType, codes: &[i32]) -> Self {
        Packed::collect(dtype, codes).into()
    }

    /// Returns codes of 8 bits from the bytes of a file, which are two's complement if `dtype` is signed.
    /// Returns `None` unless `dtype` has 8 bits.
    pub fn from_bytes(dtype: DType, bytes: &[u8]) -> Option<Self> {
        let mut packed = Bytes::zeros(dtype.min(), bytes.len());
        packed.fill(flip(dtype)?, bytes);
        Some(Packed::Bytes(packed).into())
    }

    /// Sets the codes to those of [`Self::from_bytes`]. Reuses the memory if it is not shared and has the
    /// right length. Returns `None`, and changes nothing, unless `dtype` has 8 bits.
    pub fn set_bytes(&mut self, dtype: DType, bytes: &[u8]) -> Option<()> {
        let flip = flip(dtype)?;
        match Arc::get_mut(&mut self.0) {
            Some(Packed::Bytes(own)) if own.least == dtype.min() && own.get().len() == bytes.len() => {
                own.fill(flip, bytes);
            }
            _ => *self = Self::from_bytes(dtype, bytes)?,
        }
        Some(())
    }

    /// Returns the number of codes.
    pub fn len(&self) -> usize {
        match self.packed() {
            Packed::Bytes(codes) => codes.get().len(),
            Packed::I16(codes) => codes.len(),
            Packed::I32(codes) => codes.len(),
        }
    }

    /// Returns whether there are no codes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the code at `index`.
    ///
    /// # Panics
    /// If `index` is out of range.
    pub fn get(&self, index: usize) -> i32 {
        match self.packed() {
            Packed::Bytes(codes) => codes.code(codes.get()[index]),
            Packed::I16(codes) => codes[index].into(),
            Packed::I32(codes) => codes[index],
        }
    }

    /// Returns all codes as 32-bit integers.
    pub fn to_vec(&self) -> Vec<i32> {
        match self.packed() {
            Packed::Bytes(codes) => codes.get().iter().map(|&byte| codes.code(byte)).collect(),
            Packed::I16(codes) => codes.iter().map(|&code| code.into()).collect(),
            Packed::I32(codes) => codes.clone(),
        }
    }

    /// Writes every code as `bytes` bytes, little-endian two's complement.
    pub fn extend_le_bytes(&self, bytes: usize, out: &mut Vec<u8>) {
        match self.packed() {
            Packed::Bytes(codes) if bytes == 1 => {
                let least = codes.least as u8;
                out.extend(codes.get().iter().map(|byte| byte.wrapping_add(least)));
            }
            _ => self.to_vec().iter().for_each(|code| out.extend(&code.to_le_bytes()[..bytes])),
        }
    }

    /// Returns whether both share their memory.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    pub(crate) fn packed(&self) -> &Packed {
        &self.0
    }
}

/// Returns the mask that converts codes of `dtype` between bytes of a file and codes minus the least code;
/// `None` unless they have 8 bits.
fn flip(dtype: DType) -> Option<u8> {
    match dtype {
        DType::Int8 => Some(0x80),
        DType::UInt8 => Some(0),
        _ => None,
    }
}

impl PartialEq for Codes {
    fn eq(&self, other: &Self) -> bool {
        self.is(other) || self.0 == other.0
    }
}

impl Eq for Codes {}

impl PartialEq for Packed {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Bytes(a), Self::Bytes(b)) => a.least == b.least && a.get() == b.get(),
            (Self::I16(a), Self::I16(b)) => a == b,
            (Self::I32(a), Self::I32(b)) => a == b,
            _ => false,
        }
    }
}

impl From<Packed> for Codes {
    fn from(packed: Packed) -> Self {
        Self(Arc::new(packed))
    }
}

impl Bytes {
    /// Returns `count` codes that all equal the least one.
    pub fn zeros(least: i32, count: usize) -> Self {
        Self { bytes: vec![0; count + SLACK], least }
    }

    /// Returns the codes, one byte each.
    pub fn get(&self) -> &[u8] {
        &self.bytes[..self.bytes.len() - SLACK]
    }

    /// Returns the codes for writing, one byte each.
    pub fn get_mut(&mut self) -> &mut [u8] {
        let count = self.bytes.len() - SLACK;
        &mut self.bytes[..count]
    }

    /// Returns the codes followed by [`SLACK`] further bytes.
    pub fn with_slack(&self) -> &[u8] {
        &self.bytes
    }

    /// Converts the bytes of a file to codes by flipping the bits `flip`, which differ for the other
    /// signedness.
    fn fill(&mut self, flip: u8, bytes: &[u8]) {
        self.get_mut().iter_mut().zip(bytes).for_each(|(to, from)| *to = from ^ flip);
    }

    /// Returns the code of a byte.
    fn code(&self, byte: u8) -> i32 {
        i32::from(byte) + self.least
    }
}

impl Packed {
    /// Packs codes of type `dtype`.
    fn collect(dtype: DType, codes: &[i32]) -> Self {
        match dtype.storage() {
            DType::Int16 => Self::I16(codes.iter().map(|&code| code as i16).collect()),
            DType::UInt16 | DType::Int32 | DType::Int64 | DType::Float32 => Self::I32(codes.to_vec()),
            _ => {
                let least = dtype.min();
                let mut bytes = Bytes::zeros(least, codes.len());
                let pairs = bytes.get_mut().iter_mut().zip(codes);
                pairs.for_each(|(byte, code)| *byte = (code - least) as u8);
                Self::Bytes(bytes)
            }
        }
    }

    /// Returns `count` codes of type `dtype`, which must be written.
    pub fn zeros(dtype: DType, count: usize) -> Self {
        match dtype.storage() {
            DType::Int16 => Self::I16(vec![0; count]),
            DType::UInt16 | DType::Int32 | DType::Int64 | DType::Float32 => Self::I32(vec![0; count]),
            _ => Self::Bytes(Bytes::zeros(dtype.min(), count)),
        }
    }

    /// Replaces the codes from index `at` on with those of `piece`, which has the same dtype.
    pub fn overwrite(&mut self, at: usize, piece: &Self) {
        match (self, piece) {
            (Self::Bytes(to), Self::Bytes(from)) => {
                to.get_mut()[at..at + from.get().len()].copy_from_slice(from.get());
            }
            (Self::I16(to), Self::I16(from)) => to[at..at + from.len()].copy_from_slice(from),
            (Self::I32(to), Self::I32(from)) => to[at..at + from.len()].copy_from_slice(from),
            _ => debug_assert!(false, "all codes have the same dtype"),
        }
    }

    /// Returns all codes for writing.
    pub fn as_mut(&mut self) -> PackedMut<'_> {
        match self {
            Self::Bytes(codes) => PackedMut::Bytes(codes.get_mut()),
            Self::I16(codes) => PackedMut::I16(codes),
            Self::I32(codes) => PackedMut::I32(codes),
        }
    }
}

impl<'p> PackedMut<'p> {
    /// Splits into the first `count` codes and the rest.
    pub fn split_at(self, count: usize) -> (Self, Self) {
        match self {
            Self::Bytes(codes) => {
                let (first, rest) = codes.split_at_mut(count);
                (Self::Bytes(first), Self::Bytes(rest))
            }
            Self::I16(codes) => {
                let (first, rest) = codes.split_at_mut(count);
                (Self::I16(first), Self::I16(rest))
            }
            Self::I32(codes) => {
                let (first, rest) = codes.split_at_mut(count);
                (Self::I32(first), Self::I32(rest))
            }
        }
    }

    /// Copies `len` codes from index `at` on, from other codes of equal dtype and indices.
    pub fn copy_from(&mut self, from: &PackedMut<'_>, at: usize, len: usize) {
        let range = at..at + len;
        match (self, from) {
            (Self::Bytes(to), PackedMut::Bytes(from)) => to[range.clone()].copy_from_slice(&from[range]),
            (Self::I16(to), PackedMut::I16(from)) => to[range.clone()].copy_from_slice(&from[range]),
            (Self::I32(to), PackedMut::I32(from)) => to[range.clone()].copy_from_slice(&from[range]),
            _ => debug_assert!(false, "all codes have the same dtype"),
        }
    }
}

impl ToCodes for Codes {
    fn count(&self) -> usize {
        self.len()
    }

    fn to_codes(&self, dtype: DType) -> Result<Codes, i32> {
        match (self.packed(), dtype) {
            (Packed::Bytes(bytes), DType::Int8 | DType::UInt8) if bytes.least == dtype.min() => {
                Ok(self.clone())
            }
            (Packed::I16(_), DType::Int16) => Ok(self.clone()),
            _ => Codes::new(dtype, &self.to_vec()),
        }
    }
}

impl ToCodes for Vec<i32> {
    fn count(&self) -> usize {
        self.len()
    }

    fn to_codes(&self, dtype: DType) -> Result<Codes, i32> {
        Codes::new(dtype, self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(packed: &Packed) -> &Bytes {
        match packed {
            Packed::Bytes(bytes) => bytes,
            other => panic!("{other:?}"),
        }
    }

    /// Keeps codes of these lengths, then takes `count` codes.
    fn check(kept: &[usize], count: usize, left: usize) {
        let mut spare = Spare::default();
        for &len in kept {
            let mut codes = Bytes::zeros(DType::Int8.min(), len);
            codes.get_mut().fill(7);
            spare.keep(Packed::Bytes(codes).into());
        }
        let taken = spare.take(DType::UInt8, count);
        assert_eq!((bytes(&taken).get().len(), bytes(&taken).least), (count, 0), "{kept:?}");
        assert_eq!(bytes(&taken).with_slack()[count..], [0; SLACK], "{kept:?}");
        assert_eq!(spare.0.len(), left, "{kept:?}");
    }

    #[test]
    fn memory_is_taken_again_and_bounded() {
        check(&[], 5, 0);
        check(&[100], 5, 0);
        check(&[10], 10, 0);
        check(&[10], 11, 1);
        check(&[0; 100], 1000, Spare::TENSORS);
        check(&[Spare::BYTES / 2; 3], Spare::BYTES, 1);
        check(&[Spare::BYTES], 5, 0);
    }

    #[test]
    fn only_memory_of_bytes_that_nobody_has_is_kept() {
        let mut spare = Spare::default();
        let codes = Codes::from(Packed::zeros(DType::Int8, 10));
        spare.keep(codes.clone());
        spare.keep(Packed::zeros(DType::Int16, 10).into());
        assert!(spare.0.is_empty());
        spare.keep(codes);
        assert!(matches!(spare.take(DType::Int16, 5), Packed::I16(codes) if codes == [0; 5]));
        assert_eq!(spare.0.len(), 1);
    }
}
