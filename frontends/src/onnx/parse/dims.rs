//! Lengths for axes of the inputs that a file leaves open.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::proto::{self, Dimension, ValueInfo};
use crate::Dims;
use crate::onnx::error::{OnnxError, shown};

/// An axis of an input whose length the file leaves open.
struct Open {
    input: String,
    place: usize,
    name: Option<String>,
}

/// Sets the lengths of open axes of the inputs, and of axes of other tensors with equal names.
///
/// # Errors
/// [`OnnxError::Dim`] for an axis that is not open, and for one that gets two lengths.
pub(in crate::onnx) fn give(graph: &mut proto::Graph, dims: &Dims) -> Result<(), OnnxError> {
    if dims.is_empty() {
        return Ok(());
    }
    let constants: HashSet<String> = graph.initializers.iter().map(|tensor| tensor.name.clone()).collect();
    let inputs: Vec<&ValueInfo> =
        graph.inputs.iter().filter(|input| !constants.contains(&input.name)).collect();
    let open: Vec<Open> = inputs.iter().flat_map(|input| open_axes(input)).collect();
    let fail = |problem: String| OnnxError::Dim { problem, open: listed(&open) };
    let mut by_place: HashMap<String, usize> = HashMap::new();
    let mut by_name: HashMap<&str, usize> = HashMap::new();
    for (index, axis) in open.iter().enumerate() {
        by_place.insert(format!("{}:{}", axis.input, axis.place), index);
        if let Some(name) = &axis.name {
            by_name.entry(name).or_insert(index);
        }
    }
    let (mut named, mut placed) = (BTreeMap::new(), BTreeMap::new());
    for (axis, length) in dims.iter() {
        let Some(&found) = by_name.get(axis).or_else(|| by_place.get(axis)) else {
            let fixed = inputs.iter().find_map(|input| fixed_length(input, axis));
            return Err(fail(match fixed {
                Some(length) => format!("axis `{}` has length {length} in the file", shown(axis)),
                None => format!("the file has no open axis `{}`", shown(axis)),
            }));
        };
        let Open { input, place, name } = &open[found];
        let length = i64::try_from(length.get()).unwrap_or(i64::MAX);
        let before = match name {
            Some(name) => named.insert(name.clone(), length),
            None => placed.insert((input.clone(), *place), length),
        };
        if before.is_some_and(|before| before != length) {
            return Err(fail(format!("axis {place} of input `{}` gets two lengths", shown(input))));
        }
    }
    for info in &mut graph.inputs {
        let input = info.name.clone();
        for (place, dimension) in axes_mut(info).enumerate() {
            if let Some(&length) = placed.get(&(input.clone(), place)) {
                dimension.value = Some(length);
            }
        }
    }
    for info in graph.inputs.iter_mut().chain(&mut graph.outputs).chain(&mut graph.values) {
        for dimension in axes_mut(info).filter(|dimension| is_open(dimension)) {
            let length = dimension.parameter.as_ref().and_then(|name| named.get(name));
            dimension.value = length.copied().or(dimension.value);
        }
    }
    Ok(())
}

/// Checks that an open first axis of an input counts samples.
///
/// If a later axis of an input or output has an equal name, the axis is a length that the caller must set.
///
/// # Errors
/// [`OnnxError::Tensor`] for such an axis.
pub(in crate::onnx) fn check_samples(graph: &proto::Graph) -> Result<(), OnnxError> {
    let name = |dimension: &Dimension| dimension.parameter.clone().filter(|name| !name.is_empty());
    let all = graph.inputs.iter().chain(&graph.outputs);
    let later = all.flat_map(|info| axes(info).iter().skip(1)).filter(|dimension| is_open(dimension));
    let lengths: HashSet<String> = later.filter_map(name).collect();
    for input in &graph.inputs {
        let first = axes(input).first().filter(|dimension| is_open(dimension)).and_then(name);
        if let Some(name) = first.filter(|name| lengths.contains(name)) {
            let axis = shown(&name);
            let problem = format!(
                "has no fixed size along axis 0, and `{axis}` is the name of other axes, too; give it a length, e.g. with --dim {axis}=128"
            );
            return Err(OnnxError::Tensor { tensor: shown(&input.name), problem });
        }
    }
    Ok(())
}

fn is_open(dimension: &Dimension) -> bool {
    dimension.value.is_none_or(|size| size <= 0)
}

fn axes(info: &ValueInfo) -> &[Dimension] {
    let shape = info.ty.as_ref().and_then(|ty| ty.tensor.as_ref()?.shape.as_ref());
    shape.map_or(&[], |shape| &shape.dims)
}

fn axes_mut(info: &mut ValueInfo) -> impl Iterator<Item = &mut Dimension> {
    let shape = info.ty.as_mut().and_then(|ty| ty.tensor.as_mut()?.shape.as_mut());
    shape.into_iter().flat_map(|shape| &mut shape.dims)
}

fn open_axes(input: &ValueInfo) -> Vec<Open> {
    let open = axes(input).iter().enumerate().filter(|(_, dimension)| is_open(dimension));
    let named = |(place, dimension): (usize, &Dimension)| Open {
        input: input.name.clone(),
        place,
        name: dimension.parameter.clone().filter(|name| !name.is_empty()),
    };
    open.map(named).collect()
}

/// Returns the length of the axis `INPUT:PLACE` in the file, if it has one.
fn fixed_length(input: &ValueInfo, axis: &str) -> Option<i64> {
    let place = axis.strip_prefix(&input.name)?.strip_prefix(':')?.parse::<usize>().ok()?;
    axes(input).get(place)?.value
}

/// Returns the open axes for a message, each name once.
fn listed(open: &[Open]) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut names = Vec::new();
    for Open { input, place, name } in open {
        let by_place = format!("{input}:{place}");
        let text = match name {
            Some(name) => format!("`{}` (`{}`)", shown(name), shown(&by_place)),
            None => format!("`{}`", shown(&by_place)),
        };
        if seen.insert(name.clone().unwrap_or(by_place)) {
            names.push(text);
        }
    }
    names
}
