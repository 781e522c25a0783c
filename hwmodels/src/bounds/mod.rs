//! Static bounds: the required widths of accumulators, proved before anything runs.
//!
//! [`LayerBounds`] holds the bounds from operand types and from actual weights, per output channel and
//! accumulation level, together with the [closed forms](closed_form) of A2Q and A2Q+. [`network_sums`]
//! narrows the exact bound with ranges propagated through the network. A [`Witness`] is an input that attains
//! a bound. All computations use integers: ranges are `i128`, widths are bit lengths.
//!
//! Every operand range contains 0. Therefore every prefix in any order, and every node of an adder tree, lies
//! within the range of the complete sum: a proved width excludes transient overflows too.

mod bias;
pub mod closed_form;
mod layer;
mod network;
mod range;
mod sums;
mod tiles;
mod witness;

pub use bias::bias_adder_range;
pub use layer::{
    ChannelBounds, LayerBounds, operand_range, operand_ranges, product_range, shifted_product_range,
    weight_operand_range,
};
pub use network::network_sums;
pub use range::Range;
pub use sums::level_sums;
pub use tiles::TwoLevels;
pub use witness::{Side, TypeWitness, Witness};
