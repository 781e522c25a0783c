//! The events of every sample: as a table over all layers, and layer by layer on their way into an archive.

use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use guardbit_files::{FolderError, OutFile, Staging, nameless};
use guardbit_graph::DType;
use guardbit_hwmodels::Program;
use guardbit_reports::{NpzWriter, SampleRow};
use guardbit_sim::EventCounts;

use crate::StudyError;

/// Registers that are counted apart: levels, products, biases.
const KINDS: usize = 3;
/// Bytes of the counts of one layer.
const BYTES: usize = KINDS * 8;
/// Bytes that are read at a time.
const CHUNK: usize = 1 << 20;

/// Counts sample after sample: rows in memory, those of single layers in a file without a name.
pub(crate) struct SampleEvents<'p> {
    program: &'p Program,
    folder: PathBuf,
    file: BufWriter<OutFile>,
    /// `samples.csv`.
    pub rows: Vec<SampleRow>,
}

impl<'p> SampleEvents<'p> {
    /// For the layers of `program`, in a file that lies in `folder` but cannot be seen there.
    pub fn new(program: &'p Program, folder: &Path) -> Result<Self, StudyError> {
        let write = |source| FolderError::Write { path: folder.into(), source };
        let file = BufWriter::new(nameless(folder).map_err(write)?);
        Ok(Self { program, folder: folder.into(), file, rows: Vec::new() })
    }

    /// Adds the next sample.
    pub fn add(&mut self, layers: &[EventCounts]) -> Result<(), StudyError> {
        self.rows.push(SampleRow::new(self.rows.len(), layers));
        for layer in layers {
            for count in [layer.levels, layer.products, layer.biases] {
                self.file.write_all(&count.to_le_bytes()).map_err(|source| self.failed(source))?;
            }
        }
        Ok(())
    }

    /// Writes `sample_events.npz`: per layer `[samples, 3]`.
    pub fn pack(&mut self, staging: &mut Staging<'_>) -> Result<(), StudyError> {
        self.file.flush().map_err(|source| self.failed(source))?;
        let layers = self.program.mac_layers().count();
        let samples = self.rows.len();
        // As many samples as a piece of the file holds: every layer reads all pieces.
        let step = (CHUNK / (layers * BYTES).max(1)).max(1);
        staging.write_with("sample_events.npz", |out| {
            let mut npz = NpzWriter::new(out);
            for (index, layer) in self.program.mac_layers().enumerate() {
                let mut array = npz.begin(&layer.name, DType::Int64, &[samples, KINDS])?;
                for first in (0..samples).step_by(step) {
                    let count = step.min(samples - first);
                    let read = self.read(first * layers * BYTES, count * layers * BYTES);
                    let bytes = read.map_err(|source| self.failed(source))?;
                    let own = bytes.chunks_exact(layers * BYTES).flat_map(|sample| {
                        let (counts, _) = sample[index * BYTES..][..BYTES].as_chunks::<8>();
                        counts.iter().map(|count| i64::from_le_bytes(*count))
                    });
                    array.write_wide(&own.collect::<Vec<_>>())?;
                }
                array.end()?;
            }
            npz.finish()?;
            Ok::<(), StudyError>(())
        })
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
