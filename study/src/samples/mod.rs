//! Samples of a network: codes per input, from files or from a seed, read on demand.

mod pictures;
mod reading;
mod values;

use std::path::{Path, PathBuf};

use guardbit_files::{Digest, Hasher};
use guardbit_frontends::Frontend;
use guardbit_graph::{Graph, TensorId};
use guardbit_sim::Codes;

use crate::array::ArrayFile;
use crate::error::Wanted;
use crate::{Pick, StudyError};
use reading::{Input, SampleFile, Source};
pub(crate) use reading::{Pieces, SampleReader};
use values::take;

/// Maximum number of random samples.
const MAX_RANDOM_SAMPLES: usize = 1_000_000;
/// Maximum number of codes of all random samples: they are hashed and, on request, written.
const MAX_RANDOM_CODES: usize = 1 << 32;

/// Source of samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputSource {
    /// `.npy` file for the only input, `.npz` file with one array per input, or folder of PNG pictures with a
    /// `pictures.yaml`.
    File {
        /// Path of the file or folder.
        path: PathBuf,
        /// Selection among its samples.
        pick: Pick,
    },
    /// Codes distributed uniformly over the range of each input; real values are uniform over [-1, 1] in
    /// steps of 2^-24.
    Random {
        /// Number of samples.
        count: usize,
        /// Seed of the first input; the following inputs take consecutive seeds.
        seed: u64,
    },
}

/// Reads samples into memory: for each sample, the codes of every input of `graph`. `frontend` is the format of the
/// network's file, whose runtime rounds real values to codes.
///
/// # Errors
/// [`StudyError`] if the samples cannot be read or do not match the inputs.
pub fn read_samples(
    graph: &Graph,
    frontend: &'static dyn Frontend,
    source: &InputSource,
) -> Result<Vec<Vec<Codes>>, StudyError> {
    let samples = Samples::load(graph, frontend, source)?;
    samples.reader().read(samples.count())
}

/// Samples of a network. They are read on demand, so memory does not grow with their number.
#[derive(Debug)]
pub(crate) struct Samples {
    count: usize,
    /// Indices of the samples in the file, unless all are taken.
    picked: Option<Vec<usize>>,
    /// Number of samples in the file.
    available: usize,
    /// Digest of all codes.
    digest: Digest,
    /// Digest of the source file, or of all codes if there is none.
    source_digest: Digest,
    /// Number of real values outside the range of their input's codes.
    clipped: u64,
    /// Doubts about real values: see [`Self::doubts`].
    doubts: Vec<String>,
    /// First input whose real values are all 0.
    blank: Option<String>,
    /// Graph inputs.
    inputs: Vec<Input>,
}

impl Samples {
    /// Loads the samples for `graph`, which `frontend` has read, and checks all of them.
    pub fn load(
        graph: &Graph,
        frontend: &'static dyn Frontend,
        source: &InputSource,
    ) -> Result<Self, StudyError> {
        match source {
            InputSource::File { path, pick } => Self::from_file(graph, frontend, path, *pick),
            InputSource::Random { count: 0, .. } => Err(StudyError::NoSamples),
            InputSource::Random { count, seed } => Self::random(graph, *count, *seed),
        }
    }

    /// Returns the number of samples.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the number of samples in the file.
    pub fn available(&self) -> usize {
        self.available
    }

    /// Returns the index in the file of sample `index`.
    pub fn in_file(&self, index: usize) -> usize {
        self.picked.as_ref().map_or(index, |picked| picked[index])
    }

    /// Returns the SHA-256 of all codes as little-endian integers of the dtype's width (a byte for 4-bit
    /// codes), input after input.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Returns the SHA-256 of the source file; equals [`Self::digest`] for samples from a seed.
    pub fn source_digest(&self) -> Digest {
        self.source_digest
    }

    /// Returns the number of real values outside the range of their input's codes: they become the least or
    /// the greatest code.
    pub fn clipped(&self) -> u64 {
        self.clipped
    }

    /// Returns remarks on real values that probably differ from the training data: all values 0, or pictures
    /// whose pixels were not scaled.
    pub fn doubts(&self) -> &[String] {
        &self.doubts
    }

    /// Returns the first input whose real values are all 0.
    pub fn blank(&self) -> Option<&str> {
        self.blank.as_deref()
    }

    /// Returns a reader of all inputs, starting at the first sample.
    pub fn reader(&self) -> SampleReader<'_> {
        SampleReader::new(&self.inputs, self.picked.as_deref())
    }

    /// Returns every input with its codes, in pieces of whole samples.
    pub fn inputs(&self) -> impl Iterator<Item = (TensorId, Pieces<'_>)> {
        let pieces = |input| Pieces::new(input, self.picked.as_deref(), self.count);
        self.inputs.iter().map(move |input| (input.id, pieces(input)))
    }

    fn random(graph: &Graph, count: usize, seed: u64) -> Result<Self, StudyError> {
        let one =
            |(index, &id): (u64, &TensorId)| Input::new(graph, id, Source::Seed(seed.wrapping_add(index)));
        let codes = graph.inputs().iter().map(|&id| graph.tensor(id).ty.len());
        let codes = codes.fold(0, usize::saturating_add);
        let allowed = MAX_RANDOM_SAMPLES.min(MAX_RANDOM_CODES / codes.max(1));
        if count > allowed {
            return Err(StudyError::TooManyRandom { asked: count, allowed, codes });
        }
        let inputs = (0..).zip(graph.inputs()).map(one).collect();
        Self::new(inputs, None, count).checked(None)
    }

    /// Checks all samples, so that errors are reported before the first one runs. `file` is the source file,
    /// if any.
    fn checked(mut self, file: Option<&Path>) -> Result<Self, StudyError> {
        let mut file = file.map(SampleFile::open).transpose()?;
        let (mut hasher, mut clipped) = (Hasher::default(), 0);
        let (mut doubts, mut blank) = (Vec::new(), None);
        for (_, mut pieces) in self.inputs() {
            pieces.hash(&mut hasher, file.as_mut())?;
            clipped += pieces.clipped();
            doubts.extend(pieces.doubt());
            blank = blank.or_else(|| pieces.blank());
        }
        (self.digest, self.clipped) = (hasher.finish(), clipped);
        (self.doubts, self.blank) = (doubts, blank);
        self.source_digest = file.map_or(Ok(self.digest), SampleFile::finish)?;
        Ok(self)
    }

    /// Creates samples that have not been read yet.
    fn new(inputs: Vec<Input>, picked: Option<Vec<usize>>, available: usize) -> Self {
        let count = picked.as_ref().map_or(available, Vec::len);
        let digest = Digest::of_bytes(&[]);
        let (clipped, doubts, blank) = (0, Vec::new(), None);
        Self { count, picked, available, digest, source_digest: digest, clipped, doubts, blank, inputs }
    }

    fn from_file(
        graph: &Graph,
        frontend: &'static dyn Frontend,
        path: &Path,
        pick: Pick,
    ) -> Result<Self, StudyError> {
        if let (true, Pick::Random { .. }) = (graph.has_states(), pick) {
            return Err(StudyError::StepsLeftOut { path: path.into(), model: graph.name().into() });
        }
        let (mut file, made) = match (path.is_dir(), graph.inputs()) {
            (true, &[input]) => {
                let (file, digest) = pictures::pictures(path, graph.tensor(input))?;
                (file, Some(digest))
            }
            (true, _) => {
                let problem = "a folder of pictures needs a network with one input".into();
                let help = "give a .npz file with an array per input";
                return Err(StudyError::Array { path: path.into(), problem, help });
            }
            (false, _) => (ArrayFile::open(path, Wanted::Samples)?, None),
        };
        let mut inputs = Vec::new();
        let mut count = None;
        for &id in graph.inputs() {
            let tensor = graph.tensor(id);
            let (array, samples) = take(&mut file, graph, tensor, path)?;
            if *count.get_or_insert(samples) != samples {
                let problem = format!(
                    "`{}` has {samples} samples, but other inputs have a different number",
                    tensor.name
                );
                let help = "every input needs the same number of samples along the first axis";
                return Err(StudyError::Array { path: path.into(), problem, help });
            }
            inputs.push(Input::new(graph, id, Source::Array { path: path.into(), array, frontend }));
        }
        let available = count.filter(|&count| count > 0).ok_or(StudyError::NoSamples)?;
        match pick.count() {
            Some(0) => return Err(StudyError::NoSamples),
            Some(asked) if asked > available => {
                return Err(StudyError::TooFewSamples { path: path.into(), asked, available });
            }
            _ => {}
        }
        let samples = Self::new(inputs, pick.indices(available), available);
        match made {
            None => samples.checked(Some(path)),
            Some(digest) => Ok(Self { source_digest: digest, ..samples.checked(None)? }),
        }
    }
}

#[cfg(test)]
mod tests {
    use guardbit_frontends::npy::Values;
    use guardbit_graph::{DType, Operand, OutputSpec, Requantize, TensorType, ops::Relu, word_of};
    use guardbit_sim::Codes;
    use guardbit_testing::cases;
    use ndarray::{ArrayD, IxDyn, ShapeBuilder};
    use ndarray_npy::{WritableElement, WriteNpyExt};
    use proptest::prelude::*;
    use std::io::Write;
    use zip::CompressionMethod;

    use super::values::{codes_of, sample_count};
    use super::*;

    const TFLITE: &dyn Frontend = &guardbit_frontends::tflite::Tflite;

    /// Returns a network with one input of shape `shape`.
    fn network(shape: &[usize], dtype: DType, scale: f32, zero_point: i32) -> Graph {
        let x = Operand::input("x", TensorType::quantized(shape, dtype, scale, zero_point).unwrap());
        let output = OutputSpec::quantized("y", dtype, scale, zero_point).unwrap();
        Graph::of_op("net", Relu { requantize: Requantize::default() }, [x], output).unwrap()
    }

    /// Returns the number of samples and the codes of an array with the given shape.
    fn codes(
        graph: &Graph,
        shape: &[usize],
        (dtype, values): (&'static str, Values),
    ) -> Result<(usize, Vec<i32>), StudyError> {
        let (tensor, path) = (graph.tensor(graph.inputs()[0]), Path::new("x.npy"));
        Ok((sample_count(tensor, shape, path)?, codes_of(tensor, TFLITE, dtype, values, path)?.0))
    }

    fn real(values: Vec<f32>) -> (&'static str, Values) {
        ("float32", Values::Float32(values))
    }

    fn integers(dtype: &'static str, values: Vec<i64>) -> (&'static str, Values) {
        (dtype, Values::Integers(values))
    }

    /// Real values of a float input are unchanged, and random ones are distributed around 0.
    #[test]
    fn real_values_are_taken_as_they_are() {
        let ty = TensorType { shape: vec![1, 2], dtype: DType::Float32, quantization: None };
        let rounding = guardbit_num::Rounding::HalfEven;
        let output = OutputSpec::quantized("y", DType::Int8, 1.0, 0).unwrap();
        let op = guardbit_graph::ops::QuantizeFloat { rounding, zero_point_first: false };
        let graph = Graph::of_op("net", op, [Operand::input("x", ty)], output).unwrap();
        let words = [1e30f32, -0.0].map(word_of).to_vec();
        assert_eq!(codes(&graph, &[1, 2], real(vec![1e30, -0.0])).unwrap(), (1, words));
        assert!(codes(&graph, &[1, 2], ("int32", Values::Integers(vec![1, 2]))).is_err());
        let samples = Samples::random(&graph, 50, 1).unwrap();
        let drawn: Vec<f32> = samples
            .inputs()
            .flat_map(|(_, pieces)| pieces.flat_map(Result::unwrap))
            .map(guardbit_graph::real_of)
            .collect();
        assert!(drawn.iter().all(|real| (-1.0..=1.0).contains(real)) && drawn.len() == 100);
        assert!(drawn.iter().any(|real| *real < -0.5) && drawn.iter().any(|real| *real > 0.5));
    }

    #[test]
    fn real_values_are_quantized_as_tflite_does() {
        let graph = network(&[1, 6], DType::Int8, 1.0, 0);
        let values = real(vec![0.5, 1.5, 2.5, -0.5, -1.5, -2.5]);
        assert_eq!(codes(&graph, &[1, 6], values).unwrap(), (1, vec![1, 2, 3, -1, -2, -3]));
        let graph = network(&[1, 4], DType::UInt8, 0.5, 10);
        let values = real(vec![-100.0, 0.0, 1.0, 1e30]);
        assert_eq!(codes(&graph, &[1, 4], values).unwrap(), (1, vec![0, 10, 12, 255]));
        let graph = network(&[1, 4], DType::Int8, 1e-3, 3);
        let (greatest, least) = (f32::MAX, f32::MIN);
        let values = real(vec![1e38, greatest, -1e38, least]);
        assert_eq!(codes(&graph, &[1, 4], values).unwrap(), (1, vec![127, 127, -128, -128]));
        let not_a_number = real(vec![f32::NAN; 4]);
        assert!(codes(&graph, &[1, 4], not_a_number).is_err());
    }

    #[test]
    fn clipped_values_are_counted() {
        let graph = network(&[1, 6], DType::Int8, 1.0, 3);
        let values = Values::Float32(vec![124.4, 124.5, -131.4, -131.5, 0.0, 1e38]);
        let (codes, clipped) =
            codes_of(graph.tensor(graph.inputs()[0]), TFLITE, "float32", values, Path::new("x.npy")).unwrap();
        assert_eq!((codes, clipped), (vec![127, 127, -128, -128, 3, 127], 3));
    }

    #[test]
    fn samples_lie_along_the_first_axis() {
        let graph = network(&[1, 2], DType::Int8, 1.0, 0);
        let values = || integers("int8", vec![1, 2, 3, 4]);
        assert_eq!(codes(&graph, &[2, 2], values()).unwrap(), (2, vec![1, 2, 3, 4]));
        assert!(codes(&graph, &[4], values()).is_err());
        assert!(codes(&graph, &[1, 4], values()).is_err());
        let graph = network(&[2, 1], DType::Int8, 1.0, 0);
        assert_eq!(codes(&graph, &[2, 2, 1], values()).unwrap().0, 2, "a batch of two is one sample");
    }

    #[test]
    fn codes_have_the_dtype_and_the_range_of_the_input() {
        let graph = network(&[1, 1], DType::Int4, 1.0, 0);
        assert_eq!(codes(&graph, &[1, 1], integers("int8", vec![7])).unwrap().1, [7]);
        assert!(codes(&graph, &[1, 1], integers("int8", vec![8])).is_err());
        assert!(codes(&graph, &[1, 1], integers("uint8", vec![7])).is_err());
        for wide in ["int32", "int64", "uint32", "uint64"] {
            assert_eq!(codes(&graph, &[1, 1], integers(wide, vec![-8])).unwrap().1, [-8]);
            let outside = codes(&graph, &[1, 1], integers(wide, vec![1 << 31])).unwrap_err().to_string();
            assert!(outside.contains("2147483648"), "{outside}");
        }
        assert!(codes(&graph, &[1, 1], ("float64", Values::Other)).is_err());
    }

    /// Returns the bytes of a `.npy` file.
    fn npy<T: WritableElement + Clone>(shape: &[usize], values: Vec<T>, fortran: bool) -> Vec<u8> {
        let array = ArrayD::from_shape_vec(shape, values).unwrap();
        let mut turned =
            ArrayD::from_elem(IxDyn(shape).set_f(fortran), array[IxDyn(&vec![0; shape.len()])].clone());
        turned.assign(&array);
        let mut bytes = Vec::new();
        turned.write_npy(&mut bytes).unwrap();
        bytes
    }

    /// Creates a file from the `bytes` of a `.npy` file, optionally in an archive.
    fn file(folder: &Path, bytes: &[u8], archive: Option<CompressionMethod>) -> PathBuf {
        let Some(method) = archive else {
            let path = folder.join("x.npy");
            std::fs::write(&path, bytes).unwrap();
            return path;
        };
        let path = folder.join("x.npz");
        let mut zip = zip::ZipWriter::new(std::fs::File::create(&path).unwrap());
        for name in ["other.npy", "x.npy"] {
            zip.start_file(name, zip::write::SimpleFileOptions::default().compression_method(method))
                .unwrap();
            zip.write_all(bytes).unwrap();
        }
        zip.finish().unwrap();
        path
    }

    /// An array with another name given by the user is not the input.
    #[test]
    fn an_array_of_another_name_is_no_input() {
        let graph = network(&[1, 3, 2], DType::Int8, 0.5, 1);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.npz");
        for (name, is_taken) in [("x", true), ("arr_0", true), ("labels", false)] {
            let mut zip = zip::ZipWriter::new(std::fs::File::create(&path).unwrap());
            zip.start_file(format!("{name}.npy"), zip::write::SimpleFileOptions::default()).unwrap();
            zip.write_all(&npy(&[4, 3, 2], vec![0.0f32; 24], false)).unwrap();
            zip.finish().unwrap();
            let source = InputSource::File { path: path.clone(), pick: Pick::All };
            assert_eq!(Samples::load(&graph, TFLITE, &source).is_ok(), is_taken, "{name}");
        }
    }

    #[test]
    fn clipped_values_of_all_samples_are_counted() {
        let graph = network(&[1, 3, 2], DType::Int8, 0.5, 1);
        let values = [[0.0f32, 1e38, -1e38, 63.0, 63.4, 0.0]; 40].as_flattened().to_vec();
        let folder = tempfile::tempdir().unwrap();
        let path = file(folder.path(), &npy(&[40, 3, 2], values, false), None);
        let loaded = Samples::load(&graph, TFLITE, &InputSource::File { path, pick: Pick::All }).unwrap();
        // The value 63.4 is code 128.
        assert_eq!((loaded.count(), loaded.clipped()), (40, 120));
    }

    /// Unscaled pictures and files of zeros probably differ from the training data.
    #[test]
    fn doubtful_values_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let float = {
            let x = Operand::input(
                "x",
                TensorType { shape: vec![1, 4], dtype: DType::Float32, quantization: None },
            );
            let output = OutputSpec::quantized("y", DType::Int8, 1.0, 0).unwrap();
            let rounding = guardbit_num::Rounding::HalfEven;
            let op = guardbit_graph::ops::QuantizeFloat { rounding, zero_point_first: false };
            Graph::of_op("net", op, [x], output).unwrap()
        };
        let [unit, pixels] = [1.0 / 255.0, 1.0].map(|scale| network(&[1, 4], DType::UInt8, scale, 0));
        let divide =
            "the values of input `x` are whole numbers from 0 to 250; pictures may need to be divided by 255";
        let zero = "all values of input `x` are 0";
        for (graph, values, doubts) in [
            (&float, [0.0f32, 17.0, 250.0, 3.0], vec![divide]),
            (&float, [0.0, 17.5, 250.0, 3.0], vec![]),
            (&float, [-1.0, 17.0, 250.0, 3.0], vec![]),
            (&float, [0.0, 1.0, 0.0, 9.0], vec![]),
            (&float, [0.0; 4], vec![zero]),
            (&unit, [0.0, 17.0, 250.0, 3.0], vec![divide]),
            (&unit, [0.0; 4], vec![zero]),
            (&pixels, [0.0, 17.0, 250.0, 3.0], vec![]),
        ] {
            let path = file(folder.path(), &npy(&[1, 4], values.to_vec(), false), None);
            let loaded = Samples::load(graph, TFLITE, &InputSource::File { path, pick: Pick::All }).unwrap();
            assert_eq!(loaded.doubts(), doubts, "{values:?}");
            assert_eq!(loaded.blank(), doubts.contains(&zero).then_some("x"));
        }
    }

    /// Checks that samples read in pieces equal the whole, for every form of file.
    fn check_pieces(
        path: &Path,
        samples: usize,
        pieces: &[usize],
        expected: &[i32],
    ) -> Result<(), TestCaseError> {
        let graph = network(&[1, 3, 2], DType::Int8, 0.5, 1);
        let loaded =
            Samples::load(&graph, TFLITE, &InputSource::File { path: path.into(), pick: Pick::All }).unwrap();
        prop_assert_eq!(loaded.count(), samples);
        let (mut reader, mut read, mut found) = (loaded.reader(), Vec::new(), Vec::new());
        let values =
            |samples: &[Vec<Codes>]| samples.iter().flatten().flat_map(Codes::to_vec).collect::<Vec<i32>>();
        let mut kept = Vec::new();
        for (index, &piece) in pieces.iter().cycle().enumerate() {
            let piece = piece.min(samples - found.len() / 6);
            reader.read_into(piece, &mut read).unwrap();
            found.extend(values(&read));
            if index % 2 == 1 {
                kept.push((read.clone(), values(&read)));
            }
            if found.len() == expected.len() {
                break;
            }
        }
        prop_assert_eq!(&found, expected);
        // Codes that are still in use elsewhere are not overwritten.
        for (codes, before) in kept {
            prop_assert_eq!(values(&codes), before);
        }
        let whole: Vec<i32> =
            loaded.inputs().flat_map(|(_, pieces)| pieces).flat_map(Result::unwrap).collect();
        prop_assert_eq!(&whole, expected);
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: cases(64), failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn pieces_make_the_whole(
            codes in prop::collection::vec(-128i32..=127, 6..200),
            pieces in prop::collection::vec(1usize..9, 1..5),
            real in any::<bool>(), fortran in any::<bool>(),
            archive in prop::sample::select(vec![
                None, Some(CompressionMethod::Stored), Some(CompressionMethod::Deflated),
            ]),
        ) {
            let samples = codes.len() / 6;
            let codes = &codes[..samples * 6];
            let shape = [samples, 3, 2];
            let bytes = if real {
                npy(&shape, codes.iter().map(|&c| (c - 1) as f32 * 0.5).collect(), fortran)
            } else {
                npy(&shape, codes.iter().map(|&c| c as i8).collect(), fortran)
            };
            let folder = tempfile::tempdir().unwrap();
            check_pieces(&file(folder.path(), &bytes, archive), samples, &pieces, codes)?;
        }
    }

    #[test]
    fn random_samples_are_those_of_the_seed() {
        let graph = network(&[1, 5], DType::Int8, 1.0, 0);
        let samples = Samples::load(&graph, TFLITE, &InputSource::Random { count: 9, seed: 3 }).unwrap();
        let mut reader = samples.reader();
        let pieces = [4, 1, 4].map(|count| reader.read(count).unwrap());
        let found: Vec<i32> =
            pieces.into_iter().flatten().flatten().flat_map(|codes| codes.to_vec()).collect();
        assert_eq!(found, guardbit_frontends::random_codes(3, -128..=127, 45));
    }

    /// Selected samples are rows of the file, in its order.
    #[test]
    fn samples_are_picked() {
        let graph = network(&[1, 2], DType::Int8, 1.0, 0);
        let folder = tempfile::tempdir().unwrap();
        let path = file(folder.path(), &npy(&[50, 2], (0..100).map(|i| i as i8).collect(), false), None);
        let codes = |pick: Pick| -> Vec<i32> {
            let samples =
                Samples::load(&graph, TFLITE, &InputSource::File { path: path.clone(), pick }).unwrap();
            let codes: Vec<i32> =
                samples.inputs().flat_map(|(_, pieces)| pieces).flat_map(Result::unwrap).collect();
            assert_eq!(samples.count() * 2, codes.len());
            let mut reader = samples.reader();
            let (first, rest) = (reader.read(3).unwrap(), reader.read(samples.count() - 3).unwrap());
            let again: Vec<i32> =
                first.into_iter().chain(rest).flatten().flat_map(|codes| codes.to_vec()).collect();
            assert_eq!(again, codes);
            codes
        };
        let rows = |rows: &[usize]| {
            rows.iter().flat_map(|&row| [row as i32 * 2, row as i32 * 2 + 1]).collect::<Vec<_>>()
        };
        assert_eq!(codes(Pick::First { first: 4 }), rows(&[0, 1, 2, 3]));
        let drawn = guardbit_frontends::random_subset(7, 20, 50);
        assert_eq!(codes(Pick::Random { count: 20, seed: 7 }), rows(&drawn));
        assert_ne!(codes(Pick::Random { count: 20, seed: 8 }), rows(&drawn));
        assert_eq!(codes(Pick::Random { count: 50, seed: 7 }), codes(Pick::All));
        let too_many = InputSource::File { path: path.clone(), pick: Pick::First { first: 51 } };
        assert!(matches!(
            Samples::load(&graph, TFLITE, &too_many),
            Err(StudyError::TooFewSamples { available: 50, .. })
        ));
    }
}
