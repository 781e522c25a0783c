//! Shape inference: output shapes that follow from the shapes of the inputs.

use guardbit_graph::Padding;

use super::axes::{permutation, reduced, reshaped};
use super::known::Known;
use super::parts::{broadcast, padded, sides, slice, split};
use super::window::{Sliding, pooling, sliding};
use super::{resize, transposed};
use crate::onnx::parse::constant::elements_of;
use crate::onnx::parse::node::Node;
use crate::onnx::scalar;

type Shape = Vec<usize>;

/// Returns the shapes of the first outputs of a node. Empty if they do not follow from the inputs.
pub(super) fn shapes(known: &Known, node: Node<'_>) -> Vec<Shape> {
    let inputs = Inputs { known, node };
    let made = match node.proto.op.as_str() {
        "Split" => return inputs.shape(0).and_then(|shape| parts(known, node, shape)).unwrap_or_default(),
        "DynamicQuantizeLinear" => {
            return inputs.shape(0).map_or(Vec::new(), |shape| vec![shape.clone(), Vec::new(), Vec::new()]);
        }
        op => inputs.of(op),
    };
    // The next stage reports shapes that no tensor can have.
    made.filter(|shape| elements_of(shape).is_some()).into_iter().collect()
}

fn parts(known: &Known, node: Node<'_>, shape: &Shape) -> Option<Vec<Shape>> {
    Some(split(known, node, shape).ok()?.into_iter().map(|part| part.size).collect())
}

/// A node with the known properties of its inputs.
struct Inputs<'a> {
    known: &'a Known,
    node: Node<'a>,
}

impl Inputs<'_> {
    fn shape(&self, index: usize) -> Option<&Shape> {
        self.known.shapes.get(self.node.input(index)?)
    }

    fn int(&self, name: &str, default: i64) -> i64 {
        self.node.int(name, default)
    }

    fn of(&self, op: &str) -> Option<Shape> {
        let (known, node) = (self.known, self.node);
        match op {
            "BatchNormalization" | "BipolarQuant" | "Cast" | "Clip" | "DequantizeLinear" | "Dropout"
            | "Identity" | "IntQuant" | "LayerNormalization" | "LogSoftmax" | "MxBlockScale"
            | "NvBlockScale" | "QLinearLeakyRelu" | "QLinearSigmoid" | "QLinearSoftmax" | "Quant"
            | "QuantizeLinear" | "Softmax" | "Trunc" => self.shape(0).cloned(),
            _ if scalar::function(node).is_some() => self.shape(0).cloned(),
            "Add" | "And" | "Div" | "Equal" | "Greater" | "GreaterOrEqual" | "Less" | "LessOrEqual"
            | "Max" | "Mean" | "Min" | "Mod" | "Mul" | "Or" | "PRelu" | "Pow" | "Sub" | "Sum" | "Where" => {
                self.joint(0..node.proto.inputs.len())
            }
            "QLinearAdd" | "QLinearMul" => self.joint([0, 3].into_iter()),
            "Conv" | "ConvInteger" => self.conv(1),
            "QLinearConv" => self.conv(3),
            "ConvTranspose" => self.transposed(),
            "MatMul" | "MatMulInteger" => self.product(1),
            "QLinearMatMul" => self.product(3),
            "MatMulNBits" => {
                let (_, front) = self.shape(0)?.split_last()?;
                Some([front, &[usize::try_from(self.int("N", 0)).ok()?]].concat())
            }
            "Gemm" => self.gemm(1),
            "QGemm" => self.gemm(3),
            "AveragePool" | "MaxPool" | "QLinearAveragePool" => {
                let shape = self.shape(0)?;
                let window = pooling(node, shape, true).ok()?;
                self.slid(&window, shape, *shape.get(1)?)
            }
            "GlobalAveragePool" | "GlobalMaxPool" | "QLinearGlobalAveragePool" => {
                let shape = self.shape(0)?;
                Some((0..shape.len()).map(|axis| if axis < 2 { shape[axis] } else { 1 }).collect())
            }
            "ReduceMax" | "ReduceMean" | "ReduceMin" | "ReduceProd" | "ReduceSum" => {
                let shape = self.shape(0)?;
                self.without(&reduced(known, node, shape.len()).ok()?)
            }
            "ArgMax" | "ArgMin" => {
                self.without(&[node.axis(self.int("axis", 0), self.shape(0)?.len()).ok()?])
            }
            "Concat" => self.concat((0..node.proto.inputs.len()).collect()),
            "QLinearConcat" => self.concat((2..node.proto.inputs.len()).step_by(3).collect()),
            "Reshape" | "Flatten" | "Squeeze" | "Unsqueeze" => reshaped(known, node, self.shape(0)?).ok(),
            "Transpose" => {
                let shape = self.shape(0)?;
                Some(permutation(node, shape.len()).ok()?.into_iter().map(|axis| shape[axis]).collect())
            }
            "Slice" => Some(slice(known, node, self.shape(0)?).ok()?.size),
            "Pad" => {
                let shape = self.shape(0)?;
                padded(shape, &sides(known, node, shape).ok()?)
            }
            "Gather" => {
                let (shape, indices) = (self.shape(0)?, self.shape(1)?);
                let axis = node.axis(self.int("axis", 0), shape.len()).ok()?;
                Some([&shape[..axis], indices, &shape[axis + 1..]].concat())
            }
            "Tile" => {
                let (shape, repeats) = (self.shape(0)?, known.integers(node, 1).ok()?);
                let size = |(&size, repeat): (&usize, i64)| size.checked_mul(usize::try_from(repeat).ok()?);
                shape.iter().zip(repeats).map(size).collect()
            }
            "Expand" => {
                let sizes = known.integers(node, 1).ok()?;
                let sizes: Option<Shape> = sizes.into_iter().map(|size| usize::try_from(size).ok()).collect();
                broadcast(self.shape(0)?, &sizes?)
            }
            "Resize" | "Upsample" => Some(resize::target(known, node, self.shape(0)?).ok()?.sizes),
            "DepthToSpace" | "SpaceToDepth" => self.blocks(op == "DepthToSpace"),
            _ => None,
        }
    }

    /// Returns the common shape of inputs under NumPy's broadcasting.
    fn joint(&self, mut inputs: impl Iterator<Item = usize>) -> Option<Shape> {
        inputs.try_fold(Vec::new(), |shape, index| broadcast(&shape, self.shape(index)?))
    }

    fn conv(&self, weights: usize) -> Option<Shape> {
        let (shape, weights) = (self.shape(0)?, self.shape(weights)?);
        let window = sliding(self.node, weights.get(2..)?, shape.get(2..)?).ok()?;
        self.slid(&window, shape, weights[0])
    }

    /// Returns the output shape of a window over an image.
    fn slid(&self, window: &Sliding, shape: &Shape, channels: usize) -> Option<Shape> {
        let image = shape.get(2..)?;
        let sides = match window.padding {
            Padding::Explicit { rows, cols } => [rows, cols],
            _ => [[0, 0]; 2],
        };
        let size = |axis: usize| {
            // A single axis is the columns.
            let at = axis + 2 - image.len();
            let padded = image[axis].checked_add(sides[at][0])?.checked_add(sides[at][1])?;
            let reach = (window.kernel[at] - 1).checked_mul(window.dilation[at])?.checked_add(1)?;
            Some(padded.checked_sub(reach)? / window.stride[at] + 1)
        };
        let sizes: Option<Shape> = (0..image.len()).map(size).collect();
        Some([&[shape[0], channels], sizes?.as_slice()].concat())
    }

    fn transposed(&self) -> Option<Shape> {
        let (&[n, _, h, w], &[_, each, kh, kw]) = (self.shape(0)?.as_slice(), self.shape(1)?.as_slice())
        else {
            return None;
        };
        let geometry = transposed::geometry(self.node, [h, w], [kh, kw]).ok()?;
        Some(vec![n, each.checked_mul(geometry.groups)?, geometry.size[0], geometry.size[1]])
    }

    /// Returns the shape of a matrix product. A vector is a row on the left and a column on the right.
    fn product(&self, right: usize) -> Option<Shape> {
        let (a, b) = (self.shape(0)?, self.shape(right)?);
        let (row, column) = (a.len() == 1, b.len() == 1);
        let (a, b) = match (row, column) {
            (true, _) => ([&[1], a.as_slice()].concat(), b.clone()),
            (_, true) => (a.clone(), [b.as_slice(), &[1]].concat()),
            _ => (a.clone(), b.clone()),
        };
        let ([before @ .., m, k], [others @ .., depth, n]) = (a.as_slice(), b.as_slice()) else {
            return None;
        };
        let mut shape = broadcast(before, others).filter(|_| k == depth)?;
        shape.extend((!row).then_some(*m));
        shape.extend((!column).then_some(*n));
        Some(shape)
    }

    fn gemm(&self, right: usize) -> Option<Shape> {
        let (&[rows, k], &[depth, columns]) = (self.shape(0)?.as_slice(), self.shape(right)?.as_slice())
        else {
            return self.product(right).filter(|_| self.int("transA", 0) == 0 && self.int("transB", 0) == 0);
        };
        let rows = if self.int("transA", 0) != 0 { k } else { rows };
        Some(vec![rows, if self.int("transB", 0) != 0 { depth } else { columns }])
    }

    /// Returns the shape after reducing axes, which keep size 1 if the node keeps them.
    fn without(&self, axes: &[usize]) -> Option<Shape> {
        let (shape, kept) = (self.shape(0)?, self.int("keepdims", 1) != 0);
        let size = |axis: usize| match axes.contains(&axis) {
            true => kept.then_some(1),
            false => Some(shape[axis]),
        };
        Some((0..shape.len()).filter_map(size).collect())
    }

    fn concat(&self, inputs: Vec<usize>) -> Option<Shape> {
        let shapes: Option<Vec<&Shape>> = inputs.into_iter().map(|index| self.shape(index)).collect();
        let shapes = shapes?;
        let mut made = (*shapes.first()?).clone();
        let axis = self.node.axis(self.int("axis", 0), made.len()).ok()?;
        made[axis] = shapes.iter().try_fold(0usize, |sum, shape| sum.checked_add(*shape.get(axis)?))?;
        Some(made)
    }

    /// Returns the shape after moving channels to blocks of pixels, or blocks to channels.
    fn blocks(&self, spread: bool) -> Option<Shape> {
        let &[n, c, h, w] = self.shape(0)?.as_slice() else { return None };
        let block = usize::try_from(self.int("blocksize", 0)).ok().filter(|&block| block > 0)?;
        let cells = block.checked_mul(block)?;
        Some(match spread {
            true => vec![n, c / cells, h.checked_mul(block)?, w.checked_mul(block)?],
            false => vec![n, c.checked_mul(cells)?, h / block, w / block],
        })
    }
}
