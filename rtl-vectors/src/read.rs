//! Reads a bundle: files within its folder, and its manifest strictly by its schema.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path};

use guardbit_files::{Violation, schema_violations};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::VectorError;
use crate::manifest::{FileInfo, MANIFEST, Manifest, SCHEMA, manifest_schema};

/// Greatest size of a manifest in bytes.
const MAX_MANIFEST: u64 = 1 << 26;
/// Greatest length of a description of a violation.
const MAX_PROBLEM: usize = 200;

/// Opens a regular file of the bundle in `dir`. Links are refused because they may lead out of the folder.
pub(crate) fn open(dir: &Path, path: &str) -> io::Result<File> {
    let mut place = dir.to_owned();
    for component in Path::new(path).components() {
        let Component::Normal(name) = component else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "is outside the bundle"));
        };
        place.push(name);
        if place.symlink_metadata()?.is_symlink() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "is a link; a bundle must contain its files",
            ));
        }
    }
    guardbit_files::open(&place)
}

/// Returns the bytes of a regular file of the bundle in `dir`, at most `limit` of them.
pub(crate) fn bytes(dir: &Path, path: &str, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(dir, path)?.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > limit {
        true => Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("has more than {limit} bytes"))),
        false => Ok(bytes),
    }
}

/// Returns the manifest of the bundle in `dir`.
///
/// # Errors
/// [`VectorError`] if it cannot be read, or violates its schema.
pub(crate) fn read_manifest(dir: &Path) -> Result<Manifest, VectorError> {
    validated_manifest(dir)?.map_err(|violations| {
        let all: Vec<String> =
            violations.iter().take(3).map(|v| format!("{}: {}", v.at, v.problem)).collect();
        unusable(dir, all.join("; "))
    })
}

/// Returns the manifest of the bundle in `dir`, or its violations of the schema.
///
/// # Errors
/// [`VectorError`] if it is missing, not JSON, of another version, or that of a floating-point layer.
pub(crate) fn validated_manifest(dir: &Path) -> Result<Result<Manifest, Vec<Violation>>, VectorError> {
    let json = json(dir)?;
    if json.get("kind").is_some() {
        let problem = "is of a floating-point layer; expected one of an integer layer";
        return Err(unusable(dir, problem.into()));
    }
    validated(dir, json, &manifest_schema(), |manifest: &Manifest| manifest.files.clone())
}

/// Returns the manifest's JSON, of this version.
pub(crate) fn json(dir: &Path) -> Result<Value, VectorError> {
    let text = bytes(dir, MANIFEST, MAX_MANIFEST);
    let text = text.map_err(|source| VectorError::Read { path: dir.join(MANIFEST), source })?;
    let json: Value = serde_json::from_slice(&text).map_err(|e| unusable(dir, bounded(e.to_string())))?;
    if let Some(schema) = json["schema"].as_u64().filter(|&s| s != u64::from(SCHEMA)) {
        return Err(unusable(dir, format!("schema {schema} is not supported; this guardbit reads {SCHEMA}")));
    }
    let ours = env!("CARGO_PKG_VERSION");
    if let Some(theirs) = json["tool"]["version"].as_str().filter(|&v| v != ours) {
        let problem = format!(
            "written by guardbit {}, but this is {ours}: export the bundle again",
            bounded(theirs.into())
        );
        return Err(unusable(dir, problem));
    }
    Ok(json)
}

/// Returns the manifest that a JSON holds, or its violations of the schema.
pub(crate) fn validated<M: DeserializeOwned>(
    dir: &Path,
    json: Value,
    schema: &str,
    files: impl Fn(&M) -> Vec<FileInfo>,
) -> Result<Result<M, Vec<Violation>>, VectorError> {
    let violations = violations(&json, schema).map_err(|problem| unusable(dir, problem))?;
    if !violations.is_empty() {
        return Ok(Err(violations));
    }
    let manifest: M = match serde_json::from_value(json) {
        Ok(manifest) => manifest,
        Err(e) => return Ok(Err(vec![Violation { at: "/".into(), problem: e.to_string() }])),
    };
    let plain = |p: &str| Path::new(p).components().all(|c| matches!(c, Component::Normal(_)));
    let outside: Vec<Violation> = (files(&manifest).iter().enumerate())
        .filter(|(_, file)| !plain(&file.path))
        .map(|(index, file)| Violation {
            at: format!("/files/{index}/path"),
            problem: bounded(format!("\"{}\" is outside the bundle", file.path)),
        })
        .collect();
    Ok(if outside.is_empty() { Ok(manifest) } else { Err(outside) })
}

/// Returns the violations of the schema in `json`, in the order of the pointers.
fn violations(json: &Value, schema: &str) -> Result<Vec<Violation>, String> {
    let schema: Value = serde_json::from_str(schema).map_err(|e| e.to_string())?;
    let bounded = |v: Violation| Violation { at: bounded(v.at), problem: bounded(v.problem) };
    Ok(schema_violations(&schema, json).into_iter().map(bounded).collect())
}

/// Truncates a long text, and replaces control characters with `?`.
fn bounded(text: String) -> String {
    text.chars().take(MAX_PROBLEM).map(|c| if c.is_control() { '?' } else { c }).collect()
}

pub(crate) fn unusable(dir: &Path, problem: String) -> VectorError {
    VectorError::Manifest { path: dir.join(MANIFEST), problem }
}
