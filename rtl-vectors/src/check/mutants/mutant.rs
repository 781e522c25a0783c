//! A fault of the reference RTL: a patch of one of its files.

use super::facts::Facts;

/// Fault outside the registers' rails.
pub(super) struct Mutant {
    pub patch: Patch,
    /// Returns whether the design has the part that the mutant changes.
    pub applies: fn(&Facts) -> bool,
    /// Returns the reason why the change cannot be observed, if that is proved.
    pub equivalent: fn(&Facts) -> Option<String>,
}

/// Change of one file, in one or more places.
pub(crate) struct Patch {
    /// Path below `mutants`, without its ending: module, then name. A `-` separates what tells mutants of one
    /// name apart.
    pub path: &'static str,
    /// Description of the change.
    pub change: &'static str,
    /// Content of the file: a patch in the unified format.
    pub text: &'static str,
}

/// Returns the [`Patch`] of a file in `mutants`.
macro_rules! patch {
    ($path:literal: $change:literal) => {
        $crate::check::mutants::mutant::Patch {
            path: $path,
            change: $change,
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/mutants/", $path, ".patch")),
        }
    };
}

/// Returns mutants, a row each: patch, description, whether it applies, and whether it is equivalent.
macro_rules! mutants {
    ($($path:literal: $change:literal, $applies:expr, $equivalent:expr;)*) => {
        &[$($crate::check::mutants::mutant::Mutant {
            patch: $crate::check::mutants::mutant::patch!($path: $change),
            applies: $applies,
            equivalent: $equivalent,
        }),*]
    };
}

pub(super) use {mutants, patch};

impl Patch {
    /// Returns the name of the mutant.
    pub fn name(&self) -> &'static str {
        let file = self.path.rsplit('/').next().unwrap_or_default();
        file.split('-').next().unwrap_or_default()
    }

    /// Returns the path of the changed file within a bundle.
    pub fn file(&self) -> &'static str {
        self.text.lines().next().and_then(|line| line.strip_prefix("--- ")).unwrap_or_default()
    }

    /// Returns whether a file in VHDL changes.
    pub fn is_vhdl(&self) -> bool {
        self.file().ends_with(".vhd")
    }

    /// Returns the changed text of the file.
    ///
    /// Numbers of lines are not used: the lines around a change must occur exactly once.
    ///
    /// # Errors
    /// The number of places where a part of the change fits, unless it is one.
    pub fn apply(&self, text: &str) -> Result<String, usize> {
        let mut text = text.to_owned();
        for part in self.text.split("\n@@ ").skip(1) {
            let (mut old, mut new) = (String::new(), String::new());
            for line in part.lines().skip(1) {
                let (sign, line) = line.split_at(usize::from(!line.is_empty()));
                for (_, side) in
                    [("+", &mut old), ("-", &mut new)].into_iter().filter(|(other, _)| sign != *other)
                {
                    *side += line;
                    *side += "\n";
                }
            }
            match text.matches(&old).count() {
                1 => text = text.replacen(&old, &new, 1),
                found => return Err(found),
            }
        }
        Ok(text)
    }
}
