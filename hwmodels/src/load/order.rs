//! Order of addition: axes, walk, and the permutations of a file.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use guardbit_documents::{Document, Form};
use serde_yaml::Value;

use super::KeyPath;
use super::check::{Violation, name, whole};
use super::defaults;
use super::parse::MOST_BYTES;
use crate::file::{AcceleratorFile, Name, NamedLists, PermutationsFile};
use crate::keys::OrderMap;
use crate::order::{Permutations, WalkKind};
use crate::{Axis, ReductionOrder, Walk};

const CODE: &str = "guardbit::hw::order";

const FILE: Form = Form { name: "a file of permutations", most_bytes: MOST_BYTES };

/// Hint with the format of a file of permutations.
const FORM: &str = "write `[2, 0, 1]`, or lists by layer name or number of products, e.g. `{conv1: [2, 0, \
                    1]}`, in JSON or YAML";

/// Returns the order of a file. `known` caches the permutations that other layers read.
pub(super) fn order(order: &OrderMap, known: &KnownOrders) -> Result<ReductionOrder, Violation> {
    let section = section();
    let axes = match &order.axes {
        None => defaults::AXES,
        Some(axes) => axis_order(axes)?,
    };
    let walk = match name(order.walk, WalkKind::Forward) {
        WalkKind::Forward => Walk::Forward,
        WalkKind::Reverse => Walk::Reverse,
        WalkKind::Stride => match order.stride {
            Some(stride) => Walk::Stride(whole(section.join("stride"), stride)?),
            None => {
                return Err(missing(
                    "stride",
                    "stride",
                    "give the distance, e.g. `{walk: stride, stride: 4}`",
                ));
            }
        },
        WalkKind::Random => {
            let seed = order.seed.map_or(Ok(0), |seed| whole(section.join("seed"), seed))?;
            Walk::Random { seed: seed as u64 }
        }
        WalkKind::File => Walk::File(known.permutations(order)?),
        WalkKind::Sorted => Walk::Sorted,
        WalkKind::SignPaired => Walk::SignPaired,
        WalkKind::Greedy => Walk::Greedy,
    };
    ReductionOrder::of(order, &section, axes, walk)
}

fn section() -> KeyPath {
    KeyPath::keys(&["reduction_order"])
}

fn missing(walk: &str, key: &str, help: &str) -> Violation {
    Violation {
        code: CODE,
        keys: vec![section().join("walk")],
        message: format!("`reduction_order.walk` is {walk}, but `reduction_order.{key}` is missing"),
        help: help.into(),
    }
}

fn axis_order(axes: &[Name<Axis>]) -> Result<[Axis; 3], Violation> {
    let given: Vec<Axis> = axes.iter().map(|Name(axis)| *axis).collect();
    match <[Axis; 3]>::try_from(given.as_slice()) {
        Ok(order) if defaults::AXES.iter().all(|axis| order.contains(axis)) => Ok(order),
        _ => {
            let names: Vec<_> = given.iter().map(|axis| axis.name()).collect();
            // A list is read as the map that contains it, so either place is right.
            let keys = [&["reduction_order", "axes"][..], &["reduction_order"]].map(KeyPath::keys);
            Err(Violation {
                code: CODE,
                keys: keys.into(),
                message: format!(
                    "`reduction_order` is [{}]; it must name kh, kw and ic, each once",
                    names.join(", ")
                ),
                help: "list the slowest axis first, e.g. `[kh, kw, ic]`".into(),
            })
        }
    }
}

/// Cache of permutations by their source, which many layers share.
#[derive(Debug, Clone, Default)]
pub(super) struct KnownOrders(Arc<Mutex<HashMap<Source, Permutations>>>);

/// File, or inline text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Source {
    File(String),
    Written(PermutationsFile),
}

impl Source {
    fn of(order: &OrderMap) -> Result<Self, Violation> {
        match (&order.file, &order.permutations) {
            (Some(_), Some(_)) => Err(Violation {
                code: CODE,
                keys: vec![section().join("file")],
                message: "`reduction_order.file` and `reduction_order.permutations` are both given".into(),
                help: "leave out one of them, or set it to `null`".into(),
            }),
            (Some(path), None) => Ok(Self::File(path.clone())),
            (None, Some(given)) => Ok(Self::Written(given.clone())),
            (None, None) => {
                Err(missing("file", "file", "name the file, e.g. `{walk: file, file: order.json}`"))
            }
        }
    }

    fn read(&self) -> Result<Permutations, String> {
        let NamedLists(lists) = match self {
            Self::File(path) => read(path)?,
            Self::Written(given) => given.lists()?,
        };
        Permutations::new(lists)
    }

    fn violation(&self, problem: &str) -> Violation {
        let (key, what) = match self {
            Self::File(path) => ("file", path.as_str()),
            Self::Written(_) => ("permutations", "reduction_order.permutations"),
        };
        Violation {
            code: CODE,
            keys: vec![section().join(key)],
            message: format!("`{what}`: {problem}"),
            help: FORM.into(),
        }
    }
}

impl KnownOrders {
    /// Returns the permutations of a walk of kind `file`.
    fn permutations(&self, order: &OrderMap) -> Result<Permutations, Violation> {
        let source = Source::of(order)?;
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(permutations) = known.get(&source) {
            return Ok(permutations.clone());
        }
        let permutations = source.read().map_err(|problem| source.violation(&problem))?;
        known.insert(source, permutations.clone());
        Ok(permutations)
    }
}

fn read(path: &str) -> Result<NamedLists, String> {
    let text = guardbit_files::read_text(Path::new(path), MOST_BYTES);
    let text = text.map_err(|error| format!("it cannot be read: {error}"))?;
    let read = Document::new(FILE, path, &text).and_then(|document| document.read());
    read.map_err(|fault| fault.in_file())
}

/// Calls `visit` for every permutation file that `file` names, including those of its layers.
pub(super) fn visit_files(file: &mut AcceleratorFile, mut visit: impl FnMut(&mut String, KeyPath)) {
    let key = section().join("file");
    if let Some(path) = file.reduction_order.as_mut().and_then(|order| order.0.file.as_mut()) {
        visit(path, key);
    }
    for (layer, overrides) in file.layers.iter_mut().flat_map(|layers| &mut layers.0) {
        let at = KeyPath::keys(&["layers", layer]);
        for (path, value) in &mut overrides.0 {
            let value = match path.as_str() {
                "reduction_order.file" => Some(value),
                "reduction_order" => value.get_mut("file"),
                _ => None,
            };
            if let Some(Value::String(name)) = value {
                visit(name, at.join(path));
            }
        }
    }
}
