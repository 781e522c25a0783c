//! Constant folding of nodes with constant inputs: a row per operator.

mod arithmetic;
mod codes;
mod moves;

use std::rc::Rc;

use super::known::{Fixed, Known};
use super::qonnx;
use crate::onnx::error::OnnxError;
use crate::onnx::parse::constant::{Constant, elements_of};
use crate::onnx::parse::node::{Node, normalized};
use crate::onnx::parse::proto::element;
use crate::onnx::scalar;

/// Maximum number of elements of all folded constants together.
pub(super) const MOST: usize = 1 << 26;

/// A node whose inputs are all constant.
struct Call<'a> {
    known: &'a Known,
    node: Node<'a>,
}

impl Call<'_> {
    /// Returns input `index` if it is present.
    fn fixed(&self, index: usize) -> Option<&Fixed> {
        self.known.fixed(self.node, index)
    }

    /// Returns the array in input `index`. Codes are converted to real values.
    fn array(&self, index: usize) -> Result<Rc<Constant>, OnnxError> {
        let fixed = self.fixed(index).ok_or_else(|| self.node.error(format!("lacks input {index}")))?;
        fixed.array(self.node)
    }

    /// Returns the number of elements of a shape.
    ///
    /// # Errors
    /// If the shape has more elements than may be folded.
    fn count(&self, shape: &[usize]) -> Result<usize, OnnxError> {
        elements_of(shape).filter(|&count| count <= MOST).ok_or_else(|| {
            self.node.error(format!(
                "computes a constant that may have more than {MOST} elements; make it \
                                     smaller"
            ))
        })
    }
}

/// Computes the output of a node. `None` leaves the node unchanged.
type Fold = fn(&Call<'_>) -> Result<Option<Fixed>, OnnxError>;

const FOLDS: &[(&str, Fold)] = &[
    ("Add", arithmetic::pair),
    ("And", arithmetic::logic),
    ("Cast", arithmetic::cast),
    ("Clip", codes::clip),
    ("Concat", moves::concat),
    ("ConstantOfShape", moves::filled),
    ("DequantizeLinear", codes::dequantize_linear),
    ("Div", arithmetic::pair),
    ("Equal", arithmetic::logic),
    ("Expand", moves::expand),
    ("Flatten", moves::reshape),
    ("Gather", moves::gather),
    ("Greater", arithmetic::logic),
    ("GreaterOrEqual", arithmetic::logic),
    ("Less", arithmetic::logic),
    ("LessOrEqual", arithmetic::logic),
    ("Max", arithmetic::pair),
    ("Min", arithmetic::pair),
    ("Mod", arithmetic::pair),
    ("Mul", arithmetic::pair),
    ("Not", arithmetic::logic),
    ("Or", arithmetic::logic),
    ("Pow", arithmetic::pair),
    ("QuantizeLinear", codes::quantize),
    ("Range", moves::range),
    ("Reshape", moves::reshape),
    ("Slice", moves::slice),
    ("Squeeze", moves::reshape),
    ("Sub", arithmetic::pair),
    ("Transpose", moves::transpose),
    ("Unsqueeze", moves::reshape),
    ("Where", arithmetic::chosen),
];

/// Returns the output of a node if it is constant, otherwise `None`.
pub(super) fn fold(known: &Known, node: Node<'_>) -> Result<Option<Fixed>, OnnxError> {
    let (domain, op) = (normalized(&node.proto.domain), node.proto.op.as_str());
    if domain.is_empty() && matches!(op, "Shape" | "Size") {
        return Ok(shape(known, node));
    }
    let inputs = node.proto.inputs.iter().filter(|name| !name.is_empty());
    let constant = |name: &String| known.constants.contains_key(name);
    if node.input(0).is_none()
        || !inputs.clone().all(constant)
        || node.proto.outputs.iter().skip(1).any(|name| !name.is_empty())
    {
        return Ok(None);
    }
    let call = Call { known, node };
    let listed = || FOLDS.iter().find(|(name, _)| *name == op).map(|(_, fold)| *fold);
    let fold = match domain {
        "" if scalar::function(node).is_some() => Some(arithmetic::unary as Fold),
        "" => listed(),
        "com.microsoft" if matches!(op, "QuantizeLinear" | "DequantizeLinear") => listed(),
        _ if qonnx::is_domain(domain) => Some(codes::quantize as Fold),
        _ => None,
    };
    fold.map_or(Ok(None), |fold| fold(&call))
}

/// Returns the sizes for a Shape node, or their product for a Size node.
fn shape(known: &Known, node: Node<'_>) -> Option<Fixed> {
    let shape = known.shapes.get(node.input(0)?)?;
    let rank = shape.len() as i64;
    let at =
        |value: i64| (if value < 0 { value.saturating_add(rank) } else { value }).clamp(0, rank) as usize;
    let (start, end) = (at(node.int("start", 0)), at(node.int("end", rank)));
    let sizes: Vec<i64> = shape[start..end.max(start)].iter().map(|&size| size as i64).collect();
    Some(Fixed::new(match node.proto.op.as_str() {
        "Shape" => Constant::integers(element::INT64, vec![sizes.len()], sizes),
        _ => Constant::integers(element::INT64, Vec::new(), vec![elements_of(shape)? as i64]),
    }))
}
