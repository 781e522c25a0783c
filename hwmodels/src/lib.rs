//! Accelerator models and the lowering of graphs onto them.

mod accelerator;
mod lower;
mod program;
pub mod timing;

pub use accelerator::{
    Accelerator, Array, Axis, Bias, BiasPlace, Check, Dataflow, Datapath, Level, Memory, Packing, Product,
    Reduce, ReductionOrder, Register, Terms, TimingConvention, Walk, ZeroPoint,
};
pub use lower::{Host, LowerError, Placement, lower, partition};
pub use program::{ActivationOffset, MacLayer, Place, Program, Step};
