//! Operators that are functions of one or two elements, by their names in ONNX.

use guardbit_graph::ops::{RealFunction, RealPair};

use super::parse::node::{Node, normalized};

/// Attributes that are parameters of a function, with their defaults.
pub(super) type Parameters = &'static [(&'static str, f32)];

/// Name, function, and its parameters.
type Unary = (&'static str, RealFunction, Parameters);

/// Operators of one real value.
const UNARY: &[Unary] = &[
    ("Abs", RealFunction::Abs, &[]),
    ("Ceil", RealFunction::Ceil, &[]),
    ("Cos", RealFunction::Cos, &[]),
    ("Elu", RealFunction::Elu, &[("alpha", 1.0)]),
    ("Erf", RealFunction::Erf, &[]),
    ("Exp", RealFunction::Exp, &[]),
    ("Floor", RealFunction::Floor, &[]),
    ("HardSigmoid", RealFunction::HardSigmoid, &[("alpha", 0.2), ("beta", 0.5)]),
    ("HardSwish", RealFunction::HardSwish, &[]),
    ("LeakyRelu", RealFunction::LeakyRelu, &[("alpha", 0.01)]),
    ("Log", RealFunction::Log, &[]),
    ("Mish", RealFunction::Mish, &[]),
    ("Neg", RealFunction::Neg, &[]),
    ("Reciprocal", RealFunction::Reciprocal, &[]),
    ("Relu", RealFunction::Relu, &[]),
    ("Round", RealFunction::Round, &[]),
    ("Selu", RealFunction::Selu, &[("alpha", 1.673_263_2), ("gamma", 1.050_701)]),
    ("Sigmoid", RealFunction::Sigmoid, &[]),
    ("Sign", RealFunction::Sign, &[]),
    ("Sin", RealFunction::Sin, &[]),
    ("Softplus", RealFunction::Softplus, &[]),
    ("Softsign", RealFunction::Softsign, &[]),
    ("Sqrt", RealFunction::Sqrt, &[]),
    ("Tanh", RealFunction::Tanh, &[]),
    ("ThresholdedRelu", RealFunction::ThresholdedRelu, &[("alpha", 1.0)]),
];

/// Operators of two real values.
const PAIRS: &[(&str, RealPair)] = &[
    ("Add", RealPair::Add),
    ("Div", RealPair::Div),
    ("Max", RealPair::Maximum),
    ("Min", RealPair::Minimum),
    ("Mul", RealPair::Mul),
    ("Pow", RealPair::Pow),
    ("Sub", RealPair::Sub),
];

/// Returns the function of a node and its parameters, if it is a function of single real values.
pub(super) fn function(node: Node<'_>) -> Option<(RealFunction, Vec<f32>)> {
    match (normalized(&node.proto.domain), node.proto.op.as_str()) {
        ("" | "com.microsoft", "Gelu") if node.text("approximate", "none") == "tanh" => {
            Some((RealFunction::GeluTanh, Vec::new()))
        }
        ("" | "com.microsoft", "Gelu") => Some((RealFunction::Gelu, Vec::new())),
        ("", op) => {
            let (_, function, parameters) = UNARY.iter().find(|(name, ..)| *name == op)?;
            Some((*function, parameters.iter().map(|(name, default)| node.float(name, *default)).collect()))
        }
        _ => None,
    }
}

/// Returns the operator of a function of single elements.
pub(super) fn operator_of(function: RealFunction) -> Option<(&'static str, Parameters)> {
    let found = UNARY.iter().find(|(_, of, _)| *of == function);
    found.map(|(name, _, parameters)| (*name, *parameters))
}

/// Returns the names of the operators on single elements.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    UNARY.iter().map(|(name, ..)| *name).chain(["Gelu"])
}

/// Returns the function of an operator on two real values.
pub(super) fn pair_of(op: &str) -> Option<RealPair> {
    PAIRS.iter().find(|(name, _)| *name == op).map(|(_, function)| *function)
}
