//! Sums of single dot products: their distribution, and each sum.

use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use guardbit_files::{FolderError, OutFile, Staging, nameless};
use guardbit_graph::{DType, NodeId};
use guardbit_hwmodels::{MacLayer, Program, Register};
use guardbit_num::MAX_BITS;
use guardbit_reports::{NpzWriter, SumHistogram, SumKind, batch_shape};
use guardbit_sim::{BatchTensors, Codes, DotSum, Mode, Reads, delivered_sums, unbounded_sums};

use crate::StudyError;
use crate::layer_input::accelerated;
use crate::settings::SumsRequest;

/// Names in the archive of the two sums of a dot product.
const SUMS: [&str; 2] = ["exact", "delivered"];
/// Bytes of a sum.
const BYTES: usize = 8;

/// Collector of the sums of every sample that went through a program.
pub(crate) struct Sums<'p> {
    program: &'p Program,
    mode: Mode,
    /// Histograms per level; empty unless they are counted.
    pub histograms: Vec<SumHistogram>,
    spool: Option<SumSpool>,
    samples: usize,
}

impl<'p> Sums<'p> {
    /// Creates a collector for `request`. Stored sums are in `folder`, but not visible there.
    pub fn new(
        request: &SumsRequest,
        program: &'p Program,
        mode: Mode,
        folder: &Path,
    ) -> Result<Self, StudyError> {
        let spool = match request.dump.is_empty() {
            true => None,
            false => Some(SumSpool::new(program, &request.dump, folder)?),
        };
        let histograms = if request.histograms { SumHistogram::all(program) } else { Vec::new() };
        Ok(Self { program, mode, histograms, spool, samples: 0 })
    }

    /// Adds the next sample, whose tensors were all kept.
    pub fn add(&mut self, sample: &BatchTensors) -> Result<(), StudyError> {
        let run = match self.mode {
            Mode::Propagated => &sample.simulated[0],
            Mode::Isolated => &sample.exact,
        };
        self.count(run);
        if let Some(spool) = &mut self.spool {
            let read = |layer: &MacLayer| {
                let codes = Reads::of(self.program, layer, run);
                codes.map_or_else(Vec::new, |codes| delivered_sums(layer, codes, self.samples))
            };
            spool.add(self.program, read)?;
        }
        self.samples += 1;
        Ok(())
    }

    fn count(&mut self, run: &[Option<Codes>]) {
        if self.histograms.is_empty() {
            return;
        }
        let mut histograms = self.histograms.as_mut_slice();
        for layer in self.program.mac_layers() {
            let (own, rest) = histograms.split_at_mut(layer.datapath.levels.len());
            histograms = rest;
            let Some(codes) = Reads::of(self.program, layer, run) else { continue };
            for (index, levels) in unbounded_sums(layer, codes, self.samples).iter().enumerate() {
                let channel = layer.dots.window.output_position(index).c;
                own.iter_mut().zip(levels).for_each(|(histogram, sums)| histogram.add(channel, sums));
            }
        }
    }

    /// Writes `sum_histograms.npz` and `sums.npz`, if requested.
    pub fn write(&mut self, staging: &mut Staging<'_>) -> Result<(), StudyError> {
        if !self.histograms.is_empty() {
            staging.write_with("sum_histograms.npz", |out| {
                let mut npz = NpzWriter::new(out);
                self.histograms.iter().try_for_each(|histogram| add_histogram(&mut npz, histogram))?;
                npz.finish()?;
                Ok::<(), StudyError>(())
            })?;
        }
        match &mut self.spool {
            Some(spool) => spool.pack(self.program, self.samples, staging),
            None => Ok(()),
        }
    }
}

/// Adds the edges of the bins and, per kind, the counts `[channel, bin]`, with one bin below and one above
/// the edges.
fn add_histogram<W: Write + Seek>(
    npz: &mut NpzWriter<W>,
    histogram: &SumHistogram,
) -> Result<(), StudyError> {
    let name = |what: &str| format!("{what}/{}/{}", histogram.layer, histogram.level);
    let edges: Vec<i64> = histogram.bins.edges().into_iter().map(clamped).collect();
    npz.add_wide(&name("edges"), &[edges.len()], &edges)?;
    for (kind, channels) in SumKind::ALL.into_iter().zip(&histogram.counts) {
        let counts: Vec<i64> = channels.iter().flatten().map(|&count| clamped(count)).collect();
        npz.add_wide(&name(kind.name()), &[channels.len(), histogram.bins.count + 2], &counts)?;
    }
    Ok(())
}

/// Converts a number that fits 64 bits, as edges and counts do.
fn clamped<T: TryInto<i64>>(value: T) -> i64 {
    value.try_into().unwrap_or(i64::MAX)
}

/// Spool of sums for an archive: sample after sample, in a file without a name.
struct SumSpool {
    folder: std::path::PathBuf,
    file: BufWriter<OutFile>,
    layers: Vec<NodeId>,
}

impl SumSpool {
    fn new(program: &Program, layers: &[String], folder: &Path) -> Result<Self, StudyError> {
        let mut nodes: Vec<NodeId> = Vec::with_capacity(layers.len());
        for name in layers {
            let node = accelerated(program, name)?;
            if program.mac_layer(node).is_some_and(delivers_unsigned) {
                return Err(StudyError::WideSums { layer: program.graph.short_name(node).into() });
            }
            if !nodes.contains(&node) {
                nodes.push(node);
            }
        }
        nodes.sort_unstable();
        let write = |source| FolderError::Write { path: folder.into(), source };
        let file = BufWriter::new(nameless(folder).map_err(write)?);
        Ok(Self { folder: folder.into(), file, layers: nodes })
    }

    fn add(&mut self, program: &Program, read: impl Fn(&MacLayer) -> Vec<DotSum>) -> Result<(), StudyError> {
        for layer in self.layers.iter().filter_map(|&node| program.mac_layer(node)) {
            let sums = read(layer);
            let exact = sums.iter().map(|sum| sum.exact);
            let both = exact.chain(sums.iter().map(|sum| sum.delivered));
            let bytes: Vec<u8> = both.flat_map(|sum| clamped(sum).to_le_bytes()).collect();
            self.file.write_all(&bytes).map_err(|source| self.failed(source))?;
        }
        Ok(())
    }

    /// Packs the sums as arrays with the shape of the layer's output, one sample after the other.
    fn pack(
        &mut self,
        program: &Program,
        samples: usize,
        staging: &mut Staging<'_>,
    ) -> Result<(), StudyError> {
        self.file.flush().map_err(|source| self.failed(source))?;
        let dots = |node: &NodeId| program.mac_layer(*node).map_or(0, |layer| layer.dots.window.dots());
        let stride: usize = self.layers.iter().map(|node| SUMS.len() * dots(node) * BYTES).sum();
        staging.write_with("sums.npz", |out| {
            let mut npz = NpzWriter::new(out);
            let mut at = 0;
            for node in &self.layers {
                let (layer, bytes) = (program.graph.node_name(*node), dots(node) * BYTES);
                let shape = &program.graph.tensor(program.graph.node(*node).output).ty.shape;
                for what in SUMS {
                    let name = format!("{what}/{layer}");
                    let mut array = npz.begin(&name, DType::Int64, &batch_shape(shape, samples))?;
                    for sample in 0..samples {
                        let read = self.read((sample * stride + at) as u64, bytes);
                        array.write_wide(&read.map_err(|source| self.failed(source))?)?;
                    }
                    array.end()?;
                    at += bytes;
                }
            }
            npz.finish()?;
            Ok::<(), StudyError>(())
        })
    }

    fn read(&self, at: u64, len: usize) -> io::Result<Vec<i64>> {
        let mut bytes = vec![0; len];
        let mut file = self.file.get_ref().file();
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(&mut bytes)?;
        let (sums, _) = bytes.as_chunks::<BYTES>();
        Ok(sums.iter().map(|sum| i64::from_le_bytes(*sum)).collect())
    }

    fn failed(&self, source: io::Error) -> StudyError {
        FolderError::Write { path: self.folder.clone(), source }.into()
    }
}

/// Returns whether a sum may exceed 64 signed bits.
fn delivers_unsigned(layer: &MacLayer) -> bool {
    let last = layer.datapath.levels.last();
    last.is_some_and(|level| match level.register {
        Register::Fixed { format, .. } => !format.is_signed() && format.bits() == MAX_BITS,
        Register::Auto => false,
    })
}
