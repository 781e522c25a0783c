//! The settings that a manifest lists.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// Settings by name, in their order: the block `settings` of every manifest.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ListedSettings(Vec<(String, Value)>);

impl ListedSettings {
    /// Returns them in the order of their names.
    pub fn sorted(mut self) -> Self {
        self.0.sort_by(|(a, _), (b, _)| a.cmp(b));
        self
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<N: Into<String>> FromIterator<(N, Value)> for ListedSettings {
    fn from_iter<I: IntoIterator<Item = (N, Value)>>(settings: I) -> Self {
        Self(settings.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }
}

impl Serialize for ListedSettings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<'de> Deserialize<'de> for ListedSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Settings;

        impl<'de> Visitor<'de> for Settings {
            type Value = ListedSettings;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of settings")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut all = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    all.push(entry);
                }
                // A map in JSON has no order.
                Ok(ListedSettings(all).sorted())
            }
        }
        deserializer.deserialize_map(Settings)
    }
}

impl JsonSchema for ListedSettings {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Settings".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object" })
    }
}
