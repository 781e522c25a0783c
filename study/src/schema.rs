//! The JSON Schema of study files, for editors.

use guardbit_frontends::Profile;
use guardbit_hwmodels::PRESETS;
use guardbit_num::{MAX_BITS, MIN_BITS, Overflow, Scheme};
use guardbit_reports::Task;
use guardbit_sim::{Mode, StatsLevel};
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use crate::axes::argument_names;
use crate::study_file::RawStudy;

/// The schema (draft 2020-12) as text. The committed `study.schema.json` is the same.
pub fn study_schema() -> String {
    guardbit_files::schema_text::<RawStudy>(|_| ())
}

pub(crate) fn version(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "const": 1 })
}

/// One of something, or a list.
fn one_or_many(one: Value) -> Schema {
    json_schema!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
}

pub(crate) fn texts(_: &mut SchemaGenerator) -> Schema {
    one_or_many(json!({ "type": "string" }))
}

pub(crate) fn accelerators(_: &mut SchemaGenerator) -> Schema {
    one_or_many(accelerator())
}

fn accelerator() -> Value {
    let presets: Vec<_> = PRESETS.iter().map(|preset| preset.name).collect();
    json!({ "anyOf": [{ "enum": presets }, { "type": "string", "pattern": "\\.ya?ml$" }] })
}

fn names<T>(all: impl IntoIterator<Item = T>, name: impl Fn(T) -> &'static str) -> Schema {
    let names: Vec<_> = all.into_iter().map(name).collect();
    json_schema!({ "enum": names })
}

pub(crate) fn task(_: &mut SchemaGenerator) -> Schema {
    names(Task::ALL, Task::name)
}

pub(crate) fn mode(_: &mut SchemaGenerator) -> Schema {
    names(Mode::ALL, Mode::name)
}

pub(crate) fn stats(_: &mut SchemaGenerator) -> Schema {
    names(StatsLevel::ALL, StatsLevel::name)
}

pub(crate) fn profile(_: &mut SchemaGenerator) -> Schema {
    names(Profile::ALL, Profile::name)
}

pub(crate) fn scheme(_: &mut SchemaGenerator) -> Schema {
    let names: Vec<_> = Scheme::ALL.iter().flat_map(|scheme| [scheme.name(), scheme.id()]).collect();
    json_schema!({ "enum": names })
}

pub(crate) fn overflow(_: &mut SchemaGenerator) -> Schema {
    one_or_many(json!({ "enum": Overflow::ALL.map(Overflow::name) }))
}

pub(crate) fn bits(_: &mut SchemaGenerator) -> Schema {
    let width = json!({ "type": "integer", "minimum": MIN_BITS, "maximum": MAX_BITS });
    let range = json!({ "type": "string", "pattern": "^[0-9 ,]+(\\.\\.= *[0-9]+)?" });
    json_schema!({ "anyOf": [width, range, { "type": "array", "items": width, "minItems": 1 }] })
}

/// Any key is one of the accelerator; those of a run are listed, so that an editor offers them.
pub(crate) fn axes(_: &mut SchemaGenerator) -> Schema {
    let values = json!({ "anyOf": [
        { "type": "array", "minItems": 1 },
        { "type": ["string", "integer", "number", "boolean"] },
    ] });
    let arguments: serde_json::Map<String, Value> =
        argument_names().map(|name| (name.to_owned(), values.clone())).collect();
    json_schema!({ "type": "object", "properties": arguments, "additionalProperties": values })
}
