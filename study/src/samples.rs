//! What a network is run on: codes per input, from files or from a seed.

use std::path::{Path, PathBuf};

use guardbit_frontends::random_codes;
use guardbit_graph::{Graph, Tensor, TensorId};

use crate::StudyError;
use crate::array::{self, Array, Values};

/// Where samples come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputSource {
    /// A `.npy` file for the only input, or a `.npz` file with one array per input.
    File(PathBuf),
    /// Codes uniform over each input's dtype.
    Random {
        /// Number of samples.
        count: usize,
        /// Seed of the first input; the next ones take the seeds after it.
        seed: u64,
    },
}

/// Samples of a network: codes of every graph input, sample after sample.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Samples {
    count: usize,
    /// Per graph input: name, codes of all samples, codes per sample.
    inputs: Vec<(TensorId, Vec<i32>, usize)>,
}

impl Samples {
    /// Reads or makes the samples for `graph`.
    pub fn load(graph: &Graph, source: &InputSource) -> Result<Self, StudyError> {
        match source {
            InputSource::File(path) => Self::from_file(graph, path),
            InputSource::Random { count: 0, .. } => Err(StudyError::NoSamples),
            InputSource::Random { count, seed } => Ok(Self::random(graph, *count, *seed)),
        }
    }

    /// Number of samples.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The codes of every graph input for one sample.
    pub fn get(&self, sample: usize) -> Vec<Vec<i32>> {
        let one =
            |(_, codes, len): &(TensorId, Vec<i32>, usize)| codes[sample * len..(sample + 1) * len].to_vec();
        self.inputs.iter().map(one).collect()
    }

    /// Every input with the codes of all samples.
    pub fn inputs(&self) -> impl Iterator<Item = (TensorId, &[i32])> {
        self.inputs.iter().map(|(id, codes, _)| (*id, codes.as_slice()))
    }

    fn random(graph: &Graph, count: usize, seed: u64) -> Self {
        let one = |(index, &id): (u64, &TensorId)| {
            let ty = &graph.tensor(id).ty;
            let range = ty.dtype.min()..=ty.dtype.max();
            (id, random_codes(seed.wrapping_add(index), range, count * ty.len()), ty.len())
        };
        Self { count, inputs: (0..).zip(graph.inputs()).map(one).collect() }
    }

    fn from_file(graph: &Graph, path: &Path) -> Result<Self, StudyError> {
        let mut arrays = array::read(path)?;
        let mut inputs = Vec::new();
        let mut count = None;
        for &id in graph.inputs() {
            let tensor = graph.tensor(id);
            let array = take(&mut arrays, graph, tensor, path)?;
            let (samples, codes) = codes_of(tensor, &array, path)?;
            if *count.get_or_insert(samples) != samples {
                let problem = format!("`{}` has {samples} samples, other inputs have others", tensor.name);
                return Err(StudyError::Array { path: path.into(), problem });
            }
            inputs.push((id, codes, tensor.ty.len()));
        }
        match count {
            Some(count) if count > 0 => Ok(Self { count, inputs }),
            _ => Err(StudyError::NoSamples),
        }
    }
}

/// The array for an input: by name from an archive, or the only one.
fn take(
    arrays: &mut Vec<(String, Array)>,
    graph: &Graph,
    tensor: &Tensor,
    path: &Path,
) -> Result<Array, StudyError> {
    let by_name = arrays.iter().position(|(name, _)| *name == tensor.name);
    let only = (arrays.len() == 1 && graph.inputs().len() == 1).then_some(0);
    match by_name.or(only) {
        Some(index) => Ok(arrays.swap_remove(index).1),
        None => Err(StudyError::MissingInput {
            path: path.into(),
            input: tensor.name.clone(),
            inputs: graph.inputs().iter().map(|&id| graph.tensor(id).name.clone()).collect(),
        }),
    }
}

/// Number of samples and their codes.
fn codes_of(tensor: &Tensor, array: &Array, path: &Path) -> Result<(usize, Vec<i32>), StudyError> {
    let samples = sample_count(tensor, array, path)?;
    let dtype = tensor.ty.dtype;
    let codes = match &array.values {
        Values::Integers(name, values) if *name == array::file_dtype(dtype) => {
            let code = |&value: &i64| match i32::try_from(value) {
                Ok(code) if (dtype.min()..=dtype.max()).contains(&code) => Ok(code),
                _ => Err(StudyError::CodeRange { path: path.into(), code: value, dtype }),
            };
            values.iter().map(code).collect::<Result<_, _>>()?
        }
        Values::Float32(values) => {
            values.iter().map(|&value| quantize(tensor, value, path)).collect::<Result<_, _>>()?
        }
        other => {
            return Err(StudyError::InputDType {
                path: path.into(),
                input: tensor.name.clone(),
                found: other.dtype(),
                expected: array::file_dtype(dtype),
            });
        }
    };
    Ok((samples, codes))
}

/// Samples lie along the first axis; it takes the place of a leading 1 of the input's shape.
fn sample_count(tensor: &Tensor, array: &Array, path: &Path) -> Result<usize, StudyError> {
    let shape = &tensor.ty.shape;
    let rest = if shape.first() == Some(&1) { &shape[1..] } else { &shape[..] };
    match array.shape.split_first() {
        Some((&samples, found)) if found == rest => Ok(samples),
        _ => Err(StudyError::InputShape {
            path: path.into(),
            input: tensor.name.clone(),
            found: array.shape.clone(),
            expected: rest.to_vec(),
        }),
    }
}

/// `round_half_away(x / scale) + zero_point`, clamped: how TensorFlow Lite quantizes its inputs.
fn quantize(tensor: &Tensor, value: f32, path: &Path) -> Result<i32, StudyError> {
    let Some(quantization) = &tensor.ty.quantization else {
        return Err(StudyError::InputDType {
            path: path.into(),
            input: tensor.name.clone(),
            found: "float32",
            expected: array::file_dtype(tensor.ty.dtype),
        });
    };
    if !value.is_finite() {
        let problem = format!("`{}` holds {value}, which is no real number", tensor.name);
        return Err(StudyError::Array { path: path.into(), problem });
    }
    let steps = (value / quantization.scale(0)).round();
    Ok(tensor.ty.dtype.saturate(steps as i128 + i128::from(quantization.zero_point(0))))
}

#[cfg(test)]
mod tests {
    use guardbit_graph::{DType, GraphBuilder, OutputSpec, Quantization, TensorType, ops::Relu};
    use guardbit_graph::{MultiplierRule, Requantize};
    use guardbit_num::Scheme;

    use super::*;

    /// A network with one input of `shape`.
    fn network(shape: &[usize], dtype: DType, scale: f32, zero_point: i32) -> Graph {
        let quantization = Some(Quantization::per_tensor(scale, zero_point).unwrap());
        let mut builder = GraphBuilder::new("net");
        let ty = TensorType { shape: shape.to_vec(), dtype, quantization: quantization.clone() };
        let x = builder.input("x", ty).unwrap();
        let op = Relu { requantize: Requantize { scheme: Scheme::Double, rule: MultiplierRule::Float32 } };
        let y = builder.node(op, &[Some(x)], OutputSpec { name: "y".into(), dtype, quantization }).unwrap();
        builder.finish(vec![y]).unwrap()
    }

    fn codes(graph: &Graph, shape: &[usize], values: Values) -> Result<(usize, Vec<i32>), StudyError> {
        codes_of(
            graph.tensor(graph.inputs()[0]),
            &Array { shape: shape.to_vec(), values },
            Path::new("x.npy"),
        )
    }

    #[test]
    fn real_values_are_quantized_as_tflite_does() {
        let graph = network(&[1, 6], DType::Int8, 1.0, 0);
        let values = Values::Float32(vec![0.5, 1.5, 2.5, -0.5, -1.5, -2.5]);
        assert_eq!(codes(&graph, &[1, 6], values).unwrap(), (1, vec![1, 2, 3, -1, -2, -3]));
        let graph = network(&[1, 4], DType::UInt8, 0.5, 10);
        let values = Values::Float32(vec![-100.0, 0.0, 1.0, 1e30]);
        assert_eq!(codes(&graph, &[1, 4], values).unwrap(), (1, vec![0, 10, 12, 255]));
        let not_a_number = Values::Float32(vec![f32::NAN; 4]);
        assert!(codes(&graph, &[1, 4], not_a_number).is_err());
    }

    #[test]
    fn samples_lie_along_the_first_axis() {
        let graph = network(&[1, 2], DType::Int8, 1.0, 0);
        let values = || Values::Integers("int8", vec![1, 2, 3, 4]);
        assert_eq!(codes(&graph, &[2, 2], values()).unwrap(), (2, vec![1, 2, 3, 4]));
        assert!(codes(&graph, &[4], values()).is_err());
        assert!(codes(&graph, &[1, 4], values()).is_err());
        let graph = network(&[2, 1], DType::Int8, 1.0, 0);
        assert_eq!(codes(&graph, &[2, 2, 1], values()).unwrap().0, 2, "a batch of two is one sample");
    }

    #[test]
    fn codes_have_the_dtype_and_the_range_of_the_input() {
        let graph = network(&[1, 1], DType::Int4, 1.0, 0);
        assert_eq!(codes(&graph, &[1, 1], Values::Integers("int8", vec![7])).unwrap().1, [7]);
        assert!(codes(&graph, &[1, 1], Values::Integers("int8", vec![8])).is_err());
        assert!(codes(&graph, &[1, 1], Values::Integers("uint8", vec![7])).is_err());
        assert!(codes(&graph, &[1, 1], Values::Other("float64")).is_err());
    }
}
