//! The result of a quantization.

use guardbit_graph::Graph;

use crate::{TensorFigures, UnitFigures};

/// Quantized network with its figures.
#[derive(Debug, Clone)]
pub struct Quantized {
    /// Network in ONNX Runtime's arithmetic, or with floating-point codes as operands of its layers.
    pub graph: Graph,
    /// Result of every part of the float network, in order of execution.
    pub units: Vec<UnitFigures>,
    /// Every tensor whose codes were chosen, in order of execution.
    pub tensors: Vec<TensorFigures>,
}
