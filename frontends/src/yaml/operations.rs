//! The operations by name, with the attributes that each takes.

use guardbit_graph::ops::{
    Add, AvgPool2d, Concat, Conv2d, DepthwiseConv2d, FullyConnected, MaxPool2d, Mean, Mul, Pad, Quantize,
    Relu, Relu6, Reshape, Softmax, Sum, Transpose,
};
use guardbit_graph::{Activation, MultiplierRule, Op, Padding, Requantize};
use guardbit_num::Scheme;

use super::error::Kind;
use super::file::NodeFile;
use super::problem::{Path, Problem};
use super::values::PaddingFile;

/// The operation of a node at `path` with its attributes.
pub(super) fn read(node: &NodeFile, path: &Path) -> Result<Op, Problem> {
    let Some((name, attributes, read)) = OPERATIONS.iter().find(|(name, ..)| *name == node.op) else {
        let names = OPERATIONS.iter().map(|(name, ..)| *name);
        return Err(Problem::not_one_of(path.then("op"), &node.op, names));
    };
    if let Some(other) = node.given().into_iter().find(|given| !attributes.contains(given)) {
        let help = match attributes {
            [] => format!("{name} takes no attributes"),
            _ => format!("{name} takes {}", attributes.join(", ")),
        };
        let message = format!("is no attribute of {name}");
        return Err(Problem::new(Kind::UnknownKey, path.then(other), message).help(help));
    }
    read(&Attributes { node, path })
}

type Read = fn(&Attributes<'_>) -> Result<Op, Problem>;

/// Name, attributes, and how the operation is made of them.
const OPERATIONS: &[(&str, &[&str], Read)] = &[
    ("conv2d", CONVOLUTION, |a| {
        Ok(Op::from(Conv2d {
            stride: a.node.stride.unwrap_or([1, 1]),
            dilation: a.node.dilation.unwrap_or([1, 1]),
            padding: a.padding()?,
            activation: a.activation()?,
            requantize: a.requantize()?,
        }))
    }),
    ("depthwise_conv2d", CONVOLUTION, |a| {
        Ok(Op::from(DepthwiseConv2d {
            stride: a.node.stride.unwrap_or([1, 1]),
            dilation: a.node.dilation.unwrap_or([1, 1]),
            padding: a.padding()?,
            activation: a.activation()?,
            requantize: a.requantize()?,
        }))
    }),
    ("fully_connected", &["keep_num_dims", "activation", "requantize", "multiplier"], |a| {
        Ok(Op::from(FullyConnected {
            keep_num_dims: a.node.keep_num_dims.unwrap_or(false),
            activation: a.activation()?,
            requantize: a.requantize()?,
        }))
    }),
    ("add", &["activation", "requantize"], |a| {
        Ok(Op::from(Add { activation: a.activation()?, scheme: a.scheme()? }))
    }),
    ("mul", &["activation", "requantize", "multiplier"], |a| {
        Ok(Op::from(Mul { activation: a.activation()?, requantize: a.requantize()? }))
    }),
    ("avg_pool2d", POOL, |a| {
        Ok(Op::from(AvgPool2d {
            kernel: a.required("kernel", a.node.kernel)?,
            stride: a.node.stride.unwrap_or([1, 1]),
            padding: a.padding()?,
            activation: a.activation()?,
        }))
    }),
    ("max_pool2d", POOL, |a| {
        Ok(Op::from(MaxPool2d {
            kernel: a.required("kernel", a.node.kernel)?,
            stride: a.node.stride.unwrap_or([1, 1]),
            padding: a.padding()?,
            activation: a.activation()?,
        }))
    }),
    ("mean", REDUCTION, |a| {
        Ok(Op::from(Mean {
            axes: a.required("axes", a.node.axes.clone())?,
            keep_dims: a.node.keep_dims.unwrap_or(false),
            requantize: a.requantize()?,
        }))
    }),
    ("sum", REDUCTION, |a| {
        Ok(Op::from(Sum {
            axes: a.required("axes", a.node.axes.clone())?,
            keep_dims: a.node.keep_dims.unwrap_or(false),
            requantize: a.requantize()?,
        }))
    }),
    ("relu", RESCALE, |a| Ok(Op::from(Relu { requantize: a.requantize()? }))),
    ("relu6", RESCALE, |a| Ok(Op::from(Relu6 { requantize: a.requantize()? }))),
    ("softmax", &["beta"], |a| Ok(Op::from(Softmax { beta: a.node.beta.unwrap_or(1.0) }))),
    ("reshape", &["shape"], |a| Ok(Op::from(Reshape { shape: a.required("shape", a.node.shape.clone())? }))),
    ("concat", &["axis", "requantize", "multiplier"], |a| {
        Ok(Op::from(Concat { axis: a.required("axis", a.node.axis)?, requantize: a.requantize()? }))
    }),
    ("pad", &["paddings", "value"], |a| {
        Ok(Op::from(Pad { paddings: a.required("paddings", a.node.paddings.clone())?, value: a.node.value }))
    }),
    ("transpose", &["permutation"], |a| {
        Ok(Op::from(Transpose { permutation: a.required("permutation", a.node.permutation.clone())? }))
    }),
    ("quantize", RESCALE, |a| Ok(Op::from(Quantize { requantize: a.requantize()? }))),
];

const CONVOLUTION: &[&str] = &["stride", "dilation", "padding", "activation", "requantize", "multiplier"];
const POOL: &[&str] = &["kernel", "stride", "padding", "activation"];
const REDUCTION: &[&str] = &["axes", "keep_dims", "requantize", "multiplier"];
const RESCALE: &[&str] = &["requantize", "multiplier"];

const RULES: [(&str, MultiplierRule); 3] = [
    ("float64", MultiplierRule::Float64),
    ("product_in_float32", MultiplierRule::ProductInFloat32),
    ("float32", MultiplierRule::Float32),
];

/// The attributes of one node.
struct Attributes<'a> {
    node: &'a NodeFile,
    path: &'a Path,
}

impl Attributes<'_> {
    fn required<T>(&self, key: &str, value: Option<T>) -> Result<T, Problem> {
        let message = format!("lacks the key `{key}`, which {} needs", self.node.op);
        value.ok_or_else(|| Problem::new(Kind::MissingKey, self.path.clone(), message))
    }

    fn padding(&self) -> Result<Padding, Problem> {
        match &self.node.padding {
            None => Ok(Padding::Valid),
            Some(PaddingFile::Cells { rows, cols }) => Ok(Padding::Explicit { rows: *rows, cols: *cols }),
            Some(PaddingFile::Rule(rule)) => match rule.as_str() {
                "same" => Ok(Padding::Same),
                "valid" => Ok(Padding::Valid),
                other => {
                    let allowed = ["same", "valid", "{rows: [before, after], cols: [before, after]}"];
                    Err(Problem::not_one_of(self.path.then("padding"), other, allowed))
                }
            },
        }
    }

    fn activation(&self) -> Result<Activation, Problem> {
        let Some(name) = &self.node.activation else { return Ok(Activation::None) };
        let found = Activation::ALL.into_iter().find(|activation| activation.name() == name);
        found.ok_or_else(|| {
            Problem::not_one_of(self.path.then("activation"), name, Activation::ALL.map(Activation::name))
        })
    }

    fn scheme(&self) -> Result<Scheme, Problem> {
        let Some(name) = &self.node.requantize else { return Ok(Scheme::Double) };
        let names = Scheme::ALL.iter().map(|scheme| scheme.name());
        name.parse().map_err(|_| Problem::not_one_of(self.path.then("requantize"), name, names))
    }

    fn requantize(&self) -> Result<Requantize, Problem> {
        let scheme = self.scheme()?;
        let Some(name) = &self.node.multiplier else {
            let in_float32 = scheme.forms_multiplier_in_float32();
            let rule = if in_float32 { MultiplierRule::Float32 } else { MultiplierRule::Float64 };
            return Ok(Requantize { scheme, rule });
        };
        match RULES.into_iter().find(|(rule, _)| rule == name) {
            Some((_, rule)) => Ok(Requantize { scheme, rule }),
            None => Err(Problem::not_one_of(self.path.then("multiplier"), name, RULES.map(|(rule, _)| rule))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_of_the_graph_can_be_written() {
        let names: Vec<_> = OPERATIONS.iter().map(|(name, ..)| *name).collect();
        assert_eq!(names, Op::NAMES);
    }
}
