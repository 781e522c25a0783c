//! Settings listed in a manifest: one form for all commands.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value as Json;

use super::{Arguments, Command, Row};

/// Settings by name, in the order of the rows: all that are given or have a default.
#[derive(Debug)]
pub(crate) struct Listed(Vec<(&'static str, Json)>);

impl Listed {
    /// Returns the settings of a command.
    pub fn new(command: Command, arguments: &Arguments) -> Self {
        let listed = Row::all(command).filter(|row| row.listed);
        let all = listed.map(|row| (row.plural(), row.shown(arguments)));
        Self(all.filter(|(_, value)| !value.is_null()).collect())
    }
}

impl Serialize for Listed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}
