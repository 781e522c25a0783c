//! What can go wrong with a bundle.

use std::path::PathBuf;

use guardbit_num::{MultiplierError, WidthError};

use crate::sizes::{MAX_PRODUCTS, MAX_TERMS, MAX_WORD};

/// Why a bundle cannot be made or checked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VectorError {
    /// A datapath that the bundle format or the reference RTL does not cover.
    #[error("layer `{layer}`: {what} cannot be exported as RTL vectors")]
    Unsupported {
        /// Name of the layer.
        layer: String,
        /// What is not covered.
        what: String,
    },
    /// A value too wide for the files.
    #[error("layer `{layer}`: {port} needs {bits} bits; bundles hold up to {MAX_WORD}")]
    TooWide {
        /// Name of the layer.
        layer: String,
        /// The register or port.
        port: String,
        /// Bits that it needs.
        bits: u32,
    },
    /// More products than a bundle holds.
    #[error(
        "layer `{layer}`: {products} products; a bundle holds up to 2^{all}, and 2^{one} of one dot product",
        all = MAX_PRODUCTS.ilog2(),
        one = MAX_TERMS.ilog2()
    )]
    TooLong {
        /// Name of the layer.
        layer: String,
        /// Products of the real cases.
        products: usize,
    },
    /// Nothing to export.
    #[error("layer `{layer}`: there are no activations and no corner cases to export")]
    Empty {
        /// Name of the layer.
        layer: String,
    },
    /// A file or folder that cannot be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A file or folder that cannot be written.
    #[error("{}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A manifest that cannot be used.
    #[error("{}: {problem}", path.display())]
    Manifest {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// A data file that does not hold what the manifest says.
    #[error("{file}: {problem}")]
    Data {
        /// Path within the bundle.
        file: String,
        /// What is wrong.
        problem: String,
    },
    /// A width in a manifest.
    #[error(transparent)]
    Width(#[from] WidthError),
    /// A multiplier in a manifest.
    #[error(transparent)]
    Multiplier(#[from] MultiplierError),
    /// A built-in mutant that no longer fits the reference RTL.
    #[error("mutant `{mutant}` does not fit {file}: its text occurs {found} times")]
    Mutant {
        /// Name of the mutant.
        mutant: String,
        /// RTL file.
        file: String,
        /// How often the text was found.
        found: usize,
    },
}

impl VectorError {
    /// A name for this kind of error that does not change.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unsupported { .. } => "guardbit::vectors::unsupported",
            Self::TooWide { .. } => "guardbit::vectors::width",
            Self::TooLong { .. } => "guardbit::vectors::length",
            Self::Empty { .. } => "guardbit::vectors::empty",
            Self::Read { .. } => "guardbit::vectors::read",
            Self::Write { .. } => "guardbit::vectors::write",
            Self::Manifest { .. } | Self::Width(_) | Self::Multiplier(_) => "guardbit::vectors::manifest",
            Self::Data { .. } => "guardbit::vectors::data",
            Self::Mutant { .. } => "guardbit::vectors::mutant",
        }
    }

    /// What may help.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            Self::Unsupported { .. } => Some(
                "the RTL has an optional adder tree first, then serial levels; change `accumulation` with --set",
            ),
            Self::TooLong { .. } => Some("ask for fewer dot products with --cases"),
            Self::Manifest { .. } | Self::Data { .. } => Some(
                "the folder was not written by `guardbit vectors`, or was changed since: export it again",
            ),
            _ => None,
        }
    }
}
