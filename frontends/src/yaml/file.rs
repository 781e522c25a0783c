//! The file as it is written. Nothing here is checked beyond its type.

use serde::Deserialize;

use super::operations::NodeFile;
use super::values::{Integers, OneOrMany};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GraphFile {
    pub schema: i64,
    pub name: Option<String>,
    pub inputs: Vec<InputFile>,
    #[serde(default)]
    pub constants: Vec<ConstantFile>,
    pub nodes: Vec<NodeFile>,
    pub outputs: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InputFile {
    pub name: String,
    pub shape: Vec<usize>,
    pub dtype: String,
    pub scale: Option<f32>,
    pub zero_point: Option<i32>,
    pub range: Option<[i32; 2]>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConstantFile {
    pub name: String,
    pub shape: Vec<usize>,
    pub dtype: String,
    pub scale: Option<OneOrMany<f32>>,
    pub zero_point: Option<OneOrMany<i32>>,
    pub axis: Option<usize>,
    pub range: Option<[i32; 2]>,
    pub values: Option<Integers>,
    pub reals: Option<Vec<f32>>,
    pub file: Option<String>,
    pub random: Option<RandomFile>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RandomFile {
    pub seed: u64,
    pub min: Option<i32>,
    pub max: Option<i32>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OutputFile {
    pub name: String,
    pub dtype: String,
    pub scale: Option<f32>,
    pub zero_point: Option<i32>,
    pub range: Option<[i32; 2]>,
}
