//! The second stage of the reader: computes everything that depends only on constants.
//!
//! Constants are folded, and codes stay codes (`fold`, a row per operator). Shapes and element types are inferred
//! (`shapes`, `elements`). Nodes without effect are removed. The rest is recognised by the next stage, which this one
//! does not know.

pub(in crate::onnx) mod axes;
pub(in crate::onnx) mod blocked;
pub(in crate::onnx) mod blocks;
pub(in crate::onnx) mod clip;
mod elements;
pub(in crate::onnx) mod floats;
mod fold;
pub(in crate::onnx) mod known;
pub(in crate::onnx) mod parts;
pub(in crate::onnx) mod qonnx;
pub(in crate::onnx) mod quant;
pub(in crate::onnx) mod quantizers;
pub(in crate::onnx) mod resize;
pub(in crate::onnx) mod rule;
pub(in crate::onnx) mod scales;
mod shapes;
pub(in crate::onnx) mod transposed;
pub(in crate::onnx) mod window;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use guardbit_graph::{Brief, FileOutcome, MAX_ELEMENTS};

use crate::onnx::error::{OnnxError, shown};
use crate::onnx::parse::File;
use crate::onnx::parse::constant::elements_of;
use crate::onnx::parse::node::{Node, normalized};
use crate::onnx::parse::proto::{self, element};
use known::{Fixed, Known};

/// Folds constants and removes nodes without effect. Returns the known properties of the network.
///
/// # Errors
/// [`OnnxError::Node`] for a constant that cannot be computed, and for a shape that contradicts the declared one;
/// [`OnnxError::Tensor`] for an input without a fixed shape.
pub(in crate::onnx) fn normalise(file: &mut File) -> Result<Known, OnnxError> {
    let mut known = Known {
        opset: file.opset(),
        constants: HashMap::new(),
        blocks: HashMap::new(),
        shapes: HashMap::new(),
        elements: HashMap::new(),
    };
    for (name, constant) in std::mem::take(&mut file.constants) {
        known.shapes.insert(name.clone(), constant.shape.clone());
        known.elements.insert(name.clone(), constant.element);
        known.constants.insert(name, Fixed::Array(constant));
    }
    for input in &file.inputs {
        let (number, shape) = input_type(input)?;
        known.elements.insert(input.name.clone(), number);
        known.shapes.insert(input.name.clone(), shape);
    }
    let outputs: HashSet<String> = file.outputs.iter().map(|output| output.name.clone()).collect();
    let needed = needed(&file.nodes, &outputs);
    let mut same: HashMap<String, String> = HashMap::new();
    let mut left = fold::MOST;
    let (mut kept, mut places) = (Vec::new(), Vec::new());
    let nodes = std::mem::take(&mut file.nodes).into_iter().zip(std::mem::take(&mut file.places));
    for ((mut proto, index), needed) in nodes.zip(needed) {
        if !needed {
            let node = Node { proto: &proto, index };
            file.left_out.push((index, node.record(FileOutcome::Unread)));
            continue;
        }
        for input in &mut proto.inputs {
            if let Some(source) = same.get(input) {
                input.clone_from(source);
            }
        }
        let node = Node { proto: &proto, index: kept.len() };
        if let Some(fixed) = fold::fold(&known, node)? {
            count(node, &fixed, &mut left)?;
            let name = node.first_output()?.to_owned();
            check(file, node, &name, &fixed.elements().shape)?;
            let number =
                if matches!(fixed, Fixed::Codes(..)) { element::FLOAT } else { fixed.elements().element };
            known.shapes.insert(name.clone(), fixed.elements().shape.clone());
            known.elements.insert(name.clone(), number);
            if let Some(blocked) = blocked::blocked(&known, node)? {
                known.blocks.insert(name.clone(), Rc::new(blocked));
            }
            known.constants.insert(name, fixed);
            file.left_out.push((index, node.record(FileOutcome::Constant)));
            continue;
        }
        if let (Some(name), Some(source)) =
            (node.output(0).filter(|name| !outputs.contains(*name)), passed(&known, node))
        {
            same.insert(name.to_owned(), source);
            file.left_out.push((index, node.record(FileOutcome::Read(Vec::new()))));
            continue;
        }
        infer(&mut known, file, node)?;
        kept.push(proto);
        places.push(index);
    }
    (file.nodes, file.places) = (kept, places);
    Ok(known)
}

/// Returns for each node whether an output of the network needs it.
fn needed(nodes: &[proto::Node], outputs: &HashSet<String>) -> Vec<bool> {
    let mut wanted: HashSet<&str> = outputs.iter().map(String::as_str).collect();
    let mut needed = vec![false; nodes.len()];
    for (index, node) in nodes.iter().enumerate().rev() {
        needed[index] = node.outputs.iter().any(|name| wanted.contains(name.as_str()));
        if needed[index] {
            wanted.extend(node.inputs.iter().filter(|name| !name.is_empty()).map(String::as_str));
        }
    }
    needed
}

/// Returns the input that a node passes on unchanged, if it does nothing else.
fn passed(known: &Known, node: Node<'_>) -> Option<String> {
    let does_nothing = match (normalized(&node.proto.domain), node.proto.op.as_str()) {
        ("", "Identity") => true,
        // The second output is the mask of dropped elements.
        ("", "Dropout") => node.output(1).is_none(),
        ("", "Cast") => known.elements.get(node.input(0)?).copied() == i32::try_from(node.int("to", 0)).ok(),
        _ => false,
    };
    does_nothing.then(|| node.input(0).map(str::to_owned)).flatten()
}

/// Records shapes and types of the outputs of a node.
fn infer(known: &mut Known, file: &File, node: Node<'_>) -> Result<(), OnnxError> {
    let shapes = shapes::shapes(known, node);
    let number = elements::element_of_output(known, node);
    for (index, shape) in shapes.into_iter().enumerate() {
        let Some(name) = node.output(index) else { continue };
        check(file, node, name, &shape)?;
        known.shapes.insert(name.to_owned(), shape);
    }
    for name in node.proto.outputs.iter().filter(|name| !name.is_empty()) {
        let declared =
            file.declared.get(name).and_then(|shape| shape.iter().copied().collect::<Option<Vec<_>>>());
        let declared = declared.filter(|shape| elements_of(shape).is_some());
        if let (Some(shape), false) = (declared, known.shapes.contains_key(name)) {
            known.shapes.insert(name.clone(), shape);
        }
    }
    if let (Some(name), Some(number)) = (node.output(0), number) {
        known.elements.insert(name.to_owned(), number);
    }
    Ok(())
}

/// Fails if a shape contradicts the declared shape. The first axis counts samples and may differ.
fn check(file: &File, node: Node<'_>, name: &str, shape: &[usize]) -> Result<(), OnnxError> {
    let Some(declared) = file.declared.get(name) else { return Ok(()) };
    let same = |(axis, (size, wanted)): (usize, (&usize, &Option<usize>))| {
        axis == 0 || wanted.is_none_or(|wanted| wanted == *size)
    };
    if shape.len() == declared.len() && shape.iter().zip(declared).enumerate().all(same) {
        return Ok(());
    }
    let sizes: Vec<String> =
        declared.iter().map(|size| size.map_or("?".into(), |size| size.to_string())).collect();
    Err(node.error(format!(
        "produces `{}` with shape {}, but the file declares [{}]; repeat the shape inference of the file, or remove its \
         value_info",
        shown(name), Brief(shape), sizes.join(", ")
    )))
}

/// Counts the elements of a computed constant against the limit.
fn count(node: Node<'_>, fixed: &Fixed, left: &mut usize) -> Result<(), OnnxError> {
    // A constant that is shared with another name takes no memory.
    if std::rc::Rc::strong_count(fixed.elements()) > 1 {
        return Ok(());
    }
    let rest = left.checked_sub(fixed.elements().data.len());
    *left = rest.ok_or_else(|| {
        let most = fold::MOST;
        node.error(format!("computes a constant; computed constants exceed {most} elements in total"))
    })?;
    Ok(())
}

/// Returns element type and sizes of an input. An unknown first size, that of samples, becomes 1.
pub(in crate::onnx) fn input_type(input: &proto::ValueInfo) -> Result<(i32, Vec<usize>), OnnxError> {
    let fail = |problem: String| OnnxError::Tensor { tensor: shown(&input.name), problem };
    let tensor = input.ty.as_ref().and_then(|ty| ty.tensor.as_ref());
    let tensor = tensor.ok_or_else(|| fail("is not a tensor".into()))?;
    let dims = &tensor.shape.as_ref().ok_or_else(|| fail("has no shape".into()))?.dims;
    let size = |(axis, dim): (usize, &proto::Dimension)| match dim.value {
        Some(value) if value > 0 => usize::try_from(value).map_err(|_| fail(format!("has size {value}"))),
        None | Some(..=0) if axis == 0 => Ok(1),
        Some(value) if value != 0 => Err(fail(format!("has size {value} along axis {axis}"))),
        _ => Err(fail(format!(
            "has no fixed size along axis {axis}; give it a length, e.g. with --dim {}=128",
            shown(&axis_name(dim, &input.name, axis))
        ))),
    };
    let shape = dims.iter().enumerate().map(size).collect::<Result<Vec<_>, _>>()?;
    match elements_of(&shape) {
        Some(_) => Ok((tensor.element, shape)),
        None => Err(fail(format!("has shape {}; expected at most {MAX_ELEMENTS} elements", Brief(&shape)))),
    }
}

/// Returns the name of an open axis: its own name, or its input and position.
fn axis_name(dim: &proto::Dimension, input: &str, axis: usize) -> String {
    dim.parameter.clone().filter(|name| !name.is_empty()).unwrap_or_else(|| format!("{input}:{axis}"))
}
