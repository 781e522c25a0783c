//! Events of every sample: as a table over all layers, and per layer on the way into an archive.

use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
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

/// Event counts of the samples so far. Rows over all layers are in memory, and counts of single layers are in
/// a file without a name.
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
    /// Rows of `samples.csv`.
    pub rows: Vec<SampleRow>,
}

impl<'p> SampleEvents<'p> {
    /// Creates empty counts for the layers of `program`. The file is in `folder`, but not visible there.
    pub fn new(program: &'p Program, folder: &Path) -> Result<Self, StudyError> {
        let write = |source| FolderError::Write { path: folder.into(), source };
        let file = BufWriter::new(nameless(folder).map_err(write)?);
        let layers = program.mac_layers().count();
        Ok(Self { program, folder: folder.into(), file, layers, pending: Vec::new(), rows: Vec::new() })
    }

    /// Adds the next sample.
    pub fn add(&mut self, layers: &[EventCounts]) -> Result<(), StudyError> {
        self.rows.push(SampleRow::new(self.rows.len(), layers));
        self.pending.extend_from_slice(layers);
        if self.pending.len() >= self.samples_of_piece() * self.layers { self.write_piece() } else { Ok(()) }
    }

    /// Writes `sample_events.npz`: per layer `[samples, 3]`.
    pub fn pack(&mut self, staging: &mut Staging<'_>) -> Result<(), StudyError> {
        self.write_piece()?;
        self.file.flush().map_err(|source| self.failed(source))?;
        let (samples, step) = (self.rows.len(), self.samples_of_piece());
        staging.write_with("sample_events.npz", |out| {
            let mut npz = NpzWriter::new(out);
            for (index, layer) in self.program.mac_layers().enumerate() {
                let mut array = npz.begin(&layer.name, DType::Int64, &[samples, KINDS])?;
                for first in (0..samples).step_by(step) {
                    let count = step.min(samples - first);
                    let at = (first * self.layers + count * index) * BYTES;
                    let bytes = self.read(at, count * BYTES).map_err(|source| self.failed(source))?;
                    let (counts, _) = bytes.as_chunks::<8>();
                    array.write_wide(
                        &counts.iter().map(|count| i64::from_le_bytes(*count)).collect::<Vec<_>>(),
                    )?;
                }
                array.end()?;
            }
            npz.finish()?;
            Ok::<(), StudyError>(())
        })
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

    fn read(&self, at: usize, len: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; len];
        let mut file = self.file.get_ref().file();
        file.seek(SeekFrom::Start(at as u64))?;
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn failed(&self, source: io::Error) -> StudyError {
        FolderError::Write { path: self.folder.clone(), source }.into()
    }
}
