//! SHA-256 digests of files and of the inputs of results.

use std::cell::RefCell;
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::ser::{CompactFormatter, Formatter};
use sha2::{Digest as _, Sha256};

/// A SHA-256 digest, written as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

/// Computes a digest from bytes that arrive piece by piece.
#[derive(Debug, Default)]
pub struct Hasher(Sha256);

impl Digest {
    /// Returns the digest of `bytes`.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        let mut hasher = Hasher::default();
        hasher.update(bytes);
        hasher.finish()
    }

    /// Returns the digest of `value` as compact JSON.
    ///
    /// Fields are in the order of their declaration. Floats have the shortest form that reads back to an equal value.
    pub fn of_json(value: &impl Serialize) -> Self {
        let pieces = RefCell::new(Pieces::new());
        // Serialization fails only for maps whose keys are not strings, and no caller has such maps.
        let writer = PieceWriter(&pieces);
        let _ = value.serialize(&mut serde_json::Serializer::with_formatter(writer, Compact(&pieces)));
        pieces.into_inner().finish()
    }

    /// Returns the digest of a regular file.
    ///
    /// # Errors
    /// See [`open`](crate::open).
    pub fn of_file(path: &Path) -> io::Result<Self> {
        FileHasher::open(path)?.finish()
    }
}

/// Collects the many short texts of a JSON document before they are hashed.
struct Pieces {
    bytes: Box<[u8]>,
    /// Number of bytes to hash: less than [`FileHasher::PIECE`].
    len: usize,
    hasher: Hasher,
}

impl Pieces {
    /// Room for the longest text of [`SHORT`].
    const MORE: usize = 4;

    fn new() -> Self {
        let bytes = vec![0; FileHasher::PIECE + Self::MORE].into();
        Self { bytes, len: 0, hasher: Hasher::default() }
    }

    /// Adds the first `len` of some bytes. All of them are copied, because copies of a fixed size take less time.
    #[inline]
    fn add_short(&mut self, bytes: [u8; Self::MORE], len: usize) {
        if let Some(room) = self.bytes[self.len..].first_chunk_mut() {
            *room = bytes;
        }
        self.len += len;
        if self.len >= FileHasher::PIECE {
            self.hash();
        }
    }

    fn add(&mut self, bytes: &[u8]) {
        match self.bytes[self.len..FileHasher::PIECE - 1].get_mut(..bytes.len()) {
            Some(room) => {
                room.copy_from_slice(bytes);
                self.len += bytes.len();
            }
            None => {
                self.hash();
                self.hasher.update(bytes);
            }
        }
    }

    #[cold]
    fn hash(&mut self) {
        self.hasher.update(&self.bytes[..self.len]);
        self.len = 0;
    }

    fn finish(mut self) -> Digest {
        self.hash();
        self.hasher.finish()
    }
}

/// Writer of pieces that the formatter adds to as well.
struct PieceWriter<'p>(&'p RefCell<Pieces>);

impl Write for PieceWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().add(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Compact JSON. Integers of a byte, as most weights are, come from a table, and they and what is between the
/// elements of lists are added without the detour of a writer.
struct Compact<'p>(&'p RefCell<Pieces>);

impl Formatter for Compact<'_> {
    #[inline]
    fn write_i32<W: ?Sized + Write>(&mut self, writer: &mut W, value: i32) -> io::Result<()> {
        match SHORT.get(value.wrapping_add(128) as usize) {
            Some((bytes, len)) => self.0.borrow_mut().add_short(*bytes, usize::from(*len)),
            None => CompactFormatter.write_i32(writer, value)?,
        }
        Ok(())
    }

    #[inline]
    fn begin_array_value<W: ?Sized + Write>(&mut self, _: &mut W, first: bool) -> io::Result<()> {
        if !first {
            self.0.borrow_mut().add_short([b',', 0, 0, 0], 1);
        }
        Ok(())
    }
}

/// Digits of the integers from -128 to 255, and their number.
const SHORT: [([u8; 4], u8); 384] = {
    let mut all = [([0; 4], 0); 384];
    let mut at = 0;
    while at < all.len() {
        let value = at as i32 - 128;
        let (mut digits, mut len) = ([0; 4], 0);
        if value < 0 {
            digits[0] = b'-';
            len = 1;
        }
        let size = value.unsigned_abs();
        let mut unit = if size >= 100 {
            100
        } else if size >= 10 {
            10
        } else {
            1
        };
        while unit > 0 {
            digits[len] = b'0' + (size / unit % 10) as u8;
            len += 1;
            unit /= 10;
        }
        all[at] = (digits, len as u8);
        at += 1;
    }
    all
};

/// Computes the digest of a file step by step.
#[derive(Debug)]
pub struct FileHasher {
    file: File,
    hasher: Hasher,
    /// The bytes read last.
    bytes: Vec<u8>,
}

impl FileHasher {
    /// Number of bytes read at a time.
    const PIECE: usize = 1 << 16;

    /// Opens a regular file to compute its digest.
    ///
    /// # Errors
    /// See [`open`](crate::open).
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { file: crate::open(path)?, hasher: Hasher::default(), bytes: Vec::new() })
    }

    /// Hashes `others` into `other`, and an equal number of bytes of the file into its own digest.
    ///
    /// A CPU takes less time for two interleaved digests than for one after the other.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn beside(&mut self, other: &mut Hasher, others: &[u8]) -> io::Result<()> {
        for others in others.chunks(Self::PIECE) {
            self.read(others.len())?;
            let mut own = self.bytes.chunks(BLOCK);
            for others in others.chunks(BLOCK) {
                own.next().into_iter().for_each(|own| self.hasher.update(own));
                other.update(others);
            }
        }
        Ok(())
    }

    /// Returns the digest of the whole file.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn finish(mut self) -> io::Result<Digest> {
        while self.read(Self::PIECE)? {
            self.hasher.update(&self.bytes);
        }
        Ok(self.hasher.finish())
    }

    /// Reads up to `count` bytes. Returns whether any were left.
    fn read(&mut self, count: usize) -> io::Result<bool> {
        self.bytes.clear();
        Ok(Read::take(&mut self.file, count as u64).read_to_end(&mut self.bytes)? > 0)
    }
}

/// Size of a SHA-256 block in bytes.
const BLOCK: usize = 64;

impl Hasher {
    /// Adds the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Returns the digest of all bytes added.
    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

impl Write for Hasher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Error for a text that is not a SHA-256 digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a SHA-256 of 64 hexadecimal digits")]
pub struct DigestError;

impl FromStr for Digest {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, DigestError> {
        let digits = text.as_bytes();
        if digits.len() != 64 || !digits.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(DigestError);
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let value = |digit: u8| if digit < b'a' { digit - b'0' } else { digit - b'a' + 10 };
            *byte = value(pair[0]) << 4 | value(pair[1]);
        }
        Ok(Self(bytes))
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 180-4, the example with one block.
    #[test]
    fn it_is_sha_256() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Digest::of_bytes(b"abc").to_string(), expected);
        assert_eq!(expected.parse(), Ok(Digest::of_bytes(b"abc")));
        assert_eq!(Digest::of_json(&"abc"), Digest::of_bytes(b"\"abc\""));
        for bad in ["", "ba78", &expected.to_uppercase(), &format!("{expected}0"), &"é".repeat(32)] {
            assert_eq!(bad.parse::<Digest>(), Err(DigestError), "{bad}");
        }
    }

    /// The text that is hashed is that of serde_json.
    #[test]
    fn json_is_the_usual_compact_form() {
        let values: Vec<i32> = (-1200..1200).chain([i32::MIN, i32::MAX]).collect();
        let all =
            (&values, values.iter().map(|&v| i64::from(v) << 20).collect::<Vec<_>>(), "a\"b", 0.1, [(); 0]);
        assert_eq!(Digest::of_json(&all), Digest::of_bytes(&serde_json::to_vec(&all).unwrap()));
        let long: Vec<i32> = (0..100_000).map(|i| i % 300 - 140).collect();
        assert_eq!(Digest::of_json(&long), Digest::of_bytes(&serde_json::to_vec(&long).unwrap()));
        // Texts of any length after any number of bytes.
        for len in (0..12).chain(65_520..65_550) {
            let mixed = (vec![7; 3], vec![-100; len / 5], "x".repeat(len), 1000, "y".repeat(70_000), [1, -2]);
            assert_eq!(
                Digest::of_json(&mixed),
                Digest::of_bytes(&serde_json::to_vec(&mixed).unwrap()),
                "{len}"
            );
        }
    }

    /// Both digests cover all bytes, however the other bytes are split.
    #[test]
    fn files_are_digested_beside_other_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        for len in [0, 1, 63, 64, 65, 1000, 200_000] {
            let bytes: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
            std::fs::write(&path, &bytes).unwrap();
            for pieces in [&[][..], &[0], &[1, 64, 7], &[300], &[200_100]] {
                let (mut file, mut other) = (FileHasher::open(&path).unwrap(), Hasher::default());
                let others: Vec<Vec<u8>> = pieces.iter().map(|&len| vec![7; len]).collect();
                others.iter().for_each(|others| file.beside(&mut other, others).unwrap());
                assert_eq!(file.finish().unwrap(), Digest::of_bytes(&bytes), "{len} {pieces:?}");
                assert_eq!(other.finish(), Digest::of_bytes(&others.concat()), "{len} {pieces:?}");
            }
            assert_eq!(Digest::of_file(&path).unwrap(), Digest::of_bytes(&bytes), "{len}");
        }
    }
}
