//! What is known of a bundle, from which proofs follow.

use guardbit_num::Scheme;

use crate::manifest::{ArrayInfo, LevelInfo, Manifest};
use crate::reach::{Reach, Sets};

/// Design from which a mutant is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    Unit,
    VhdlUnit,
    Array,
    VhdlArray,
}

impl Target {
    pub fn is_vhdl(self) -> bool {
        matches!(self, Self::VhdlUnit | Self::VhdlArray)
    }

    pub fn is_array(self) -> bool {
        matches!(self, Self::Array | Self::VhdlArray)
    }
}

/// Facts on which proofs rely.
pub(super) struct Facts {
    pub manifest: Manifest,
    pub reach: Reach,
    pub sets: Sets,
}

impl Facts {
    pub fn new(manifest: Manifest) -> Self {
        let terms = manifest.layer.terms;
        let (reach, sets) = (Reach::new(&manifest.arithmetic, terms), Sets::new(&manifest.arithmetic, terms));
        Self { manifest, reach, sets }
    }

    pub fn levels(&self) -> &[LevelInfo] {
        &self.manifest.arithmetic.levels
    }

    pub fn array(&self) -> Option<&ArrayInfo> {
        self.manifest.array.as_ref()
    }

    pub fn scheme(&self) -> Scheme {
        self.manifest.arithmetic.requantize.scheme
    }

    /// Returns whether all sums up to 0 have one code.
    pub fn hides_negative(&self) -> bool {
        let requantize = &self.manifest.arithmetic.requantize;
        requantize.clamp_min >= requantize.zero_point
    }
}
