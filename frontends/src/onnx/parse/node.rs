//! A node and its attributes.

use guardbit_graph::{Brief, FileNode, FileOutcome};

use crate::onnx::error::{OnnxError, shown};
use super::proto;

/// A node of the file.
#[derive(Clone, Copy)]
pub(in crate::onnx) struct Node<'a> {
    pub proto: &'a proto::Node,
    /// Its place in the file.
    pub index: usize,
}

impl<'a> Node<'a> {
    /// Its own name, or that of its first output.
    pub fn name(&self) -> String {
        let own =
            if self.proto.name.is_empty() { self.proto.outputs.first() } else { Some(&self.proto.name) };
        shown(own.map_or("", String::as_str))
    }

    /// Its operator; the domain of ONNX itself is left out.
    pub fn operator(&self) -> String {
        let domain = normalized(&self.proto.domain);
        match domain {
            "" => shown(&self.proto.op),
            _ => shown(&format!("{domain}.{}", self.proto.op)),
        }
    }

    /// The node with what became of it.
    pub fn record(&self, outcome: FileOutcome) -> FileNode {
        FileNode { name: self.name(), op: self.operator(), outcome }
    }

    /// Names the node in an error.
    pub fn error(&self, problem: impl Into<String>) -> OnnxError {
        OnnxError::Node { operator: self.operator(), node: self.name(), problem: problem.into() }
    }

    /// The name of input `index`; an absent one is `None`.
    pub fn input(&self, index: usize) -> Option<&'a str> {
        self.proto.inputs.get(index).map(String::as_str).filter(|name| !name.is_empty())
    }

    /// The name of output `index`; an absent one is `None`.
    pub fn output(&self, index: usize) -> Option<&'a str> {
        self.proto.outputs.get(index).map(String::as_str).filter(|name| !name.is_empty())
    }

    /// The name of the first output.
    pub fn first_output(&self) -> Result<&'a str, OnnxError> {
        self.output(0).ok_or_else(|| self.error("has no output"))
    }

    fn attribute(&self, name: &str) -> Option<&'a proto::Attribute> {
        self.proto.attributes.iter().find(|attribute| attribute.name == name)
    }

    /// An integer.
    pub fn int(&self, name: &str, default: i64) -> i64 {
        self.attribute(name).map_or(default, |attribute| attribute.i)
    }

    /// A number.
    pub fn float(&self, name: &str, default: f32) -> f32 {
        self.attribute(name).map_or(default, |attribute| attribute.f)
    }

    /// A text, as a message may show it.
    pub fn text(&self, name: &str, default: &str) -> String {
        let text = |attribute: &proto::Attribute| shown(&String::from_utf8_lossy(&attribute.s));
        self.attribute(name).map_or_else(|| default.to_owned(), text)
    }

    /// A list of integers, if it is given.
    pub fn ints(&self, name: &str) -> Option<&'a [i64]> {
        self.attribute(name).map(|attribute| attribute.ints.as_slice())
    }

    /// A list of numbers, if it is given.
    pub fn floats(&self, name: &str) -> Option<&'a [f32]> {
        self.attribute(name).map(|attribute| attribute.floats.as_slice())
    }

    /// A tensor, if it is given.
    pub fn tensor(&self, name: &str) -> Option<&'a proto::Tensor> {
        self.attribute(name)?.t.as_ref()
    }

    /// Whether the attribute is there.
    pub fn has(&self, name: &str) -> bool {
        self.attribute(name).is_some()
    }

    /// Sizes, which are not negative.
    pub fn sizes(&self, name: &str) -> Result<Option<Vec<usize>>, OnnxError> {
        let Some(values) = self.ints(name) else { return Ok(None) };
        let sizes: Option<Vec<usize>> = values.iter().map(|&value| usize::try_from(value).ok()).collect();
        sizes.map(Some).ok_or_else(|| self.error(format!("`{name}` {} has a negative number", Brief(values))))
    }

    /// An axis of so many, which counts from the end where it is negative.
    pub fn axis(&self, axis: i64, rank: usize) -> Result<usize, OnnxError> {
        let from_start = if axis < 0 { axis.checked_add(rank as i64) } else { Some(axis) };
        let found = from_start.and_then(|axis| usize::try_from(axis).ok()).filter(|&axis| axis < rank);
        found.ok_or_else(|| self.error(format!("axis {axis} does not exist in {rank} axes")))
    }
}

/// The domain of ONNX itself has two names.
pub(in crate::onnx) fn normalized(domain: &str) -> &str {
    if domain == "ai.onnx" { "" } else { domain }
}
