//! Named values in the syntax of SystemVerilog and VHDL.

use std::fmt::Write;

use crate::manifest::RegisterInfo;

/// Greatest number of mismatches that a bench prints.
pub(super) const SHOWN: usize = 10;

/// Parameters in order.
#[derive(Debug, Clone, Default)]
pub(super) struct Parameters(Vec<(String, Value)>);

#[derive(Debug, Clone)]
enum Value {
    Number(i64),
    /// One value per level, innermost first.
    PerLevel(Vec<i64>),
}

impl Value {
    fn in_vhdl(&self) -> String {
        match self {
            // The least integer has no literal.
            Self::Number(-0x8000_0000) => "integer'low".into(),
            Self::Number(value) => value.to_string(),
            Self::PerLevel(values) => {
                let values: Vec<_> = values.iter().enumerate().map(|(i, v)| format!("{i} => {v}")).collect();
                format!("({})", values.join(", "))
            }
        }
    }
}

impl Parameters {
    pub fn number(&mut self, name: &str, value: impl TryInto<i64>) -> &mut Self {
        // Every value of a manifest fits. Sizes are those of files.
        self.0.push((name.into(), Value::Number(value.try_into().unwrap_or(i64::MAX))));
        self
    }

    pub fn flag(&mut self, name: &str, value: bool) -> &mut Self {
        self.number(name, u8::from(value))
    }

    pub fn per_level(&mut self, name: &str, values: impl IntoIterator<Item = impl Into<i64>>) -> &mut Self {
        self.0.push((name.into(), Value::PerLevel(values.into_iter().map(Into::into).collect())));
        self
    }

    pub fn extend(&mut self, other: Self) -> &mut Self {
        self.0.extend(other.0);
        self
    }

    /// Adds the register's parameters `BITS`, `IS_SIGNED` (with a prefix, `SIGNED`) and `MODE`.
    pub fn register(&mut self, prefix: &str, info: &RegisterInfo) -> &mut Self {
        let signed = if prefix.is_empty() { "IS_SIGNED".into() } else { format!("{prefix}SIGNED") };
        self.number(&format!("{prefix}BITS"), info.bits.unwrap_or(0))
            .flag(&signed, info.signed)
            .number(&format!("{prefix}MODE"), mode(info))
    }

    /// Adds the register's parameters, and those of the bits dropped after it: `SHIFT` and `ROUND`.
    pub fn shifted_register(&mut self, prefix: &str, info: &RegisterInfo) -> &mut Self {
        self.register(prefix, info)
            .number(&format!("{prefix}SHIFT"), info.shift)
            .number(&format!("{prefix}ROUND"), info.round.code())
    }

    /// Returns the assignments of an instance, one per line.
    pub fn of_instance(&self) -> String {
        let lines: Vec<String> = self
            .0
            .iter()
            .map(|(name, value)| match value {
                Value::Number(value) => format!("        .{name}({value})"),
                Value::PerLevel(values) => format!("        .{name}({})", levels(values)),
            })
            .collect();
        lines.join(",\n") + "\n"
    }

    /// Returns the constants of a package in SystemVerilog.
    pub fn of_package(&self) -> String {
        self.0.iter().fold(String::new(), |mut text, (name, value)| {
            let _ = match value {
                Value::Number(value) if i32::try_from(*value).is_ok() => {
                    writeln!(text, "    localparam int {name} = {value};")
                }
                Value::Number(value) => writeln!(text, "    localparam longint {name} = {value};"),
                Value::PerLevel(values) => {
                    let top = 32 * values.len() - 1;
                    writeln!(text, "    localparam logic [{top}:0] {name} = {};", levels(values))
                }
            };
            text
        })
    }

    /// Returns the values of generics of an instance in VHDL.
    pub fn of_vhdl_instance(&self) -> Vec<String> {
        self.0.iter().map(|(name, value)| format!("{name} => {}", value.in_vhdl())).collect()
    }

    /// Returns the constants of a package in VHDL.
    pub fn of_vhdl_package(&self) -> String {
        self.0.iter().fold(String::new(), |mut text, (name, value)| {
            let kind = if matches!(value, Value::Number(_)) { "integer" } else { "integer_vector" };
            let _ = writeln!(text, "    constant {name} : {kind} := {};", value.in_vhdl());
            text
        })
    }
}

/// Returns the number of an overflow mode in the RTL. A register without a width has none; no value exceeds
/// it, so any number will do.
pub(super) fn mode(info: &RegisterInfo) -> u32 {
    info.overflow.unwrap_or(guardbit_num::Overflow::Saturate).code()
}

/// Returns a vector with 32 bits per level, the innermost level in the least significant bits.
fn levels(values: &[i64]) -> String {
    let words: Vec<String> = values.iter().rev().map(|value| format!("32'd{value}")).collect();
    format!("{{{}}}", words.join(", "))
}
