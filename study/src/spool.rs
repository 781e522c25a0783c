//! Spools codes of tensors for an archive on disk instead of in memory.

use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use guardbit_files::{FolderError, OutFile, Staging, nameless};
use guardbit_graph::{DType, Graph, TensorId};
use guardbit_reports::{NpzWriter, batch_shape};
use guardbit_sim::{Codes, Keep};

use crate::StudyError;

/// Names in the archive of the two runs of a tensor.
const RUNS: [&str; 2] = ["exact", "simulated"];

/// Tensors of every sample, sample after sample, in a file without a name.
pub(crate) struct Spool {
    folder: std::path::PathBuf,
    file: BufWriter<OutFile>,
    tensors: Vec<Spooled>,
    /// Bytes of one sample.
    stride: u64,
    samples: usize,
}

/// Position of a tensor within a sample: one run after the other.
struct Spooled {
    id: TensorId,
    name: String,
    dtype: DType,
    shape: Vec<usize>,
    /// Codes of one run; 0 if a run has none.
    len: usize,
    at: u64,
}

impl Spool {
    /// Creates a spool for the tensors that `keep` selects. Its file is in `folder`, but not visible there.
    pub fn new(graph: &Graph, keep: Keep, folder: &Path) -> Result<Self, StudyError> {
        let write = |source| FolderError::Write { path: folder.into(), source };
        let file = BufWriter::new(nameless(folder).map_err(write)?);
        let mut stride = 0;
        let mut tensors = Vec::new();
        for id in kept(graph, keep) {
            let tensor = graph.tensor(id);
            let dtype = tensor.ty.dtype;
            let len = if tensor.constant.is_some() { 0 } else { tensor.ty.len() };
            let (name, shape) = (tensor.name.clone(), tensor.ty.shape.clone());
            tensors.push(Spooled { id, name, dtype, shape, len, at: stride });
            stride += (RUNS.len() * len * code_bytes(dtype)) as u64;
        }
        Ok(Self { folder: folder.into(), file, tensors, stride, samples: 0 })
    }

    /// Adds the next sample.
    pub fn add(&mut self, exact: &[Option<Codes>], simulated: &[Option<Codes>]) -> Result<(), StudyError> {
        let mut bytes = Vec::with_capacity(self.stride as usize);
        for tensor in self.tensors.iter().filter(|tensor| tensor.len > 0) {
            for run in [exact, simulated] {
                if let Some(codes) = &run[tensor.id.index()] {
                    codes.extend_le_bytes(code_bytes(tensor.dtype), &mut bytes);
                }
            }
        }
        debug_assert_eq!(bytes.len() as u64, self.stride, "stored tensors have codes");
        self.samples += 1;
        self.file.write_all(&bytes).map_err(|source| self.failed(source))
    }

    /// Writes the tensors that `wanted` selects to the archive `path`, under `exact/` and `simulated/`.
    pub fn pack(
        &mut self,
        staging: &mut Staging<'_>,
        path: &str,
        wanted: impl Fn(TensorId) -> bool,
    ) -> Result<(), StudyError> {
        self.file.flush().map_err(|source| self.failed(source))?;
        staging.write_with(path, |out| {
            let mut npz = NpzWriter::new(out);
            for tensor in self.tensors.iter().filter(|tensor| wanted(tensor.id)) {
                for (run, prefix) in RUNS.iter().enumerate() {
                    let samples = if tensor.len > 0 { self.samples } else { 0 };
                    let shape = batch_shape(&tensor.shape, samples);
                    let mut array = npz.begin(&format!("{prefix}/{}", tensor.name), tensor.dtype, &shape)?;
                    for sample in 0..samples {
                        array.write(&self.read(tensor, run, sample).map_err(|e| self.failed(e))?)?;
                    }
                    array.end()?;
                }
            }
            npz.finish()?;
            Ok(())
        })
    }

    fn read(&self, tensor: &Spooled, run: usize, sample: usize) -> io::Result<Vec<i32>> {
        let size = code_bytes(tensor.dtype);
        let at = sample as u64 * self.stride + tensor.at + (run * tensor.len * size) as u64;
        let mut bytes = vec![0; tensor.len * size];
        let mut file = self.file.get_ref().file();
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(&mut bytes)?;
        let fill = |code: &[u8]| if tensor.dtype.min() < 0 && code[size - 1] > 127 { 255 } else { 0 };
        let code = |code: &[u8]| {
            let mut whole = [fill(code); 4];
            whole[..size].copy_from_slice(code);
            i32::from_le_bytes(whole)
        };
        Ok(bytes.chunks_exact(size).map(code).collect())
    }

    fn failed(&self, source: io::Error) -> StudyError {
        FolderError::Write { path: self.folder.clone(), source }.into()
    }
}

/// Returns the tensors whose codes a simulation returns, in the order of their ids.
fn kept(graph: &Graph, keep: Keep) -> Vec<TensorId> {
    let mut ids: Vec<TensorId> = match keep {
        Keep::Outputs => graph.outputs().to_vec(),
        Keep::All => {
            let made = graph.nodes().iter().map(|node| node.output);
            graph.inputs().iter().copied().chain(made).collect()
        }
    };
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// Returns the bytes that hold a code.
fn code_bytes(dtype: DType) -> usize {
    dtype.file_bytes().min(4)
}

#[cfg(test)]
mod tests {
    use guardbit_files::{Existing, Target};
    use guardbit_graph::ops::Reshape;
    use guardbit_graph::{Operand, OutputSpec, Quantization, TensorType};

    use super::*;

    /// Checks that codes read back equal the written ones, for each run and sample.
    fn check(dtype: DType) {
        let quantization = (!dtype.is_float()).then(|| Quantization::per_tensor(1.0, 0).unwrap());
        let ty = TensorType { shape: vec![1, 2], dtype, quantization: quantization.clone() };
        let output = OutputSpec { name: "y".into(), dtype, quantization };
        let op = Reshape { shape: vec![1, 2] };
        let graph = Graph::of_op("net", op, [Operand::input("x", ty)], output).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut spool = Spool::new(&graph, Keep::All, folder.path()).unwrap();
        let codes = |a: i32, b: i32| Codes::new(dtype, &[a, b]).ok();
        let (min, max) = (dtype.min(), dtype.max());
        for sample in [
            [[codes(min, 1), codes(2, max)], [codes(3, 4), codes(5, 6)]],
            [[codes(0, 7), codes(1, 2)], [codes(max, 4), codes(min, 6)]],
        ] {
            spool.add(&sample[0], &sample[1]).unwrap();
        }
        let target = Target::claim(&folder.path().join("out")).unwrap();
        let mut staging = target.stage().unwrap();
        spool.pack(&mut staging, "t.npz", |_| true).unwrap();
        staging.publish_unlisted(Existing::Refuse).unwrap();
        let path = target.path().join("t.npz");
        let mut archive = crate::array::ArrayFile::open(&path, crate::error::Wanted::Samples).unwrap();
        for (name, expected) in [
            ("exact/x", [min, 1, 0, 7]),
            ("exact/y", [2, max, 1, 2]),
            ("simulated/x", [3, 4, max, 4]),
            ("simulated/y", [5, 6, min, 6]),
        ] {
            let index = archive.names().iter().position(|found| found == name).unwrap();
            let (array, ()) = archive.array(index, |_| Ok(())).unwrap();
            assert_eq!(array.shape(), [2, 2]);
            let expected = expected.map(i64::from).to_vec();
            assert_eq!(
                array.values().unwrap(),
                guardbit_frontends::npy::Values::Integers(expected),
                "{name} {dtype}"
            );
        }
    }

    #[test]
    fn codes_of_every_dtype_come_back() {
        // Activations have at most 16 bits.
        DType::ALL.into_iter().filter(|&dtype| dtype.bits() <= 16).for_each(check);
    }
}
