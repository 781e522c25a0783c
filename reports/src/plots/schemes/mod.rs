//! Plots of a comparison of requantization schemes.

mod growth;

use super::Plot;
use crate::SchemesRecord;

/// All plots of a comparison of requantization schemes.
pub const SCHEME_PLOTS: &[Plot<SchemesRecord>] = &[growth::PLOT];
