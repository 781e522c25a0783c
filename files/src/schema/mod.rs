//! JSON Schemas of the files that users write, for editors and for locating errors.

mod violations;

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

pub use violations::{Violation, schema_violations};

/// Returns the schema (draft 2020-12) of the type `T`, as text. `finish` adds what the types do not express.
pub fn schema_text<T: JsonSchema>(finish: impl FnOnce(&mut Value)) -> String {
    let settings = SchemaSettings::draft2020_12().with_transform(RecursiveTransform(tidy));
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    finish(&mut schema);
    // The order of keys must not depend on the features of a dependency.
    schema.sort_all_objects();
    let text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    format!("{text}\n")
}

/// Removes noise for editors: `null` for a missing key, and the line breaks of comments.
fn tidy(schema: &mut Schema) {
    let Some(object) = schema.as_object_mut() else { return };
    if let Some(Value::String(text)) = object.get_mut("description") {
        *text = text.replace('\n', " ");
    }
    for key in ["type", "enum", "anyOf"] {
        let Some(Value::Array(choices)) = object.get_mut(key) else { continue };
        choices.retain(|choice| !is_null(choice));
        if key == "enum" || choices.len() > 1 {
            continue;
        }
        match choices.pop() {
            Some(Value::Object(only)) => {
                object.remove(key);
                object.extend(only);
            }
            only => drop(object.insert(key.into(), only.unwrap_or_default())),
        }
    }
}

fn is_null(choice: &Value) -> bool {
    choice.is_null() || choice == "null" || choice == &serde_json::json!({ "type": "null" })
}
