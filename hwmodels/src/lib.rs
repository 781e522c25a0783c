//! Accelerator models, and the lowering of graphs onto them.
//!
//! An accelerator is written in YAML ([`load()`], [`PRESETS`], [`schema()`]) and checked into an
//! [`Accelerator`]. [`lower()`] maps a graph to it. [`timing`] computes the time and place of every addition.

mod accelerator;
pub mod bounds;
pub mod cost;
mod describe;
mod expression;
mod file;
mod formats;
mod inference;
mod keys;
mod layer_overrides;
mod lint;
mod load;
mod lower;
mod names;
mod operations;
mod order;
mod presets;
mod program;
pub mod reduction;
mod resource;
mod schema;
pub mod timing;
mod weights;

pub use accelerator::{
    Accelerator, Array, ArrayKind, Axis, Bias, BiasPlace, BlockScaling, Check, Dataflow, Datapath, Depthwise,
    Fixup, FloatAccumulation, FloatIncoming, FloatReduce, FloatResult, Level, MAX_TOTAL_SHIFT, Memory,
    Operands, OutputFit, PACKED_HIGH_BITS, PACKED_LOW_BITS, Packing, PackingKeys, PackingKind, Processor,
    Product, ReductionOrder, Register, Requantization, Residency, ScaleFormat, ShiftRounding, Subnormals,
    Terms, Timing, TimingConvention, ZeroPoint,
};
pub use expression::Quantity;
pub use file::SetMap;
pub use formats::{OperandFormats, name as format_name};
pub use inference::{Binding, InferenceBound, InferenceCycles};
pub use keys::keys_text;
pub use layer_overrides::LayerOverrides;
pub use lint::{check_program, check_with};
pub use load::{
    FilePlace, HwError, Origin, Problem, check, check_yaml, description_of, from_complete_yaml, from_yaml,
    full_key, key_of_layer, load, name_of,
};
pub use lower::{
    AuditStep, Coverage, Decision, Host, LayerSpec, LowerError, Lowering, MacNode, Outcome, Placement,
    audit_frontend, audit_lowering, lower, lower_dot_products, partition,
};
pub use operations::{MAC_OPERATIONS, OPERATIONS};
pub use order::{Permutations, Walk, random_permutation};
pub use presets::{PRESETS, Preset, preset};
pub use program::{ActivationOffset, FloatMacLayer, MacLayer, Program, Resident, Step, TimedLayer};
pub use reduction::Reduce;
pub use resource::Resource;
pub use schema::schema;
pub use timing::Place;
pub use weights::Weights;
