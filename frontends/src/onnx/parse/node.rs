//! A node and its attributes.

use guardbit_graph::{Brief, FileNode, FileOutcome};

use super::proto;
use crate::onnx::error::{OnnxError, shown};

/// A node of the file.
#[derive(Clone, Copy)]
pub(in crate::onnx) struct Node<'a> {
    pub proto: &'a proto::Node,
    /// Its index in the file.
    pub index: usize,
}

impl<'a> Node<'a> {
    /// Returns its own name, or that of its first output.
    pub fn name(&self) -> String {
        let own =
            if self.proto.name.is_empty() { self.proto.outputs.first() } else { Some(&self.proto.name) };
        shown(own.map_or("", String::as_str))
    }

    /// Returns its operator. ONNX's own domain is left out.
    pub fn operator(&self) -> String {
        let domain = normalized(&self.proto.domain);
        match domain {
            "" => shown(&self.proto.op),
            _ => shown(&format!("{domain}.{}", self.proto.op)),
        }
    }

    /// Returns the record of the node with its outcome.
    pub fn record(&self, outcome: FileOutcome) -> FileNode {
        FileNode { name: self.name(), op: self.operator(), outcome }
    }

    /// Returns an error that names the node.
    pub fn error(&self, problem: impl Into<String>) -> OnnxError {
        OnnxError::Node { operator: self.operator(), node: self.name(), problem: problem.into() }
    }

    /// Returns the name of input `index`, or `None` if it is absent.
    pub fn input(&self, index: usize) -> Option<&'a str> {
        self.proto.inputs.get(index).map(String::as_str).filter(|name| !name.is_empty())
    }

    /// Returns the name of output `index`, or `None` if it is absent.
    pub fn output(&self, index: usize) -> Option<&'a str> {
        self.proto.outputs.get(index).map(String::as_str).filter(|name| !name.is_empty())
    }

    /// Returns the name of the first output.
    pub fn first_output(&self) -> Result<&'a str, OnnxError> {
        self.output(0).ok_or_else(|| self.error("has no output"))
    }

    fn attribute(&self, name: &str) -> Option<&'a proto::Attribute> {
        self.proto.attributes.iter().find(|attribute| attribute.name == name)
    }

    /// Returns an integer attribute.
    pub fn int(&self, name: &str, default: i64) -> i64 {
        self.attribute(name).map_or(default, |attribute| attribute.i)
    }

    /// Returns a float attribute.
    pub fn float(&self, name: &str, default: f32) -> f32 {
        self.attribute(name).map_or(default, |attribute| attribute.f)
    }

    /// Returns a text attribute in a form that can be displayed.
    pub fn text(&self, name: &str, default: &str) -> String {
        let text = |attribute: &proto::Attribute| shown(&String::from_utf8_lossy(&attribute.s));
        self.attribute(name).map_or_else(|| default.to_owned(), text)
    }

    /// Returns an attribute with a list of integers, if present.
    pub fn ints(&self, name: &str) -> Option<&'a [i64]> {
        self.attribute(name).map(|attribute| attribute.ints.as_slice())
    }

    /// Returns an attribute with a list of floats, if present.
    pub fn floats(&self, name: &str) -> Option<&'a [f32]> {
        self.attribute(name).map(|attribute| attribute.floats.as_slice())
    }

    /// Returns an attribute with a tensor, if present.
    pub fn tensor(&self, name: &str) -> Option<&'a proto::Tensor> {
        self.attribute(name)?.t.as_ref()
    }

    /// Returns whether the attribute is present.
    pub fn has(&self, name: &str) -> bool {
        self.attribute(name).is_some()
    }

    /// Returns an attribute with sizes, which must not be negative.
    pub fn sizes(&self, name: &str) -> Result<Option<Vec<usize>>, OnnxError> {
        let Some(values) = self.ints(name) else { return Ok(None) };
        let sizes: Option<Vec<usize>> = values.iter().map(|&value| usize::try_from(value).ok()).collect();
        sizes.map(Some).ok_or_else(|| self.error(format!("`{name}` {} has a negative number", Brief(values))))
    }

    /// Returns an axis in `0..rank`. A negative `axis` counts from the end.
    pub fn axis(&self, axis: i64, rank: usize) -> Result<usize, OnnxError> {
        let from_start = if axis < 0 { axis.checked_add(rank as i64) } else { Some(axis) };
        let found = from_start.and_then(|axis| usize::try_from(axis).ok()).filter(|&axis| axis < rank);
        found.ok_or_else(|| self.error(format!("axis {axis} does not exist in {rank} axes")))
    }
}

/// Returns a domain in a unique form, because ONNX's own domain has two names.
pub(in crate::onnx) fn normalized(domain: &str) -> &str {
    if domain == "ai.onnx" { "" } else { domain }
}
