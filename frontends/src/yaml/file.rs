//! The file as it is written. Only types are checked here. Inputs and constants repeat the keys of a type, because a
//! flattened struct could not deny unknown keys.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::operations::NodeFile;
use super::quantization::Said;
use super::schema;
use super::values::{Integers, OneOrMany, ScaleFile};

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(
    title = "guardbit graph",
    description = "A quantized network. Paths in it are relative to this file."
)]
#[serde(deny_unknown_fields)]
pub(super) struct GraphFile {
    /// Version of this file format: 1.
    #[schemars(schema_with = "schema::version")]
    pub schema: i64,
    /// Name of the network. Default: that of the file.
    pub name: Option<String>,
    /// Tensors that the network reads.
    pub inputs: Vec<InputFile>,
    /// Weights, biases and other tensors that do not change.
    #[serde(default)]
    pub constants: Vec<ConstantFile>,
    /// Operations, each of which reads only tensors defined before it.
    pub nodes: Vec<NodeFile>,
    /// Names of the output tensors.
    pub outputs: Vec<String>,
    /// Texts that describe the network and do not affect results.
    #[serde(default)]
    pub metadata: BTreeMap<String, String>,
}

/// A tensor that the network reads.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("required" = ["name", "shape", "dtype"]))]
#[serde(deny_unknown_fields)]
pub(super) struct InputFile {
    /// Name of the tensor.
    pub name: String,
    /// Sizes of its axes.
    pub shape: Vec<usize>,
    /// Type of its codes.
    #[schemars(schema_with = "schema::dtype")]
    pub dtype: String,
    /// Real = scale * (code - zero point): one number, or one per index of `axis`.
    #[schemars(schema_with = "schema::scale")]
    pub scale: Option<ScaleFile>,
    /// Code of real 0. Default: 0.
    #[schemars(schema_with = "schema::integer_or_list")]
    pub zero_point: Option<OneOrMany<i32>>,
    /// Axis of the lists of scales and zero points.
    pub axis: Option<usize>,
    /// Least and greatest code, if not all codes of the dtype are allowed.
    pub range: Option<[i32; 2]>,
    /// Distance between neighbouring codes of `range`: 2 for the bipolar codes -1 and 1. Default: 1.
    pub step: Option<u32>,
}

/// A tensor that does not change. Its codes are given by one of `values`, `reals`, `file` and `random`.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("required" = ["name", "shape", "dtype"]))]
#[serde(deny_unknown_fields)]
pub(super) struct ConstantFile {
    /// Name of the tensor.
    pub name: String,
    /// Sizes of its axes.
    pub shape: Vec<usize>,
    /// Type of its codes.
    #[schemars(schema_with = "schema::dtype")]
    pub dtype: String,
    /// Real = scale * (code - zero point): one number, or one per index of `axis`.
    #[schemars(schema_with = "schema::scale")]
    pub scale: Option<ScaleFile>,
    /// Code of real 0. Default: 0.
    #[schemars(schema_with = "schema::integer_or_list")]
    pub zero_point: Option<OneOrMany<i32>>,
    /// Axis of the lists of scales and zero points.
    pub axis: Option<usize>,
    /// Least and greatest code, if not all codes of the dtype are allowed.
    pub range: Option<[i32; 2]>,
    /// Distance between neighbouring codes of `range`: 2 for the bipolar codes -1 and 1. Default: 1.
    pub step: Option<u32>,
    /// Codes, row-major: a flat list, or nested like the shape.
    #[schemars(schema_with = "schema::integers")]
    pub values: Option<Integers>,
    /// Real values, for the dtype float32.
    pub reals: Option<Vec<f32>>,
    /// An .npy file with the codes.
    pub file: Option<String>,
    /// Uniform random codes.
    pub random: Option<RandomFile>,
}

/// Uniform random codes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RandomFile {
    /// Seed of the random generator.
    pub seed: u64,
    /// Least code. Default: that of the tensor.
    pub min: Option<i32>,
    /// Greatest code. Default: that of the tensor.
    pub max: Option<i32>,
}

/// The output of an operation. Its shape follows from the inputs.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("required" = ["name", "dtype"]))]
#[serde(deny_unknown_fields)]
pub(super) struct OutputFile {
    /// Name of the tensor.
    pub name: String,
    /// Type of its codes.
    #[schemars(schema_with = "schema::dtype")]
    pub dtype: String,
    /// Real = scale * (code - zero point): one number, or one per index of `axis`.
    #[schemars(schema_with = "schema::scale")]
    pub scale: Option<ScaleFile>,
    /// Code of real 0. Default: 0.
    #[schemars(schema_with = "schema::integer_or_list")]
    pub zero_point: Option<OneOrMany<i32>>,
    /// Axis of the lists of scales and zero points.
    pub axis: Option<usize>,
    /// Least and greatest code, if not all codes of the dtype are allowed.
    pub range: Option<[i32; 2]>,
    /// Distance between neighbouring codes of `range`: 2 for the bipolar codes -1 and 1. Default: 1.
    pub step: Option<u32>,
}

/// Implements access to the keys about codes.
macro_rules! said {
    ($($ty:ident),*) => {
        $(impl $ty {
            pub fn said(&self) -> Said<'_> {
                Said {
                    scale: self.scale.as_ref(),
                    zero_point: self.zero_point.as_ref(),
                    axis: self.axis,
                    range: self.range,
                    step: self.step,
                }
            }
        })*
    };
}

said!(InputFile, ConstantFile, OutputFile);
