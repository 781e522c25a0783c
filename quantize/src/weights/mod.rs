//! Real weights to codes: so that they lose little, and so that no sum of theirs overflows.
//!
//! - [`round`]: to the nearest code, per tensor or per channel.
//! - [`cap`]: projections onto the l1 norms that a width allows (A2Q, A2Q+).
//! - [`budget`]: whether codes fit every register of a datapath whatever the activations are; exact, and multi-level.
//! - [`moments`]: what a layer reads, as far as its squared error depends on it.
//! - [`correct`]: codes with the least squared error on real inputs, within budgets (GPTQ, AXE).
//! - [`bias`]: the mean error of outputs, taken out of the bias.
//! - [`equalize`]: ranges of weights balanced between layers that follow each other.

pub mod bias;
pub mod budget;
pub mod cap;
pub mod correct;
pub mod equalize;
mod form;
pub mod matrix;
pub mod moments;
pub mod round;
