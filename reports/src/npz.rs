//! Writes arrays of codes to `.npz` archives that numpy reads.

use std::io::{Seek, Write};

use guardbit_files::npy_header;
use guardbit_graph::{DType, real_of};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use crate::{NpzError, ReportError};

/// Writer of an `.npz` archive: little endian, C order, compressed. Equal arrays produce equal bytes.
#[derive(Debug)]
pub struct NpzWriter<W: Write + Seek> {
    zip: ZipWriter<W>,
}

/// Returns the shape of one array that holds `samples` tensors of `shape`: a leading 1 is replaced with the
/// number of samples, other shapes get a leading axis.
pub fn batch_shape(shape: &[usize], samples: usize) -> Vec<usize> {
    let rest = if shape.first() == Some(&1) { &shape[1..] } else { shape };
    [&[samples], rest].concat()
}

/// Returns the name of the archive member that holds the array `name`, without its `.npy` extension. The
/// result is a relative path that stays within the folder into which it is unpacked. Distinct names have
/// distinct members.
///
/// Most names are kept. `%`, `\\` and control characters become `%` and two hexadecimal digits per byte. The
/// first character is escaped likewise where an unpacker would misread the name: a path from the root or from
/// a drive, the steps `.` and `..`, and a second `.npy` at the end.
pub fn member_name(name: &str) -> String {
    let mut member = String::with_capacity(name.len());
    let escape =
        |c: char| c.encode_utf8(&mut [0; 4]).bytes().map(|b| format!("%{b:02X}")).collect::<String>();
    let suffix = name.len().checked_sub(4).filter(|&at| name.ends_with(".npy") && at > 0);
    let drive = name.len() > 1 && name.as_bytes()[0].is_ascii_alphabetic() && name.as_bytes()[1] == b':';
    for (at, c) in name.char_indices() {
        let begins = at == 0 || name.as_bytes()[at - 1] == b'/';
        let special = match c {
            '%' | '\\' => true,
            '/' => at == 0,
            ':' => at == 1 && drive,
            '.' => Some(at) == suffix || begins && matches!(name[at..].split('/').next(), Some("." | "..")),
            c => c.is_control(),
        };
        if special { member += &escape(c) } else { member.push(c) }
    }
    member
}

impl<W: Write + Seek> NpzWriter<W> {
    /// Creates an empty archive.
    pub fn new(writer: W) -> Self {
        Self { zip: ZipWriter::new(writer) }
    }

    /// Adds the array `name`; 4-bit dtypes are stored in 8 bits.
    ///
    /// # Errors
    /// [`ReportError::Npz`] if the codes do not fit `shape` or `dtype`, the name is taken, or the archive
    /// cannot be written.
    pub fn add(
        &mut self,
        name: &str,
        dtype: DType,
        shape: &[usize],
        codes: impl IntoIterator<Item = i32>,
    ) -> Result<(), ReportError> {
        let mut array = self.begin(name, dtype, shape)?;
        let mut codes = codes.into_iter();
        loop {
            let chunk: Vec<i32> = codes.by_ref().take(CHUNK).collect();
            if chunk.is_empty() {
                return array.end();
            }
            array.write(&chunk)?;
        }
    }

    /// Begins the array `name` in the member [`member_name`]. Its codes follow in pieces, in C order; the
    /// array is never held in memory as a whole.
    ///
    /// # Errors
    /// [`ReportError::Npz`] if the name is taken or the archive cannot be written.
    pub fn begin(
        &mut self,
        name: &str,
        dtype: DType,
        shape: &[usize],
    ) -> Result<ArrayWriter<'_, W>, ReportError> {
        let expected = shape.iter().product();
        let encode = Encode::of(dtype);
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .last_modified_time(DateTime::default())
            .unix_permissions(0o644)
            .large_file(expected >= (1 << 30));
        let failed = |source: NpzError| ReportError::Npz { array: name.to_owned(), source };
        self.zip.start_file(format!("{}.npy", member_name(name)), options).map_err(|e| failed(e.into()))?;
        let mut pending = npy_header(encode.descr, shape);
        pending.reserve(BLOCK);
        let (name, shape) = (name.to_owned(), shape.to_vec());
        Ok(ArrayWriter { name, dtype, shape, encode, expected, found: 0, pending, zip: &mut self.zip })
    }

    /// Adds the int64 array `name`.
    ///
    /// # Errors
    /// [`ReportError::Npz`] under the conditions of [`add`](Self::add).
    pub fn add_wide(&mut self, name: &str, shape: &[usize], values: &[i64]) -> Result<(), ReportError> {
        let mut array = self.begin(name, DType::Int64, shape)?;
        array.write_wide(values)?;
        array.end()
    }

    /// Ends the archive and returns the writer.
    ///
    /// # Errors
    /// [`ReportError::Npz`] if the archive's directory cannot be written.
    pub fn finish(self) -> Result<W, ReportError> {
        let failed = |source: zip::result::ZipError| ReportError::Npz {
            array: String::new(),
            source: NpzError::Zip(source),
        };
        self.zip.finish().map_err(failed)
    }
}

/// Number of codes that are encoded at a time.
const CHUNK: usize = 1 << 14;
/// Number of bytes that are compressed at a time. It is constant because the compressed bytes depend on it.
const BLOCK: usize = 1 << 16;

/// Array that is being written to an archive.
pub struct ArrayWriter<'a, W: Write + Seek> {
    name: String,
    dtype: DType,
    shape: Vec<usize>,
    encode: Encode,
    expected: usize,
    found: usize,
    /// Encoded bytes that were not written yet; less than a block between calls.
    pending: Vec<u8>,
    zip: &'a mut ZipWriter<W>,
}

impl<W: Write + Seek> ArrayWriter<'_, W> {
    /// Adds the next codes.
    ///
    /// # Errors
    /// [`ReportError::Npz`] if a code does not fit the dtype, or the archive cannot be written.
    pub fn write(&mut self, codes: &[i32]) -> Result<(), ReportError> {
        let (dtype, first) = (self.dtype, self.found);
        let misfit = codes.iter().position(|code| !(dtype.min()..=dtype.max()).contains(code));
        if let Some(at) = misfit {
            return Err(self.failed(NpzError::Code { code: codes[at], index: first + at, dtype }));
        }
        self.found += codes.len();
        for chunk in codes.chunks(CHUNK) {
            (self.encode.write)(chunk, &mut self.pending);
            self.flush()?;
        }
        Ok(())
    }

    /// Writes the complete blocks of the pending bytes.
    fn flush(&mut self) -> Result<(), ReportError> {
        let blocks = self.pending.len() / BLOCK * BLOCK;
        let written = self.pending[..blocks].chunks(BLOCK).try_for_each(|block| self.zip.write_all(block));
        written.map_err(|error| self.failed(error.into()))?;
        self.pending.drain(..blocks);
        Ok(())
    }

    /// Adds the next elements of an int64 array.
    ///
    /// # Errors
    /// [`ReportError::Npz`] if the array has another dtype, or the archive cannot be written.
    pub fn write_wide(&mut self, values: &[i64]) -> Result<(), ReportError> {
        if self.dtype != DType::Int64 {
            let (index, dtype) = (self.found, self.dtype);
            return Err(self.failed(NpzError::Code { code: 0, index, dtype }));
        }
        self.found += values.len();
        for chunk in values.chunks(CHUNK) {
            self.pending.extend(chunk.iter().flat_map(|value| value.to_le_bytes()));
            self.flush()?;
        }
        Ok(())
    }

    /// Ends the array.
    ///
    /// # Errors
    /// [`ReportError::Npz`] if the number of codes differs from that of the shape, or the archive cannot be
    /// written.
    pub fn end(self) -> Result<(), ReportError> {
        let (expected, found) = (self.expected, self.found);
        if found != expected {
            let shape = self.shape.clone();
            return Err(self.failed(NpzError::Count { shape, expected, found }));
        }
        self.zip.write_all(&self.pending).map_err(|error| self.failed(error.into()))
    }

    fn failed(&self, source: NpzError) -> ReportError {
        ReportError::Npz { array: self.name.clone(), source }
    }
}

/// Encoding of the codes of a dtype as bytes.
#[derive(Clone, Copy)]
struct Encode {
    /// Numpy's name of the element type.
    descr: &'static str,
    /// Appends codes, which are within the range of the dtype, as bytes.
    write: fn(&[i32], &mut Vec<u8>),
}

impl Encode {
    fn of(dtype: DType) -> Self {
        macro_rules! elements {
            ($descr:literal, $element:expr) => {
                Self {
                    descr: $descr,
                    write: |codes, out| {
                        out.extend(codes.iter().flat_map(|&code| $element(code).to_le_bytes()))
                    },
                }
            };
        }
        match dtype.storage() {
            DType::Int8 => elements!("|i1", |code| code as i8),
            DType::Int16 => elements!("<i2", |code| code as i16),
            DType::UInt16 => elements!("<u2", |code| code as u16),
            DType::Int32 => elements!("<i4", |code: i32| code),
            DType::Int64 => elements!("<i8", i64::from),
            DType::Float32 => elements!("<f4", real_of),
            _ => elements!("|u1", |code| code as u8),
        }
    }
}
