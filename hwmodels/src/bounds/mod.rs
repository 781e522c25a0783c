//! Static bounds: how wide an accumulator must be, proved before anything runs.
//!
//! [`LayerBounds`] holds what operand types and actual weights allow, per output channel and accumulation level,
//! with A2Q's and A2Q+'s [closed forms](closed_form) beside them; [`network_sums`] narrows the exact bound by
//! ranges propagated through the network; a [`Witness`] is an input that attains a bound. Integers throughout:
//! ranges are `i128`, widths are bit lengths.
//!
//! Every operand range contains 0. So every prefix of every order, and every node of an adder tree, lies within
//! the range of the complete sum: a proved width excludes transient overflows too.

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
    ChannelBounds, LayerBounds, operand_range, operand_ranges, product_range, weight_operand_range,
};
pub use network::network_sums;
pub use range::Range;
pub use sums::level_sums;
pub use tiles::TwoLevels;
pub use witness::{Side, TypeWitness, Witness};
