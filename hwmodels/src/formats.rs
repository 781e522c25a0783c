//! Formats of floating-point operands that a unit takes, and the scales of their blocks.

use guardbit_num::FloatFormat;

use crate::file::Name;
use crate::keys::Key;
use crate::names::Named;

/// Formats of floating-point operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperandFormats {
    /// One bit per element of [`FloatFormat::ALL`].
    held: u32,
}

/// Format of an operand, by its name in files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OperandFormat(FloatFormat);

impl OperandFormats {
    /// Every format of operands.
    pub fn all() -> Self {
        Self::of(OperandFormat::all().into_iter().map(|(_, OperandFormat(format))| format))
    }

    /// Returns these formats.
    pub fn of(formats: impl IntoIterator<Item = FloatFormat>) -> Self {
        Self { held: formats.into_iter().fold(0, |held, format| held | Self::bit(format)) }
    }

    /// Returns whether a format is among them.
    pub fn contains(self, format: FloatFormat) -> bool {
        self.held & Self::bit(format) != 0
    }

    /// Returns the formats.
    pub fn iter(self) -> impl Iterator<Item = FloatFormat> {
        FloatFormat::ALL.into_iter().filter(move |&format| self.contains(format))
    }

    fn bit(format: FloatFormat) -> u32 {
        FloatFormat::ALL.iter().position(|&own| own == format).map_or(0, |at| 1 << at)
    }
}

/// Names in files, e.g. `e4m3, e5m2`.
impl std::fmt::Display for OperandFormats {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.iter().map(name).collect::<Vec<_>>().join(", "))
    }
}

/// Returns the name of a format of operands in files: `e4m3` for e4m3fn.
pub fn name(format: FloatFormat) -> &'static str {
    if format.name() == "e4m3fn" { "e4m3" } else { format.name() }
}

impl Named for OperandFormat {
    const WHAT: &'static str = "format of operands";

    fn all() -> Vec<(&'static str, Self)> {
        let is_operand =
            |format: &FloatFormat| format.is_signed() && format.bits() <= 16 && format.name() != "tf32";
        let formats = FloatFormat::ALL.into_iter().filter(is_operand);
        let named = formats.clone().map(|format| (name(format), Self(format)));
        let own = formats.filter(|&format| name(format) != format.name());
        named.chain(own.map(|format| (format.name(), Self(format)))).collect()
    }

    fn allowed() -> String {
        format!("a list of at least one of {}", OperandFormats::all())
    }
}

impl Key for OperandFormats {
    type File = Vec<Name<OperandFormat>>;

    fn checked(names: Self::File, (): ()) -> Result<Self, String> {
        match names.is_empty() {
            true => Err("an empty list".into()),
            false => Ok(Self::of(names.into_iter().map(|Name(OperandFormat(format))| format))),
        }
    }

    fn to_file(self) -> Self::File {
        self.iter().map(|format| Name(OperandFormat(format))).collect()
    }
}
