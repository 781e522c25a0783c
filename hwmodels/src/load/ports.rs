//! The rates of memories, which a file may write relative to the array.

use super::KeyPath;
use super::check::{Violation, out_of_range, shown};
use super::rules::Rule;
use crate::expression::{Expression, Quantity};
use crate::file::{Number, PortFile};
use crate::keys::{Key, MemoryFile};
use crate::{Array, Memory};

/// Size of the array to which a rate can be relative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Size {
    Rows,
    Cols,
    DotWidth,
    Cores,
}

impl Quantity for Size {
    fn name(self) -> &'static str {
        match self {
            Self::Rows => "rows",
            Self::Cols => "cols",
            Self::DotWidth => "dot_width",
            Self::Cores => "cores",
        }
    }
}

const SIZES: [Size; 4] = [Size::Rows, Size::Cols, Size::DotWidth, Size::Cores];

/// Default: operands of 8 bits for the longer edge of the array, at least 16.
const OPERANDS: &str = "max(16, rows, cols) * dot_width";
/// Default: a sum of 32 bits per column, written and read, for at least 16 columns.
const SUMS: &str = "8 * max(16, cols)";
const OUTSIDE: &str = "8";

/// Returns the memories for an array of this size.
pub(super) fn memory(file: &MemoryFile, array: Array) -> Result<Memory, Violation> {
    let rate = |name: &str, given: &Option<PortFile>, default: &str| {
        let default = || PortFile::Formula(default.to_owned());
        rate(&KeyPath::keys(&["memory", name]), &given.clone().unwrap_or_else(default), array)
    };
    Memory::of(
        file,
        &KeyPath::keys(&["memory"]),
        rate("sram_bytes_per_cycle", &file.sram_bytes_per_cycle, OPERANDS)?,
        rate("accumulator_bytes_per_cycle", &file.accumulator_bytes_per_cycle, SUMS)?,
        rate("dram_bytes_per_cycle", &file.dram_bytes_per_cycle, OUTSIDE)?,
    )
}

fn rate(key: &KeyPath, port: &PortFile, array: Array) -> Result<f64, Violation> {
    let text = match port {
        PortFile::Number(number) => {
            return f64::checked(Number(*number), ()).map_err(|found| out_of_range(key.clone(), found));
        }
        PortFile::Formula(text) => text,
    };
    let of = |size: Size| {
        let size = match size {
            Size::Rows => array.rows,
            Size::Cols => array.cols,
            Size::DotWidth => array.dot_width,
            Size::Cores => array.cores,
        };
        Some(size as f64)
    };
    let formula = Expression::parse(text, &SIZES).map_err(|error| {
        let Rule { code, hint, .. } = Rule::of(key);
        let message = format!("`{key}` is {}, which {error}", shown(text));
        Violation { code, message, help: hint.into(), keys: vec![key.clone()] }
    })?;
    let value = formula.value(&of);
    let checked =
        value.ok_or_else(|| "undefined".to_owned()).and_then(|value| f64::checked(Number(value), ()));
    checked.map_err(|found| out_of_range(key.clone(), format!("{}, here {found}", shown(text))))
}
