//! Converts real weights to codes with little loss, such that their sums do not overflow.
//!
//! - [`round`]: rounds to the nearest code, per tensor or per channel.
//! - [`cap`]: projects onto the l1 norms that a width allows (A2Q, A2Q+).
//! - [`budget`]: decides whether codes fit every register of a datapath for all activations; exact, and
//!   multi-level.
//! - [`moments`]: summarizes a layer's inputs as far as its squared error depends on them.
//! - [`correct`]: finds codes with the least squared error on real inputs, within budgets (GPTQ, AXE).
//! - [`bias`]: subtracts the mean error of outputs from the bias.
//! - [`equalize`]: balances weight ranges between consecutive layers.

pub mod bias;
pub mod budget;
pub mod cap;
pub mod correct;
pub mod equalize;
mod form;
pub mod matrix;
pub mod moments;
pub mod round;
