//! How results were produced, and the documents that are written of them.

use crate::plots::PlotStyle;
use serde::{Deserialize, Serialize};

/// Information in a report on how its results were produced.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct About {
    /// Version of guardbit.
    pub version: String,
    /// Names and values of the settings, in the order in which they are listed.
    pub settings: Vec<(String, String)>,
    /// Name and complete YAML of every accelerator.
    pub accelerators: Vec<(String, String)>,
    /// Command that runs the network on these samples, with names of files instead of paths, without statistics and
    /// output folder. Pages append the layer to stop at. Empty if a part of the network was run.
    #[serde(skip)]
    pub command: String,
    /// Documents to write in addition to tables.
    #[serde(skip)]
    pub pages: Pages,
}

/// Documents to write in addition to tables. Tables take the least time and are always written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pages {
    /// Whether to write plots as SVG and PNG files.
    pub plots: bool,
    /// Whether to write the report, which contains the plots too.
    pub report: bool,
    /// Style of the plots in files; those in the report are for a screen.
    pub style: PlotStyle,
}

impl Default for Pages {
    fn default() -> Self {
        Self { plots: true, report: true, style: PlotStyle::default() }
    }
}
