//! Target: the manifest of a bundle, from any text or from a valid manifest with changed values.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use guardbit_frontends::read_yaml;
use guardbit_hwmodels::{load, lower};
use guardbit_rtl_vectors::manifest::{MANIFEST, Packing, Source};
use guardbit_rtl_vectors::{CheckRequest, Request, check, export};
use serde_json::Value;

use crate::samples::NETWORK;
use crate::{Choices, message, scratch};

pub(crate) fn run(bytes: &[u8]) {
    thread_local! {
        static BUNDLE: OnceCell<(PathBuf, Value)> = const { OnceCell::new() };
    }
    BUNDLE.with(|bundle| {
        let (folder, manifest) = bundle.get_or_init(a_bundle);
        let text = match bytes.first() {
            Some(b'{') => bytes.to_vec(),
            _ => changed(manifest.clone(), &mut Choices::new(bytes)).to_string().into_bytes(),
        };
        std::fs::write(folder.join(MANIFEST), text).expect("room for a manifest");
        if let Err(error) = check(folder, &CheckRequest::default()) {
            message::check(error);
        }
    });
}

/// Writes a bundle and returns its folder and its manifest.
fn a_bundle() -> (PathBuf, Value) {
    let graph = read_yaml(NETWORK, Path::new(""), "fuzz").expect("a network");
    let accelerator =
        load("fpga-int14-os", &["array.rows=2".into(), "array.cols=2".into()]).expect("an accelerator");
    let program = lower(Arc::new(graph), &accelerator).expect("a program");
    let layer = program.mac_layers().next().expect("a layer").node;
    let bundle = export(&program, layer, &[(&[1, 2]).into()], &request()).expect("a bundle");
    let folder = scratch::folder().join("bundle");
    write(&folder, &bundle.files);
    let manifest = serde_json::to_value(&bundle.manifest).expect("JSON");
    (folder, manifest)
}

/// Returns the request for the bundles that the targets export.
pub(crate) fn request() -> Request {
    let source = Source {
        model: "fuzz".into(),
        model_sha256: "0".repeat(64),
        accelerator: "fuzz".into(),
        accelerator_sha256: "0".repeat(64),
        input: "fuzz".into(),
        seed: 0,
        cases: 1,
    };
    Request {
        source,
        settings: Default::default(),
        packing: Packing::Dense,
        formats: Vec::new(),
        waves: Vec::new(),
    }
}

/// Writes the files of a bundle.
pub(crate) fn write(folder: &Path, files: &[(String, Vec<u8>)]) {
    for (name, bytes) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().expect("within the folder")).expect("a folder");
        std::fs::write(path, bytes).expect("room for a bundle");
    }
}

/// Returns `manifest` with some of its values changed.
pub(crate) fn changed(mut manifest: Value, choices: &mut Choices<'_>) -> Value {
    for _ in 0..=choices.below(3) {
        let mut at = &mut manifest;
        loop {
            let size = match at {
                Value::Array(items) => items.len(),
                Value::Object(fields) => fields.len(),
                _ => 0,
            };
            if size == 0 || choices.once_in(12) {
                break;
            }
            let next = choices.below(size as u64) as usize;
            at = match at {
                Value::Array(items) => &mut items[next],
                Value::Object(fields) => fields.values_mut().nth(next).expect("below its size"),
                _ => unreachable!("it has parts"),
            };
        }
        *at = other(at, choices);
    }
    manifest
}

/// Returns a replacement for `value`.
fn other(value: &Value, choices: &mut Choices<'_>) -> Value {
    match value {
        Value::Number(number) if !choices.once_in(8) => {
            let now = number.as_i64().unwrap_or_default();
            let powers = [7, 8, 15, 16, 31, 32, 40, 62, 63].map(|bits| 1i64.wrapping_shl(bits));
            match choices.below(6) {
                0 => now.wrapping_add(1).into(),
                1 => now.wrapping_sub(1).into(),
                2 => now.wrapping_neg().into(),
                3 => choices.one(&powers).wrapping_sub(choices.below(2) as i64).into(),
                4 => u64::MAX.into(),
                _ => (choices.number() as i64).into(),
            }
        }
        Value::Bool(value) => (!value).into(),
        Value::String(text) if choices.once_in(2) => {
            let add = choices.one(&["\n", "\"", "*/", "../", "$", "\u{1b}[2J", "\u{202e}", "/dev/zero", "`"]);
            format!("{text}{add}").into()
        }
        _ => choices.one(&[
            Value::Null,
            0.into(),
            "".into(),
            Value::Array(Vec::new()),
            Value::Object(Default::default()),
        ]),
    }
}
