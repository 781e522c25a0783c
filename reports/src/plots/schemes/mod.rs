//! Plots of a comparison of requantization schemes.

mod growth;

use super::Plot;
use crate::SchemesRecord;

/// All of them.
pub const SCHEME_PLOTS: &[Plot<SchemesRecord>] = &[growth::PLOT];
