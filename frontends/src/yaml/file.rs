//! The file as it is written. Nothing here is checked beyond its type.

use serde::Deserialize;

use super::values::{Integers, OneOrMany, PaddingFile};

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
    pub scale: f32,
    #[serde(default)]
    pub zero_point: i32,
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
    pub values: Option<Integers>,
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
    pub scale: f32,
    #[serde(default)]
    pub zero_point: i32,
}

/// Writes the type of a node, which holds the attributes of every operation. Which of them an operation takes is
/// checked later, so that an error can name the place.
macro_rules! node_file {
    ($($attribute:ident: $ty:ty,)*) => {
        #[derive(Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(super) struct NodeFile {
            pub op: String,
            pub inputs: Vec<Option<String>>,
            pub output: OutputFile,
            $(pub $attribute: Option<$ty>,)*
        }

        impl NodeFile {
            /// The names of the attributes that are given.
            pub fn given(&self) -> Vec<&'static str> {
                let mut given = Vec::new();
                $(if self.$attribute.is_some() { given.push(stringify!($attribute)); })*
                given
            }
        }
    };
}

node_file! {
    stride: [usize; 2],
    dilation: [usize; 2],
    kernel: [usize; 2],
    padding: PaddingFile,
    activation: String,
    requantize: String,
    multiplier: String,
    keep_num_dims: bool,
    axes: Vec<usize>,
    keep_dims: bool,
    beta: f32,
    shape: Vec<i64>,
    axis: usize,
    paddings: Vec<[usize; 2]>,
    value: i32,
    permutation: Vec<usize>,
}
