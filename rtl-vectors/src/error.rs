//! Errors of bundles and of golden models.

use std::path::PathBuf;

use guardbit_hwmodels::{HwError, LowerError};
use guardbit_num::{MultiplierError, WidthError};

use crate::sizes::{MAX_PRODUCTS, MAX_TERMS, MAX_WORD};

/// Reason why a bundle cannot be generated or checked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VectorError {
    /// The bundle format or the reference RTL does not support a datapath.
    #[error("layer `{layer}`: {what} cannot be exported as RTL vectors")]
    Unsupported {
        /// Name of the layer.
        layer: String,
        /// Part that is not supported.
        what: String,
    },
    /// The reference RTL does not support a floating-point accumulation.
    #[error("layer `{layer}`: {what} cannot be exported as RTL vectors")]
    FloatUnsupported {
        /// Name of the layer.
        layer: String,
        /// Part that is not supported.
        what: String,
        /// What to do.
        help: &'static str,
    },
    /// A design cannot replace the reference design of a floating-point layer.
    #[error("{}: a bundle of a floating-point layer takes no --dut", path.display())]
    FloatDut {
        /// Path of the bundle.
        path: PathBuf,
    },
    /// A value is too wide for the files.
    #[error("layer `{layer}`: {port} needs {bits} bits; expected at most {MAX_WORD}")]
    TooWide {
        /// Name of the layer.
        layer: String,
        /// Name of the register or port.
        port: String,
        /// Required width in bits.
        bits: u32,
    },
    /// A layer has more products than a bundle can hold.
    #[error(
        "layer `{layer}` has {products} products; expected at most 2^{all} per bundle and 2^{one} per dot \
         product",
        all = MAX_PRODUCTS.ilog2(),
        one = MAX_TERMS.ilog2()
    )]
    TooLong {
        /// Name of the layer.
        layer: String,
        /// Number of products of the real cases.
        products: usize,
    },
    /// Images of whole layers would be too large.
    #[error("`{layer}` has {count} {what}; whole layers are exported with at most {most}")]
    TooLarge {
        /// Name of the layer or network.
        layer: String,
        /// What there is too much of.
        what: &'static str,
        /// Its number.
        count: u64,
        /// Greatest number.
        most: u64,
    },
    /// There is nothing to export.
    #[error("layer `{layer}` has neither activations nor corner cases to export")]
    Empty {
        /// Name of the layer.
        layer: String,
    },
    /// A file or folder cannot be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// Underlying error.
        source: std::io::Error,
    },
    /// A file or folder cannot be written.
    #[error("{}: {source}", path.display())]
    Write {
        /// Path of the file.
        path: PathBuf,
        /// Underlying error.
        source: std::io::Error,
    },
    /// A manifest cannot be used.
    #[error("{}: {problem}", path.display())]
    Manifest {
        /// Path of the file.
        path: PathBuf,
        /// Description of the problem.
        problem: String,
    },
    /// The content of a data file contradicts the manifest.
    #[error("{file}: {problem}")]
    Data {
        /// Path within the bundle.
        file: String,
        /// Description of the problem.
        problem: String,
    },
    /// A memory image of a design cannot be used.
    #[error("{}: {problem}", path.display())]
    Image {
        /// Path of the file.
        path: PathBuf,
        /// Description of the problem.
        problem: String,
    },
    /// A folder of whole layers has no such layer.
    #[error("{problem}: {layers}")]
    WhichLayer {
        /// Description of the problem.
        problem: String,
        /// Folders of the layers.
        layers: String,
    },
    /// No layer of a network can be exported.
    #[error("`{network}` has no layer that can be exported; {reason}")]
    NoLayer {
        /// Name of the network.
        network: String,
        /// Reason of the first operation.
        reason: String,
    },
    /// A width in a manifest is invalid.
    #[error(transparent)]
    Width(#[from] WidthError),
    /// A multiplier in a manifest is invalid.
    #[error(transparent)]
    Multiplier(#[from] MultiplierError),
    /// A built-in mutant no longer matches the reference RTL.
    #[error("mutant `{mutant}` cannot be applied to {file}: its text occurs {found} times")]
    Mutant {
        /// Name of the mutant.
        mutant: String,
        /// Name of the RTL file.
        file: String,
        /// Number of occurrences of the text to replace.
        found: usize,
    },
    /// Yosys cannot change a design of the user.
    #[error("--mutate-dut: {problem}")]
    Yosys {
        /// What Yosys reports.
        problem: String,
    },
}

impl VectorError {
    /// Returns a stable identifier of this kind of error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unsupported { .. }
            | Self::FloatUnsupported { .. }
            | Self::FloatDut { .. }
            | Self::NoLayer { .. } => "guardbit::vectors::unsupported",
            Self::TooWide { .. } => "guardbit::vectors::width",
            Self::TooLong { .. } | Self::TooLarge { .. } => "guardbit::vectors::length",
            Self::Empty { .. } => "guardbit::vectors::empty",
            Self::Read { .. } => "guardbit::vectors::read",
            Self::Write { .. } => "guardbit::vectors::write",
            Self::Manifest { .. } | Self::Width(_) | Self::Multiplier(_) => "guardbit::vectors::manifest",
            Self::Data { .. } => "guardbit::vectors::data",
            Self::Image { .. } => "guardbit::vectors::image",
            Self::WhichLayer { .. } => "guardbit::vectors::layer",
            Self::Mutant { .. } => "guardbit::vectors::mutant",
            Self::Yosys { .. } => "guardbit::vectors::yosys",
        }
    }

    /// Returns a hint on how to resolve the error.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Unsupported { .. } | Self::NoLayer { .. } => {
                "the RTL supports an optional adder tree followed by serial levels; change `accumulation` \
                 with --set"
            }
            Self::FloatUnsupported { help, .. } => help,
            Self::FloatDut { .. } => "run `make icarus DUT=FILE` in the folder of the bundle",
            Self::TooWide { .. } => "use narrower registers, e.g. --set accumulation.LEVEL.bits=48",
            Self::TooLong { .. } => "export fewer dot products with --cases",
            Self::TooLarge { .. } => "export layers one by one with --layer, or use a smaller network",
            Self::Image { .. } => {
                "write the output image of the layer with $writememh: one word per line, in the order of its `ofm.mem`"
            }
            Self::WhichLayer { .. } => "name one of these layers with --layer",
            Self::Empty { .. } => "export dot products of real activations with --cases N above 0",
            Self::Read { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
                "name a folder that `guardbit vectors -o DIR` wrote"
            }
            Self::Read { .. } => "check that you may read the file",
            Self::Write { .. } => "check that you may write there, and that the disk has space left",
            Self::Manifest { .. } | Self::Data { .. } | Self::Width(_) | Self::Multiplier(_) => {
                "the folder was not written by `guardbit vectors`, or changed since: export the bundle again"
            }
            Self::Mutant { .. } => "this is a fault of guardbit: please report it",
            Self::Yosys { .. } => {
                "Yosys must be installed and read the design, and the design must pass without changes"
            }
        }
    }
}

/// Reason why a golden model cannot be created, or cannot carry out a request.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GoldenError {
    /// A bundle cannot be read, or bundles do not support its datapath.
    #[error(transparent)]
    Vectors(#[from] VectorError),
    /// An accelerator cannot be loaded.
    #[error(transparent)]
    Accelerator(#[from] Box<HwError>),
    /// The accelerator cannot run the layer.
    #[error(transparent)]
    Lower(#[from] LowerError),
    /// The parameters do not describe a valid layer.
    #[error("{0}")]
    Parameters(String),
    /// The interface does not allow the beat.
    #[error("{0}")]
    Beat(String),
    /// No requantizer can use the multiplier.
    #[error(transparent)]
    Multiplier(#[from] MultiplierError),
    /// A code was requested, but no multiplier is set.
    #[error("cannot compute an output code without a multiplier: set one before the dot product ends")]
    NoMultiplier,
}
