//! Arrays of codes in `.npz` archives that numpy reads.

use std::io::{Seek, Write};

use guardbit_graph::DType;
use ndarray::{ArrayD, IxDyn};
use ndarray_npy::{WritableElement, WriteNpyExt};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use crate::{NpzError, ReportError};

/// Writes an `.npz` archive: little endian, C order, compressed. Equal arrays make equal bytes.
#[derive(Debug)]
pub struct NpzWriter<W: Write + Seek> {
    zip: ZipWriter<W>,
}

/// The shape of `samples` tensors of `shape` in one array: a leading 1 becomes the samples, other shapes get
/// a leading axis.
pub fn batch_shape(shape: &[usize], samples: usize) -> Vec<usize> {
    let rest = if shape.first() == Some(&1) { &shape[1..] } else { shape };
    [&[samples], rest].concat()
}

impl<W: Write + Seek> NpzWriter<W> {
    /// An archive with nothing in it.
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
        let codes = codes.into_iter();
        let added = match dtype {
            DType::Int4 | DType::Int8 => self.add_as::<i8>(name, dtype, shape, codes),
            DType::UInt4 | DType::UInt8 => self.add_as::<u8>(name, dtype, shape, codes),
            DType::Int16 => self.add_as::<i16>(name, dtype, shape, codes),
            DType::UInt16 => self.add_as::<u16>(name, dtype, shape, codes),
            DType::Int32 => self.add_as::<i32>(name, dtype, shape, codes),
        };
        added.map_err(|source| ReportError::Npz { array: name.to_owned(), source })
    }

    /// Adds the array `name` of one tensor's codes over several samples, shaped by [`batch_shape`].
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn add_samples<'a>(
        &mut self,
        name: &str,
        dtype: DType,
        shape: &[usize],
        samples: impl ExactSizeIterator<Item = &'a [i32]>,
    ) -> Result<(), ReportError> {
        let shape = batch_shape(shape, samples.len());
        self.add(name, dtype, &shape, samples.flatten().copied())
    }

    /// Ends the archive and hands the writer back.
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

    fn add_as<T: WritableElement + TryFrom<i32>>(
        &mut self,
        name: &str,
        dtype: DType,
        shape: &[usize],
        codes: impl Iterator<Item = i32>,
    ) -> Result<(), NpzError> {
        let expected: usize = shape.iter().product();
        let mut elements = Vec::with_capacity(expected);
        for (index, code) in codes.enumerate() {
            let allowed = dtype.min() <= code && code <= dtype.max();
            let element = T::try_from(code).ok().filter(|_| allowed);
            elements.push(element.ok_or(NpzError::Code { code, index, dtype })?);
        }
        let found = elements.len();
        let array = ArrayD::from_shape_vec(IxDyn(shape), elements).map_err(|_| NpzError::Count {
            shape: shape.to_vec(),
            expected,
            found,
        })?;
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .last_modified_time(DateTime::default())
            .unix_permissions(0o644)
            .large_file(expected >= (1 << 30));
        self.zip.start_file(format!("{name}.npy"), options)?;
        array.write_npy(std::io::BufWriter::new(&mut self.zip))?;
        Ok(())
    }
}
