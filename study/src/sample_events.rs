//! Events of every sample: as a table over all layers, and per layer on the way into an archive.

use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use guardbit_files::{FolderError, OutFile, Staging, nameless};
use guardbit_graph::DType;
use guardbit_hwmodels::Program;
use guardbit_reports::{NpzWriter, SampleRow};
use guardbit_sim::EventCounts;

use crate::StudyError;

/// Kinds of registers that are counted separately: levels, products, biases.
const KINDS: usize = 3;
/// Bytes of the counts of one layer.
const BYTES: usize = KINDS * 8;
/// Bytes of one piece of the file.
const PIECE: usize = 1 << 20;

/// Event counts of the samples so far, in a file without a name.
///
/// The file consists of pieces with equal numbers of samples; the last one may have fewer. A piece holds
/// layer after layer, so that every layer's counts are read once.
pub(crate) struct SampleEvents<'p> {
    program: &'p Program,
    folder: PathBuf,
    file: BufWriter<OutFile>,
    /// Number of accelerated layers.
    layers: usize,
    /// Counts of the samples that have not been written to the file yet.
    pending: Vec<EventCounts>,
    /// Number of samples.
    samples: usize,
}

impl<'p> SampleEvents<'p> {
    /// Creates empty counts for the layers of `program`. The file is in `folder`, but not visible there.
    pub fn new(program: &'p Program, folder: &Path) -> Result<Self, StudyError> {
        let write = |source| FolderError::Write { path: folder.into(), source };
        let file = BufWriter::new(nameless(folder).map_err(write)?);
        let layers = program.mac_layers().count();
        Ok(Self { program, folder: folder.into(), file, layers, pending: Vec::new(), samples: 0 })
    }

    /// Adds the next sample.
    pub fn add(&mut self, layers: &[EventCounts]) -> Result<(), StudyError> {
        self.samples += 1;
        self.pending.extend_from_slice(layers);
        if self.pending.len() >= self.samples_of_piece() * self.layers { self.write_piece() } else { Ok(()) }
    }

    /// Ends the file after the last sample.
    pub fn finish(&mut self) -> Result<(), StudyError> {
        self.write_piece()?;
        self.file.flush().map_err(|source| self.failed(source))
    }

    /// Returns the rows of `samples.csv`, one piece of the finished file at a time.
    pub fn rows(&self) -> impl Iterator<Item = Result<Vec<SampleRow>, StudyError>> {
        self.pieces().map(|piece| {
            let counts = self.counts(piece.start * self.layers, piece.len() * self.layers)?;
            // A piece holds layer after layer.
            let of_sample = |at: usize| counts.iter().skip(at).step_by(piece.len()).copied();
            let row = |at: usize| SampleRow::new(piece.start + at, of_sample(at));
            Ok((0..piece.len()).map(row).collect())
        })
    }

    /// Writes `sample_events.npz` from the finished file: per layer `[samples, 3]`.
    pub fn pack(&self, staging: &mut Staging<'_>) -> Result<(), StudyError> {
        staging.write_with("sample_events.npz", |out| {
            let mut npz = NpzWriter::new(out);
            for (index, layer) in self.program.mac_layers().enumerate() {
                let mut array = npz.begin(&layer.name, DType::Int64, &[self.samples, KINDS])?;
                for piece in self.pieces() {
                    let first = piece.start * self.layers + piece.len() * index;
                    let counts = self.counts(first, piece.len())?;
                    let kinds = counts.iter().flat_map(|one| [one.levels, one.products, one.biases]);
                    array.write_wide(&kinds.map(u64::cast_signed).collect::<Vec<_>>())?;
                }
                array.end()?;
            }
            npz.finish()?;
            Ok::<(), StudyError>(())
        })
    }

    /// Returns the samples of every piece.
    fn pieces(&self) -> impl Iterator<Item = Range<usize>> {
        let step = self.samples_of_piece();
        (0..self.samples).step_by(step).map(move |first| first..(first + step).min(self.samples))
    }

    fn samples_of_piece(&self) -> usize {
        (PIECE / (self.layers * BYTES).max(1)).max(1)
    }

    /// Moves the pending counts into the file.
    fn write_piece(&mut self) -> Result<(), StudyError> {
        for layer in 0..self.layers {
            for counts in self.pending.iter().skip(layer).step_by(self.layers) {
                for count in [counts.levels, counts.products, counts.biases] {
                    self.file.write_all(&count.to_le_bytes()).map_err(|source| self.failed(source))?;
                }
            }
        }
        self.pending.clear();
        Ok(())
    }

    /// Reads `count` counts from the finished file, from the count `first` on.
    fn counts(&self, first: usize, count: usize) -> Result<Vec<EventCounts>, StudyError> {
        let mut bytes = vec![0; count * BYTES];
        let mut file = self.file.get_ref().file();
        let read =
            file.seek(SeekFrom::Start((first * BYTES) as u64)).and_then(|_| file.read_exact(&mut bytes));
        read.map_err(|source| self.failed(source))?;
        let counts = bytes.as_chunks::<8>().0.as_chunks::<KINDS>().0.iter();
        let counts = counts.map(|kinds| kinds.map(u64::from_le_bytes));
        Ok(counts.map(|[levels, products, biases]| EventCounts { levels, products, biases }).collect())
    }

    fn failed(&self, source: io::Error) -> StudyError {
        FolderError::Write { path: self.folder.clone(), source }.into()
    }
}
