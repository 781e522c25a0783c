//! The JSON Schema of study files, for editors.

use std::borrow::Cow;

use guardbit_hwmodels::PRESETS;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::arguments::{Command, InStudy, ROWS, Row, respelled};
use crate::axes::argument_names;

/// Returns the schema (draft 2020-12) as text, equal to the committed `study.schema.json`.
pub fn study_schema() -> String {
    guardbit_files::schema_text::<Study>(|_| ())
}

/// Study file.
struct Study;

impl JsonSchema for Study {
    fn schema_name() -> Cow<'static, str> {
        "RawStudy".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let mut properties = settings(InStudy::Setting);
        let version = json!({ "const": 1, "description": "Version of this file format: 1." });
        properties.insert("schema".into(), version);
        let sweep = json!({
            "type": "object",
            "description": "Axes to vary; all combinations are run.",
            "properties": settings(InStudy::Sweep),
            "additionalProperties": false,
        });
        properties.insert("sweep".into(), sweep);
        let study = json!({
            "type": "object",
            "title": "guardbit study",
            "description": "A sweep with its settings, for `guardbit sweep`. Paths are relative to this file.",
            "properties": properties,
            "required": ["schema", "model", "hw", "sweep"],
            "additionalProperties": false,
        });
        Schema::try_from(study).unwrap_or_default()
    }
}

/// Returns the keys of a map in study files.
fn settings(place: InStudy) -> Map<String, Value> {
    let rows = ROWS.iter().filter(|row| row.in_study == place);
    rows.map(|row| {
        let mut schema = schema(row);
        if let Some(schema) = schema.as_object_mut() {
            schema.insert("description".into(), description(row).into());
        }
        (if row.name == "axis" { "axes" } else { row.name }.to_owned(), schema)
    })
    .collect()
}

fn description(row: &Row) -> String {
    let help = match row.study_help {
        "" => row.described(Command::Sweep),
        // The default of the option is not that of the description.
        other => {
            other.to_owned()
                + &(row.default)(Command::Sweep)
                    .map_or(String::new(), |default| format!(" [default: {default}]"))
        }
    };
    respelled(&help, |name| format!("`{name}`"))
}

fn schema(row: &Row) -> Value {
    match row.name {
        "hw" => {
            let presets: Vec<_> = PRESETS.iter().map(|preset| preset.name).collect();
            let one = json!({ "anyOf": [{ "enum": presets }, { "type": "string", "pattern": "\\.ya?ml$" }] });
            json!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
        }
        "axis" => axes(),
        "set" => json!({ "type": "object", "additionalProperties": true }),
        "dim" => json!({ "type": "object", "additionalProperties": { "type": "integer", "minimum": 1 } }),
        "zip" => json!({ "type": "array", "items": { "type": "array", "items": { "type": "string" } } }),
        _ => (row.schema)(),
    }
}

/// Returns the schema of axes. Any accelerator key is allowed; arguments of a run are listed so that editors
/// offer them.
fn axes() -> Value {
    let values = json!({ "anyOf": [
        { "type": "array", "minItems": 1 },
        { "type": ["string", "integer", "number", "boolean"] },
    ] });
    let arguments: Map<String, Value> =
        argument_names().map(|name| (name.to_owned(), values.clone())).collect();
    json!({ "type": "object", "properties": arguments, "additionalProperties": values })
}
