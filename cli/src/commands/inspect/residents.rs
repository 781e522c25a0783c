//! Describes activations that stay on the chip.

use guardbit_hwmodels::{Program, Resident};
use guardbit_reports::text_table;

use super::printable;

/// Converts bits to whole bytes.
pub fn bytes(bits: u128) -> u64 {
    u64::try_from(bits.div_ceil(8)).unwrap_or(u64::MAX)
}

/// Returns which activations stay, and the maximum bytes at a time; empty if none stay.
pub fn text(program: &Program) -> String {
    let Some((node, peak)) = program.resident_peak() else { return String::new() };
    let name = |node| printable(program.graph.short_name(node));
    let cells = |resident: &Resident| {
        vec![
            name(resident.from),
            name(resident.until),
            bytes(resident.bits).to_string(),
            if resident.is_stored { "yes" } else { "no" }.into(),
        ]
    };
    let rows: Vec<_> = program.residents.iter().map(cells).collect();
    format!(
        "\nactivations that stay on the chip, {} bytes at most, while {} runs:\n{}",
        bytes(peak),
        name(node),
        text_table(&["made by", "until", "bytes", "stored outside too"], &rows)
    )
}
