//! Texts of a file in addition to the network and its constants: `metadata_props`.

use std::collections::{BTreeMap, HashSet};

use guardbit_graph::CodeRange;

use super::proto;

/// Maximum number of entries, and maximum lengths in bytes of a key and of a text. Entries beyond them are left out.
const MOST: usize = 256;
const KEY: usize = 256;
const TEXT: usize = 1 << 16;

/// The metadata key of the name of the axis of samples, if the file leaves their number open.
///
/// In the file, the name is in the shapes of the inputs.
pub const BATCH: &str = "guardbit.batch";

/// Returns the texts of a file by their keys, and the name of its axis of samples.
pub(in crate::onnx) fn read(model: &proto::Model, graph: &proto::Graph) -> BTreeMap<String, String> {
    let fits = |entry: &&proto::Entry| entry.key.len() <= KEY && entry.value.len() <= TEXT;
    let entries = model.metadata.iter().filter(fits).filter(|entry| entry.key != BATCH).take(MOST);
    let batch = batch(graph).map(|name| (BATCH.to_owned(), name));
    entries.map(|entry| (entry.key.clone(), entry.value.clone())).chain(batch).collect()
}

/// Returns the name of the first axis of all inputs, if no input fixes its size.
fn batch(graph: &proto::Graph) -> Option<String> {
    let constants: HashSet<&str> = graph.initializers.iter().map(|tensor| tensor.name.as_str()).collect();
    let first = |input: &proto::ValueInfo| {
        let dimension = input.ty.as_ref()?.tensor.as_ref()?.shape.as_ref()?.dims.first()?;
        let name = dimension.parameter.clone().filter(|name| !name.is_empty() && name.len() <= KEY);
        dimension.value.is_none_or(|size| size <= 0).then(|| name.unwrap_or_else(|| "batch".into()))
    };
    let inputs = graph.inputs.iter().filter(|input| !constants.contains(input.name.as_str()));
    inputs.map(first).collect::<Option<Vec<String>>>()?.into_iter().next()
}

/// Returns the texts as entries of a file, sorted by key.
pub(in crate::onnx) fn entries(texts: &BTreeMap<String, String>) -> Vec<proto::Entry> {
    let entry = |(key, value): (&String, &String)| proto::Entry { key: key.clone(), value: value.clone() };
    texts.iter().filter(|(key, _)| *key != BATCH).map(entry).collect()
}

/// The key of the range of a constant's codes in the metadata of its tensor.
const RANGE: &str = "guardbit.range";

/// Returns the entry of a range of codes.
pub(in crate::onnx) fn range(range: CodeRange) -> proto::Entry {
    let step = if range.step() == 1 { String::new() } else { format!(" {}", range.step()) };
    proto::Entry { key: RANGE.into(), value: format!("{} {}{step}", range.min(), range.max()) }
}

/// Returns the declared codes of a constant: the least and the greatest, and their step if it is not 1.
pub(in crate::onnx) fn range_of(tensor: &proto::Tensor) -> Option<CodeRange> {
    let entry = tensor.metadata.iter().find(|entry| entry.key == RANGE)?;
    let mut words = entry.value.split(' ');
    let range = CodeRange::new(words.next()?.parse().ok()?, words.next()?.parse().ok()?)?;
    words.next().map_or(Some(range), |step| range.with_step(step.parse().ok()?))
}
