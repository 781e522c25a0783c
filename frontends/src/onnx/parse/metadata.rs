//! Texts of a file in addition to the network and its constants: `metadata_props`.

use std::collections::{BTreeMap, HashSet};

use guardbit_graph::CodeRange;

use super::proto;

/// Entries, and bytes of a key and of a text, at most; what is more is left out.
const MOST: usize = 256;
const KEY: usize = 256;
const TEXT: usize = 1 << 16;

/// Key of the name of the axis of samples in a network's metadata, where its file leaves their number open. A file says it in the
/// shapes of its inputs.
pub const BATCH: &str = "guardbit.batch";

/// The texts of a file by their keys, and the name of its axis of samples.
pub(in crate::onnx) fn read(model: &proto::Model, graph: &proto::Graph) -> BTreeMap<String, String> {
    let fits = |entry: &&proto::Entry| entry.key.len() <= KEY && entry.value.len() <= TEXT;
    let entries = model.metadata.iter().filter(fits).filter(|entry| entry.key != BATCH).take(MOST);
    let batch = batch(graph).map(|name| (BATCH.to_owned(), name));
    entries.map(|entry| (entry.key.clone(), entry.value.clone())).chain(batch).collect()
}

/// The name of the first axis of all inputs, if no input fixes its size.
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

/// The texts as entries of a file, sorted by key.
pub(in crate::onnx) fn entries(texts: &BTreeMap<String, String>) -> Vec<proto::Entry> {
    let entry = |(key, value): (&String, &String)| proto::Entry { key: key.clone(), value: value.clone() };
    texts.iter().filter(|(key, _)| *key != BATCH).map(entry).collect()
}

/// Key of the range of a constant's codes in the metadata of its tensor.
const RANGE: &str = "guardbit.range";

/// The entry that says a range of codes.
pub(in crate::onnx) fn range(range: CodeRange) -> proto::Entry {
    let step = if range.step() == 1 { String::new() } else { format!(" {}", range.step()) };
    proto::Entry { key: RANGE.into(), value: format!("{} {}{step}", range.min(), range.max()) }
}

/// The codes of a constant, where they are said: the least and the greatest, and their step where it is not 1.
pub(in crate::onnx) fn range_of(tensor: &proto::Tensor) -> Option<CodeRange> {
    let entry = tensor.metadata.iter().find(|entry| entry.key == RANGE)?;
    let mut words = entry.value.split(' ');
    let range = CodeRange::new(words.next()?.parse().ok()?, words.next()?.parse().ok()?)?;
    words.next().map_or(Some(range), |step| range.with_step(step.parse().ok()?))
}
