//! Calibration methods: one file each.
//!
//! To add one, write its file and add its line to [`METHODS`].

mod min_max;

pub use min_max::MinMax;

use crate::{Observed, Range, Target};

/// Chooses the real values that the codes of a tensor cover.
pub trait Method: Send + Sync {
    /// The name on the command line.
    fn name(&self) -> &str;

    /// The range for a tensor of which `observed` was seen.
    fn range(&self, observed: &Observed, target: &Target) -> Range;
}

/// Every method that needs nothing but what was observed.
pub const METHODS: &[&dyn Method] = &[&MinMax];
