//! The canonical quantized graph.
//!
//! Every tensor carries its type: shape, dtype, scales and zero points. Every operation is one file in [`ops`] with
//! its attributes, its shape rule and its exact integer meaning. Codes are `i32` values in the tensor's
//! [`CodeRange`], whatever the dtype; **real = scale * (code - zero point)**. Tensors of regions left in float have
//! the dtype [`DType::Float32`], or a shorter floating-point dtype whose codes are bit patterns. The layout of activations is `[n, h, w, c]`.

mod activation;
mod bias_scale;
mod block_scales;
mod brief;
mod builder;
mod canonical;
mod checks;
mod code_range;
mod cut;
mod dot;
mod dtype;
mod effort;
mod error;
mod file_node;
mod file_order;
mod float32;
mod float_dots;
mod float_products;
mod form;
mod integers;
mod interpret;
mod limits;
mod links;
mod lookup;
mod model;
mod multiplier_rule;
mod names;
pub mod ops;
mod padding;
pub mod passes;
mod patch;
pub mod pattern;
mod products;
mod quantization;
mod requantized;
mod single;
mod state;
mod tensor_name;

pub use activation::Activation;
pub use brief::{Brief, brief};
pub use builder::{GraphBuilder, OutputSpec};
pub use code_range::{CodeRange, CodeType};
pub use cut::CutError;
pub use dot::{
    Bias, Division, DotProducts, DotWeights, Finish, KernelPosition, OutputPosition, OutputStage, Tap,
    WeightCodes, Window,
};
pub use dtype::{DType, UnknownDType};
pub use effort::{Effort, Moves, Work, host_text};
pub use error::GraphError;
pub use file_node::{FileNode, FileOutcome};
pub use float_dots::{FloatBlocks, FloatCodes, FloatDots, FloatOperand, ScaledCodes};
pub use float_products::{FloatProduct, FloatReason};
pub use float32::{RealCodes, STEPS_PER_UNIT, order_of, real_of, real_steps, word_of};

pub use form::{MultiplierForm, NodeForm, OperandForm, RequantizeForm};
pub use integers::{IntegerList, IntegerSlice, Integers};
pub use limits::{MAX_AXES, MAX_ELEMENTS, MAX_EXTENT};
pub use links::Links;
pub use lookup::LookupError;
pub use model::{Constant, Graph, Node, NodeId, Note, NoteKind, Tensor, TensorId, TensorType};
pub use multiplier_rule::{MultiplierRule, Requantize};
pub use ops::{Arithmetic, Mac, Monotonicity, Op, OpKind, OpType};
pub use padding::Padding;
pub use patch::{GraphPatch, PatchError};
pub use products::Products;
pub use quantization::{Quantization, QuantizationError};
pub use single::Operand;
pub use state::State;
pub use tensor_name::{MAX_NAME_BYTES, plain_name};
