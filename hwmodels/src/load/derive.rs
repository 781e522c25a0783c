//! Accumulation levels of a dataflow, for files that do not define them.

use crate::Reduce;
use crate::file::{AcceleratorFile, Bits, Name, TermsFile};
use crate::keys::LevelFile;

/// Returns the levels of the dataflow, all of them `auto`: an adder tree in each processing element if it
/// takes several products, the column's chain if sums move, and the accumulator.
pub(super) fn levels(file: &AcceleratorFile) -> Vec<LevelFile> {
    // By default sums stay.
    let moves_sums = file.dataflow.is_some_and(|Name(dataflow)| dataflow.moves_sums());
    let dot_width = file.array.as_ref().and_then(|array| array.dot_width).map_or(1, |width| width.0);
    let mut levels = Vec::new();
    if dot_width > 1 {
        levels.push(level("tree", Reduce::Tree, TermsFile::DotWidth));
    }
    if moves_sums {
        levels.push(level("chain", Reduce::Serial, TermsFile::Rows));
    }
    levels.push(level("acc", Reduce::Serial, TermsFile::All));
    levels
}

fn level(name: &str, reduce: Reduce, terms: TermsFile) -> LevelFile {
    LevelFile {
        name: Some(name.into()),
        reduce: Some(Name(reduce)),
        terms: Some(terms),
        bits: Some(Bits::Auto),
        ..LevelFile::default()
    }
}
