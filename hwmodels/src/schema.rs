//! The JSON Schema of accelerator files, for editors.

use schemars::{Schema, SchemaGenerator, json_schema};

use crate::file::AcceleratorFile;
use crate::presets::PRESETS;

/// The schema (draft 2020-12) as text. The committed `accelerator.schema.json` is the same.
pub fn schema() -> String {
    guardbit_files::schema_text::<AcceleratorFile>(|_| ())
}

/// What can be extended: presets by name, or files.
pub(crate) fn bases(_: &mut SchemaGenerator) -> Schema {
    let presets: Vec<_> = PRESETS.iter().map(|preset| preset.name).collect();
    json_schema!({ "anyOf": [{ "enum": presets }, { "type": "string", "pattern": "\\.ya?ml$" }] })
}
