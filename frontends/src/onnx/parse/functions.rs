//! Inlining of local functions: a node that calls a function is replaced by its body.

use std::collections::HashMap;

use prost::Message;

use super::node::normalized;
use super::proto::{Attribute, Function, Node, Opset};
use crate::onnx::error::{OnnxError, shown};
use crate::onnx::own::DOMAIN;

/// Maximum size in bytes of the nodes of inlined bodies, including nested calls.
const MAX_BYTES: usize = 1 << 26;

/// Maximum depth of nested calls.
const MAX_DEPTH: usize = 64;

/// Replaces every call of a function of the file by its body.
///
/// # Errors
/// If a function calls itself or imports another version of a domain than the file, or if the bodies have more than
/// [`MAX_BYTES`] bytes.
pub(super) fn inline(
    nodes: Vec<Node>,
    functions: &[Function],
    opsets: &[Opset],
) -> Result<Vec<Node>, OnnxError> {
    let named =
        functions.iter().map(|function| ((normalized(&function.domain), function.name.as_str()), function));
    let mut inlined = Inlined { functions: named.collect(), opsets, nodes: Vec::new(), left: MAX_BYTES };
    for node in nodes {
        inlined.add(node, 0)?;
    }
    Ok(inlined.nodes)
}

struct Inlined<'a> {
    functions: HashMap<(&'a str, &'a str), &'a Function>,
    opsets: &'a [Opset],
    nodes: Vec<Node>,
    /// Bytes left for bodies.
    left: usize,
}

impl Inlined<'_> {
    fn add(&mut self, node: Node, depth: usize) -> Result<(), OnnxError> {
        // guardbit reads its own operators, not the functions that define them for others.
        let called = self.functions.get(&(normalized(&node.domain), node.op.as_str()));
        let Some(&function) = called.filter(|_| node.domain != DOMAIN) else {
            self.nodes.push(node);
            return Ok(());
        };
        let name = shown(&function.name);
        if depth == MAX_DEPTH {
            let problem = format!(
                "calls the function `{name}` more than {MAX_DEPTH} levels deep; expected no recursion"
            );
            return Err(OnnxError::Format { problem });
        }
        self.check_opsets(function)?;
        let call = node.outputs.iter().find(|output| !output.is_empty()).unwrap_or(&node.name);
        let mut names = HashMap::new();
        for (inner, outer) in
            function.inputs.iter().zip(node.inputs.iter().map(String::as_str).chain(std::iter::repeat("")))
        {
            names.insert(inner.as_str(), outer.to_owned());
        }
        for (inner, outer) in
            function.outputs.iter().zip(&node.outputs).filter(|(_, outer)| !outer.is_empty())
        {
            let passed = names.insert(inner.as_str(), outer.clone());
            if let Some(input) = passed {
                // An input is also an output.
                names.insert(inner.as_str(), input.clone());
                let copy = Node {
                    inputs: vec![input],
                    outputs: vec![outer.clone()],
                    op: "Identity".into(),
                    ..Node::default()
                };
                self.add(copy, depth + 1)?;
            }
        }
        let renamed = |name: &String| match names.get(name.as_str()) {
            Some(outer) => outer.clone(),
            None if name.is_empty() => String::new(),
            None => format!("{call}/{name}"),
        };
        for body in &function.nodes {
            let made = Node {
                inputs: body.inputs.iter().map(renamed).collect(),
                outputs: body.outputs.iter().map(renamed).collect(),
                name: if body.name.is_empty() {
                    String::new()
                } else {
                    format!("{}/{}", node.name, body.name)
                },
                op: body.op.clone(),
                attributes: body.attributes.iter().filter_map(|own| bound(own, &node, function)).collect(),
                domain: body.domain.clone(),
            };
            self.spend(made.encoded_len())?;
            self.add(made, depth + 1)?;
        }
        Ok(())
    }

    /// Counts the bytes of one node of a body.
    fn spend(&mut self, bytes: usize) -> Result<(), OnnxError> {
        let left = self.left.checked_sub(bytes + 1);
        self.left = left.ok_or_else(|| OnnxError::Format {
            problem: format!(
                "its functions, inlined, take more than {MAX_BYTES} bytes; call them less often"
            ),
        })?;
        Ok(())
    }

    /// Fails if a function imports another version of a domain than the file.
    fn check_opsets(&self, function: &Function) -> Result<(), OnnxError> {
        for own in &function.opsets {
            let of_file =
                self.opsets.iter().find(|opset| normalized(&opset.domain) == normalized(&own.domain));
            if let Some(opset) = of_file.filter(|opset| opset.version != own.version) {
                let (name, domain) = (shown(&function.name), shown(normalized(&own.domain)));
                let problem = format!(
                    "the function `{name}` imports version {} of domain `{domain}`, the file version {}; convert both to one \
                     version, e.g. with onnx.version_converter",
                    own.version, opset.version
                );
                return Err(OnnxError::Format { problem });
            }
        }
        Ok(())
    }
}

/// Returns an attribute of a body with the value from the call. Returns `None` if neither the call nor a default sets
/// it.
fn bound(own: &Attribute, call: &Node, function: &Function) -> Option<Attribute> {
    if own.reference.is_empty() {
        return Some(own.clone());
    }
    let of = |attributes: &[Attribute]| attributes.iter().find(|given| given.name == own.reference).cloned();
    let given = of(&call.attributes).or_else(|| of(&function.defaults))?;
    Some(Attribute { name: own.name.clone(), ..given })
}
