//! Settings that the manifest of a command lists.

use guardbit_files::ListedSettings;

use super::{Arguments, Command, Row};

/// Returns the settings of a command, in the order of the rows: all that are given or have a default.
pub(crate) fn listed(command: Command, arguments: &Arguments) -> ListedSettings {
    let rows = Row::all(command).filter(|row| row.listed);
    rows.map(|row| (row.plural(), row.shown(arguments))).filter(|(_, value)| !value.is_null()).collect()
}
