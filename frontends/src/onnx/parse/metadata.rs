//! Texts beside the network and its constants: `metadata_props`.

use std::collections::BTreeMap;

use guardbit_graph::CodeRange;

use super::proto;

/// Entries, and bytes of a key and of a text, at most; what is more is left out.
const MOST: usize = 256;
const KEY: usize = 256;
const TEXT: usize = 1 << 16;

/// The texts of a file by their keys.
pub(in crate::onnx) fn read(model: &proto::Model) -> BTreeMap<String, String> {
    let fits = |entry: &&proto::Entry| entry.key.len() <= KEY && entry.value.len() <= TEXT;
    let entries = model.metadata.iter().filter(fits).take(MOST);
    entries.map(|entry| (entry.key.clone(), entry.value.clone())).collect()
}

/// The texts as entries of a file, sorted by key.
pub(in crate::onnx) fn entries(texts: &BTreeMap<String, String>) -> Vec<proto::Entry> {
    texts.iter().map(|(key, value)| proto::Entry { key: key.clone(), value: value.clone() }).collect()
}

/// Key of the range of a constant's codes, beside its tensor.
const RANGE: &str = "guardbit.range";

/// The entry that says a range of codes.
pub(in crate::onnx) fn range(range: CodeRange) -> proto::Entry {
    proto::Entry { key: RANGE.into(), value: format!("{} {}", range.min(), range.max()) }
}

/// Least and greatest code of a constant, where they are said.
pub(in crate::onnx) fn range_of(tensor: &proto::Tensor) -> Option<[i32; 2]> {
    let entry = tensor.metadata.iter().find(|entry| entry.key == RANGE)?;
    let (low, high) = entry.value.split_once(' ')?;
    let range = [low.parse().ok()?, high.parse().ok()?];
    (range[0] <= range[1]).then_some(range)
}
