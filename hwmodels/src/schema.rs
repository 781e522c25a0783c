//! JSON Schema of accelerator files, for editors.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::Value;

use crate::file::AcceleratorFile;
use crate::keys::KEYS;
use crate::presets::PRESETS;

/// Returns the schema (draft 2020-12) as text, which equals the committed `accelerator.schema.json`.
pub fn schema() -> String {
    guardbit_files::schema_text::<AcceleratorFile>(|schema| {
        for row in KEYS {
            let owner = if row.section.is_empty() { String::new() } else { format!("/$defs/{}", row.file) };
            if let Some(Value::Object(key)) = schema.pointer_mut(&format!("{owner}/properties/{}", row.name))
            {
                key.insert("description".into(), row.description().into());
            }
        }
    })
}

/// Returns the schema of values that can be extended: presets by name, or files.
pub(crate) fn bases(_: &mut SchemaGenerator) -> Schema {
    let presets: Vec<_> = PRESETS.iter().map(|preset| preset.name).collect();
    json_schema!({ "anyOf": [{ "enum": presets }, { "type": "string", "pattern": "\\.ya?ml$" }] })
}
