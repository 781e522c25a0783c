//! What the terminal shows: its width, and whether it has colours.

use std::env;
use std::io::IsTerminal;

use guardbit_reports::{View, text_table, wrapped_table};

/// Width where stdout is not a terminal and `COLUMNS` is not set.
const WIDTH: usize = 100;
/// Least width to which tables are fitted.
const LEAST: usize = 40;

/// Returns the width of the terminal of stdout; without one that of `COLUMNS`, or 100.
pub fn width() -> usize {
    let seen = terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0));
    let given = || env::var("COLUMNS").ok()?.parse().ok();
    seen.or_else(given).filter(|&width| width > 0).unwrap_or(WIDTH).max(LEAST)
}

/// Returns a table whose last column continues on further lines where stdout is a terminal that it does not fit.
pub fn table(columns: &[&str], rows: &[Vec<String>]) -> String {
    match terminal_size::terminal_size_of(std::io::stdout()) {
        Some(_) => wrapped_table(columns, rows, width()),
        None => text_table(columns, rows),
    }
}

/// Returns how tables are shown.
pub fn view(all: bool) -> View {
    View { width: width(), all }
}

/// Returns whether a stream gets colours: a terminal does, unless `NO_COLOR` is set; others do if `CLICOLOR_FORCE`
/// is set.
pub fn has_colours(stream: &impl IsTerminal) -> bool {
    let text = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let dumb = text("TERM").is_some_and(|term| term == "dumb");
    match (text("NO_COLOR"), text("CLICOLOR_FORCE").filter(|value| value != "0")) {
        (Some(_), _) => false,
        (None, Some(_)) => true,
        (None, None) => stream.is_terminal() && !dumb && text("CLICOLOR").is_none_or(|value| value != "0"),
    }
}
