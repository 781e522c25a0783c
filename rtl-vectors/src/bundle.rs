//! A bundle in memory, what it is requested with, and the formats of its files.

use guardbit_files::ListedSettings;

use crate::manifest::{Manifest, Packing, Source};
use crate::waves::WaveFormat;

/// Settings of an export.
#[derive(Debug, Clone)]
pub struct Request {
    /// Source of the bundle, written to the manifest unchanged except for the accelerator's name.
    pub source: Source,
    /// Settings that the manifest lists.
    pub settings: ListedSettings,
    /// Position of lanes in a word.
    pub packing: Packing,
    /// Formats in addition to `.mem`.
    pub formats: Vec<Format>,
    /// Formats of waveforms.
    pub waves: Vec<WaveFormat>,
}

/// Format of data files in addition to `.mem`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Signed decimal numbers, one word per line.
    Dec,
    /// NumPy arrays of int64 with shape `[words]` or `[words, lanes]`.
    Npy,
    /// Binary: whole bytes per value, least significant byte first, sign-extended.
    Bin,
    /// Intel (Quartus) memory initialization file.
    Mif,
    /// AMD (Vivado) coefficient file.
    Coe,
    /// AXI4-Stream transfers.
    Axis,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 6] = [Self::Dec, Self::Npy, Self::Bin, Self::Mif, Self::Coe, Self::Axis];

    /// Returns the name, which is the file extension too.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dec => "dec",
            Self::Npy => "npy",
            Self::Bin => "bin",
            Self::Mif => "mif",
            Self::Coe => "coe",
            Self::Axis => "axis",
        }
    }
}

impl std::str::FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|f| f.name() == name);
        found.ok_or_else(|| format!("unknown format `{name}`; expected dec, npy, bin, mif, coe or axis"))
    }
}

/// Bundle in memory.
#[derive(Debug, Clone)]
pub struct Bundle {
    /// The manifest.
    pub manifest: Manifest,
    /// All files by path, including the manifest.
    pub files: Vec<(String, Vec<u8>)>,
}

/// Number of words of the bundle's data files.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    pub beats: usize,
    pub dots: usize,
    pub outputs: usize,
}
