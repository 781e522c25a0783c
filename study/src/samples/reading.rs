//! Reads samples of a network's inputs piece by piece.

use std::path::{Path, PathBuf};

use guardbit_files::{Digest, FileHasher, Hasher};
use guardbit_frontends::npy::Values;
use guardbit_frontends::{Frontend, RandomCodes};
use guardbit_graph::{CodeRange, CodeType, DType, Graph, Tensor, TensorId};
use guardbit_sim::{Codes, SimError};

use super::values::codes_of;
use crate::StudyError;
use crate::array::{self, Array};
use crate::error::Wanted;

/// Samples of one graph input.
#[derive(Debug)]
pub(super) struct Input {
    /// Tensor of the input, without constant codes.
    tensor: Tensor,
    pub id: TensorId,
    source: Source,
}

#[derive(Debug)]
pub(super) enum Source {
    Array { path: PathBuf, array: Array, frontend: &'static dyn Frontend },
    Seed(u64),
}

/// Reader of samples, starting at the first one.
pub(crate) struct SampleReader<'a> {
    inputs: Vec<InputReader<'a>>,
    /// Bytes of the samples that were read last.
    bytes: Vec<u8>,
}

/// Reader of the samples of one input, starting at the first one.
pub(crate) struct InputReader<'a> {
    input: &'a Input,
    picked: Option<&'a [usize]>,
    next: usize,
    /// Number of clipped real values so far.
    clipped: u64,
    /// Summary of the real values so far.
    seen: SeenReals,
    /// Generator of codes from a seed.
    random: RandomCodes,
}

impl<'a> SampleReader<'a> {
    /// Creates a reader of these inputs, for all samples of their file or for the selected ones.
    pub(super) fn new(inputs: &'a [Input], picked: Option<&'a [usize]>) -> Self {
        let inputs = inputs.iter().map(|input| input.reader(picked)).collect();
        Self { inputs, bytes: Vec::new() }
    }

    /// Returns the codes of every graph input for each of the next `count` samples.
    pub fn read(&mut self, count: usize) -> Result<Vec<Vec<Codes>>, StudyError> {
        let mut samples = Vec::new();
        self.read_into(count, &mut samples)?;
        Ok(samples)
    }

    /// Reads the next `count` samples into `samples`, and reuses their memory where it is not shared.
    pub fn read_into(&mut self, count: usize, samples: &mut Vec<Vec<Codes>>) -> Result<(), StudyError> {
        samples.resize_with(count, || Vec::with_capacity(self.inputs.len()));
        for (place, input) in self.inputs.iter_mut().enumerate() {
            let (dtype, len) = (input.input.tensor.ty.dtype, input.input.tensor.ty.len());
            let each = samples.iter_mut().enumerate();
            let each = each.map(|(index, sample)| (index * len..(index + 1) * len, sample));
            if input.read_bytes(count, &mut self.bytes)? {
                for (range, sample) in each {
                    let bytes = &self.bytes[range];
                    match sample.get_mut(place) {
                        Some(codes) => _ = codes.set_bytes(dtype, bytes),
                        None => sample.extend(Codes::from_bytes(dtype, bytes)),
                    }
                }
                continue;
            }
            let codes = input.read(count)?;
            for (range, sample) in each {
                sample.truncate(place);
                sample.push(input.input.codes(&codes[range])?);
            }
        }
        Ok(())
    }
}

/// Iterator over the codes of one input, piece by piece.
pub(crate) struct Pieces<'a> {
    reader: InputReader<'a>,
    left: usize,
}

impl Iterator for Pieces<'_> {
    type Item = Result<Vec<i32>, StudyError>;

    fn next(&mut self) -> Option<Self::Item> {
        let count = self.next_count();
        (count > 0).then(|| self.reader.read(count))
    }
}

impl<'a> Pieces<'a> {
    /// Creates the iterator over `count` samples.
    pub(super) fn new(input: &'a Input, picked: Option<&'a [usize]>, count: usize) -> Self {
        Self { reader: input.reader(picked), left: count }
    }

    /// Returns the number of clipped real values so far.
    pub(super) fn clipped(&self) -> u64 {
        self.reader.clipped
    }

    /// Returns a doubt about the real values so far, if any.
    pub(super) fn doubt(&self) -> Option<String> {
        let (tensor, seen) = (&self.reader.input.tensor, self.reader.seen);
        let name = &tensor.name;
        if seen.is_blank() {
            return Some(format!("all values of input `{name}` are 0"));
        }
        // If no value is clipped, the range of the input's codes covers such numbers.
        let taken = !tensor.ty.dtype.is_float() && self.reader.clipped == 0;
        (seen.is_unscaled() && !taken).then(|| {
            let most = seen.high;
            format!(
                "the values of input `{name}` are whole numbers from 0 to {most}; pictures may need to \
                     be divided by 255"
            )
        })
    }

    /// Returns the input's name if all its real values are 0.
    pub(super) fn blank(&self) -> Option<String> {
        self.reader.seen.is_blank().then(|| self.reader.input.tensor.name.clone())
    }

    /// Returns the number of samples in the next piece; 0 at the end.
    fn next_count(&mut self) -> usize {
        let len = self.reader.input.tensor.ty.len().max(1);
        let count = (array::CHUNK / len).max(1).min(self.left);
        self.left -= count;
        count
    }

    /// Adds all codes to `hasher` in the byte form of files, and advances `file` in parallel.
    pub(super) fn hash(
        &mut self,
        hasher: &mut Hasher,
        mut file: Option<&mut SampleFile<'_>>,
    ) -> Result<(), StudyError> {
        let mut bytes = Vec::new();
        loop {
            let count = self.next_count();
            if count == 0 {
                return Ok(());
            }
            if !self.reader.read_bytes(count, &mut bytes)? {
                bytes.clear();
                let codes = self.reader.read(count)?;
                self.reader.input.codes(&codes)?.extend_le_bytes(self.reader.input.code_bytes(), &mut bytes);
            }
            match &mut file {
                Some(file) => file.beside(hasher, &bytes)?,
                None => hasher.update(&bytes),
            }
        }
    }
}

/// Digest of a file of samples while it is computed.
pub(super) struct SampleFile<'p> {
    path: &'p Path,
    hasher: FileHasher,
}

impl<'p> SampleFile<'p> {
    pub fn open(path: &'p Path) -> Result<Self, StudyError> {
        let hasher = FileHasher::open(path).map_err(|source| Self::unread(path, source))?;
        Ok(Self { path, hasher })
    }

    fn beside(&mut self, other: &mut Hasher, others: &[u8]) -> Result<(), StudyError> {
        self.hasher.beside(other, others).map_err(|source| Self::unread(self.path, source))
    }

    pub fn finish(self) -> Result<Digest, StudyError> {
        self.hasher.finish().map_err(|source| Self::unread(self.path, source))
    }

    fn unread(path: &Path, source: std::io::Error) -> StudyError {
        StudyError::read(path, Wanted::Samples, source)
    }
}

impl Input {
    pub fn new(graph: &Graph, id: TensorId, source: Source) -> Self {
        Self { tensor: graph.tensor(id).clone(), id, source }
    }

    /// Converts codes that are known to fit the input's dtype.
    fn codes(&self, codes: &[i32]) -> Result<Codes, StudyError> {
        let tensor = &self.tensor;
        let ty = tensor.ty.code_type();
        let outside = |code| SimError::InputCode { tensor: tensor.name.clone(), code, ty };
        Ok(Codes::new(tensor.ty.dtype, codes).map_err(outside)?)
    }

    /// Returns the bytes of a code in a file.
    fn code_bytes(&self) -> usize {
        self.tensor.ty.dtype.file_bytes()
    }

    fn reader<'a>(&'a self, picked: Option<&'a [usize]>) -> InputReader<'a> {
        let seed = if let Source::Seed(seed) = self.source { seed } else { 0 };
        let (seen, random) = (SeenReals::default(), RandomCodes::of_tensor(seed, &self.tensor.ty));
        InputReader { input: self, picked, next: 0, clipped: 0, seen, random }
    }
}

impl InputReader<'_> {
    /// Reads the bytes of the next `count` samples, if the file stores contiguous 8-bit codes and every byte
    /// is a valid code. Returns whether it did.
    fn read_bytes(&mut self, count: usize, bytes: &mut Vec<u8>) -> Result<bool, StudyError> {
        let (Source::Array { array, .. }, None) = (&self.input.source, self.picked) else { return Ok(false) };
        let CodeType { dtype, range } = self.input.tensor.ty.code_type();
        let any_byte = matches!(dtype, DType::Int8 | DType::UInt8) && range == CodeRange::of(dtype);
        if !any_byte || array.dtype() != dtype.name() || !array.row_bytes(self.next, count, bytes)? {
            return Ok(false);
        }
        self.next += count;
        Ok(true)
    }

    /// Returns the codes of the next `count` samples.
    fn read(&mut self, count: usize) -> Result<Vec<i32>, StudyError> {
        let first = self.next;
        self.next += count;
        match &self.input.source {
            Source::Seed(_) => Ok(self.random.by_ref().take(count * self.input.tensor.ty.len()).collect()),
            Source::Array { path, array, frontend } => {
                let rows = match self.picked {
                    None => array.rows(first, count)?,
                    Some(picked) => {
                        let mut rows = Values::Other;
                        for run in picked[first..self.next].chunk_by(|a, b| a + 1 == *b) {
                            array::extend(&mut rows, array.rows(run[0], run.len())?);
                        }
                        rows
                    }
                };
                if let Values::Float32(values) = &rows {
                    self.seen.add(values);
                }
                let (codes, clipped) = codes_of(&self.input.tensor, *frontend, array.dtype(), rows, path)?;
                self.clipped += clipped;
                Ok(codes)
            }
        }
    }
}

/// Summary of real values that were read.
#[derive(Debug, Clone, Copy)]
struct SeenReals {
    any: bool,
    low: f32,
    high: f32,
    whole: bool,
}

impl Default for SeenReals {
    fn default() -> Self {
        Self { any: false, low: f32::INFINITY, high: f32::NEG_INFINITY, whole: true }
    }
}

impl SeenReals {
    /// Maximum value of a pixel.
    const WHITE: f32 = 255.0;
    /// Maximum whole number that may still be a class, a flag or a one-hot code.
    const FEW: f32 = 15.0;

    fn add(&mut self, values: &[f32]) {
        self.any |= !values.is_empty();
        for &value in values {
            (self.low, self.high) = (self.low.min(value), self.high.max(value));
            self.whole &= value.fract() == 0.0;
        }
    }

    fn is_blank(self) -> bool {
        self.any && self.low == 0.0 && self.high == 0.0
    }

    fn is_unscaled(self) -> bool {
        self.whole && self.low >= 0.0 && self.high > Self::FEW && self.high <= Self::WHITE
    }
}
