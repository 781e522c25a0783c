//! Reading a manifest: strictly by its schema.

use std::fs;
use std::path::{Component, Path};

use serde_json::Value;

use crate::VectorError;
use crate::manifest::{MANIFEST, Manifest, SCHEMA, manifest_schema};

/// Where a manifest breaks its schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Violation {
    /// JSON pointer of the value.
    pub at: String,
    /// What is wrong with it.
    pub problem: String,
}

/// The manifest of the bundle in `dir`.
///
/// # Errors
/// [`VectorError`] if it cannot be read, or breaks its schema.
pub(crate) fn read_manifest(dir: &Path) -> Result<Manifest, VectorError> {
    validated_manifest(dir)?.map_err(|violations| {
        let all: Vec<String> = violations.iter().map(|v| format!("{}: {}", v.at, v.problem)).collect();
        unusable(dir, all.join("; "))
    })
}

/// The manifest of the bundle in `dir`, or where it breaks its schema.
///
/// # Errors
/// [`VectorError`] if it is not there, no JSON, or of another version.
pub(crate) fn validated_manifest(dir: &Path) -> Result<Result<Manifest, Vec<Violation>>, VectorError> {
    let path = dir.join(MANIFEST);
    let text = fs::read(&path).map_err(|source| VectorError::Read { path, source })?;
    let json: Value = serde_json::from_slice(&text).map_err(|e| unusable(dir, e.to_string()))?;
    if let Some(schema) = json["schema"].as_u64().filter(|&s| s != u64::from(SCHEMA)) {
        return Err(unusable(dir, format!("schema {schema}, but this guardbit reads {SCHEMA}")));
    }
    let ours = env!("CARGO_PKG_VERSION");
    if let Some(theirs) = json["tool"]["version"].as_str().filter(|&v| v != ours) {
        let problem = format!("written by guardbit {theirs}, this is {ours}: export the bundle again");
        return Err(unusable(dir, problem));
    }
    let violations = violations(&json).map_err(|problem| unusable(dir, problem))?;
    if !violations.is_empty() {
        return Ok(Err(violations));
    }
    let manifest: Manifest = match serde_json::from_value(json) {
        Ok(manifest) => manifest,
        Err(e) => return Ok(Err(vec![Violation { at: "/".into(), problem: e.to_string() }])),
    };
    let plain = |p: &str| Path::new(p).components().all(|c| matches!(c, Component::Normal(_)));
    let outside: Vec<Violation> = (manifest.files.iter().enumerate())
        .filter(|(_, file)| !plain(&file.path))
        .map(|(index, file)| Violation {
            at: format!("/files/{index}/path"),
            problem: format!("\"{}\" does not lie in the bundle", file.path),
        })
        .collect();
    Ok(if outside.is_empty() { Ok(manifest) } else { Err(outside) })
}

/// Where `json` breaks the schema, in the order of the pointers.
fn violations(json: &Value) -> Result<Vec<Violation>, String> {
    let schema: Value = serde_json::from_str(&manifest_schema()).map_err(|e| e.to_string())?;
    let validator = jsonschema::validator_for(&schema).map_err(|e| e.to_string())?;
    let mut found: Vec<Violation> = validator
        .iter_errors(json)
        .map(|error| {
            let at = error.instance_path().to_string();
            Violation { at: if at.is_empty() { "/".into() } else { at }, problem: error.to_string() }
        })
        .collect();
    found.sort_by(|a, b| (&a.at, &a.problem).cmp(&(&b.at, &b.problem)));
    Ok(found)
}

fn unusable(dir: &Path, problem: String) -> VectorError {
    VectorError::Manifest { path: dir.join(MANIFEST), problem }
}
