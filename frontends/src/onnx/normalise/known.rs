//! Known properties of a network before its operators are recognised.

use std::collections::HashMap;
use std::rc::Rc;

use super::blocks::Blocked;
use super::quant::{Quant, reals_of};
use crate::onnx::error::{OnnxError, shown};
use crate::onnx::parse::constant::Constant;
use crate::onnx::parse::node::Node;

/// A constant value.
#[derive(Debug, Clone)]
pub(in crate::onnx) enum Fixed {
    Array(Rc<Constant>),
    /// Real values, stored as the codes that represent them.
    Codes(Rc<Constant>, Quant),
}

impl Fixed {
    pub fn new(constant: Constant) -> Self {
        Self::Array(Rc::new(constant))
    }

    /// Returns the elements, codes or not.
    pub fn elements(&self) -> &Rc<Constant> {
        let (Self::Array(constant) | Self::Codes(constant, _)) = self;
        constant
    }

    /// Returns the array that a node reads. Codes are converted to real values.
    pub fn array(&self, node: Node<'_>) -> Result<Rc<Constant>, OnnxError> {
        match self {
            Self::Array(constant) => Ok(Rc::clone(constant)),
            Self::Codes(codes, quant) => reals_of(node, codes, quant).map(Rc::new),
        }
    }
}

/// Constants, shapes and element types by name.
pub(in crate::onnx) struct Known {
    /// The opset version of ONNX's own operators.
    pub opset: i64,
    pub constants: HashMap<String, Fixed>,
    /// Codes with a scale per block, by the name of the constant that holds their real values.
    pub blocks: HashMap<String, Rc<Blocked>>,
    /// Shapes that follow from those of the inputs, or that the file declares.
    pub shapes: HashMap<String, Vec<usize>>,
    /// Element types by their number in the file.
    pub elements: HashMap<String, i32>,
}

impl Known {
    /// Returns the constant in input `index` of a node, if it is one.
    pub fn fixed(&self, node: Node<'_>, index: usize) -> Option<&Fixed> {
        self.constants.get(node.input(index)?)
    }

    /// Returns the codes with a scale per block whose real values are input `index` of a node, if it has any.
    pub fn blocked(&self, node: Node<'_>, index: usize) -> Option<Rc<Blocked>> {
        self.blocks.get(node.input(index)?).cloned()
    }

    /// Returns input `index` of a node. It must be a constant if it is present.
    pub fn optional_constant(&self, node: Node<'_>, index: usize) -> Result<Option<Rc<Constant>>, OnnxError> {
        let Some(name) = node.input(index) else { return Ok(None) };
        match self.constants.get(name) {
            Some(Fixed::Array(constant)) => Ok(Some(Rc::clone(constant))),
            _ => Err(node.error(format!("input {index}, `{}`, must be a constant", shown(name)))),
        }
    }

    /// Returns input `index` of a node, which must be a constant.
    pub fn constant(&self, node: Node<'_>, index: usize) -> Result<Rc<Constant>, OnnxError> {
        self.optional_constant(node, index)?.ok_or_else(|| node.error(format!("lacks input {index}")))
    }

    /// Returns input `index` of a node as integers. It must be a constant.
    pub fn integers(&self, node: Node<'_>, index: usize) -> Result<Vec<i64>, OnnxError> {
        let constant = self.constant(node, index)?;
        let integers = constant.as_integers().map(|values| values.iter().collect());
        integers.ok_or_else(|| node.error(format!("input {index} must hold integers")))
    }

    /// Returns input `index` of a node as integers, or `None` if it is absent.
    pub fn optional_integers(&self, node: Node<'_>, index: usize) -> Result<Option<Vec<i64>>, OnnxError> {
        node.input(index).map(|_| self.integers(node, index)).transpose()
    }

    /// Returns the integers of input `index`, or of attribute `name` in an older opset. Returns `None` if neither
    /// exists.
    pub fn integers_or(
        &self,
        node: Node<'_>,
        index: usize,
        name: &str,
    ) -> Result<Option<Vec<i64>>, OnnxError> {
        Ok(self.optional_integers(node, index)?.or_else(|| node.ints(name).map(<[i64]>::to_vec)))
    }
}
