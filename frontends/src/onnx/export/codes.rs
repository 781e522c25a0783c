//! Quantizers and dequantizers around operators.

use guardbit_graph::{Activation, CodeRange, DType, NodeId, Op, Quantization, TensorId};

use super::tensors::real_element;
use super::{ExportError, Known, Order, Writer, floats, ints};
use crate::onnx::parse::proto::element;

/// The real values to quantize, by their name.
#[derive(Debug, Clone, Copy)]
pub(super) enum Made<'a> {
    /// The output of an operator on codes. ONNX Runtime fuses it with a quantizer of 8-bit codes directly after it.
    Fused(&'a str, Activation),
    /// Moved elements of a tensor with equal quantization.
    Moved(&'a str),
    /// Any other real values.
    Real(&'a str),
}

impl Made<'_> {
    fn name(&self) -> &str {
        match self {
            Self::Fused(name, _) | Self::Moved(name) | Self::Real(name) => name,
        }
    }
}

/// Returns the dtype of 8 bits that holds all codes of a narrower dtype.
fn wider(dtype: DType) -> DType {
    match dtype {
        DType::Int4 => DType::Int8,
        DType::UInt4 => DType::UInt8,
        other => other,
    }
}

/// Returns the quantization without a restricted range.
fn whole(quantization: &Quantization) -> Quantization {
    let (scales, zero_points) = (quantization.scales().to_vec(), quantization.zero_points().to_vec());
    let same = match quantization.axis() {
        Some(axis) => Quantization::per_axis(scales, zero_points, axis),
        None => Quantization::per_tensor(scales[0], zero_points[0]),
    };
    same.unwrap_or_else(|_| quantization.clone())
}

/// Returns the real value of a code.
fn real(quantization: &Quantization, code: i32) -> f32 {
    (i64::from(code) - i64::from(quantization.zero_point(0))) as f32 * quantization.scale(0)
}

/// Returns the operator and the real limits of a clamp of codes, if it excludes codes of the dtype.
fn clamp(
    quantization: &Quantization,
    dtype: DType,
    activation: Activation,
) -> Option<(&'static str, Vec<f32>)> {
    let (low, high) = activation.clamp(dtype, quantization);
    if CodeRange::new(low, high)? == CodeRange::of(dtype) {
        return None;
    }
    let own = quantization.codes_of(dtype) == CodeRange::of(dtype);
    let plain = |limits: [f32; 2]| {
        // The runtime rounds half to even, while an activation rounds half away from zero.
        let code = |limit: f32| (limit / quantization.scale(0)).round_ties_even() as i128;
        let codes = limits.map(|limit| code(limit) + i128::from(quantization.zero_point(0)));
        let fits = own && codes.map(|code| dtype.saturate(code)) == [low, high];
        if fits { limits.to_vec() } else { vec![real(quantization, low), real(quantization, high)] }
    };
    Some(match activation {
        Activation::Relu if own => ("Relu", Vec::new()),
        Activation::Relu | Activation::None => {
            ("Clip", vec![real(quantization, low), real(quantization, high)])
        }
        Activation::Relu6 => ("Clip", plain([0.0, 6.0])),
        Activation::ReluN1To1 => ("Clip", plain([-1.0, 1.0])),
        Activation::Relu0To1 => ("Clip", plain([0.0, 1.0])),
    })
}

impl Writer<'_> {
    /// Adds a quantizer of real values, whose codes get the name `to`.
    pub fn quantize(
        &mut self,
        id: TensorId,
        from: Made<'_>,
        to: &str,
        order: Order,
    ) -> Result<(), ExportError> {
        let (quantization, dtype) = (self.quantization(id)?, self.graph.tensor(id).ty.dtype);
        let rank = self.graph.tensor(id).ty.shape.len();
        let axis = quantization.axis().map(|axis| order.axis(axis, rank));
        let mut real = from.name().to_owned();
        let fused = matches!(from, Made::Fused(..));
        let clamp = match from {
            Made::Fused(_, activation) => clamp(&quantization, dtype, activation),
            Made::Real(_) => clamp(&quantization, dtype, Activation::None),
            Made::Moved(_) => None,
        };
        if axis.is_some() && (fused || clamp.is_some()) {
            let problem =
                "has codes with several scales and a range, which no ONNX operator can produce".into();
            return Err(ExportError::Tensor { tensor: self.graph.tensor(id).name.clone(), problem });
        }
        // The runtime's operators that move codes support 8 bits but not 4.
        if fused && clamp.is_some() || !matches!(from, Made::Real(_)) && wider(dtype) != dtype {
            real = self.again(&real, to, &quantization, wider(dtype));
        }
        if let Some((op, limits)) = clamp {
            let clamped = self.fresh(to, "clamped");
            let limits = limits.iter().map(|&limit| self.reals_constant(to, &[], &[limit]));
            let inputs = std::iter::once(real).chain(limits.collect::<Vec<_>>()).collect();
            self.node(op, inputs, &clamped, Vec::new());
            // ONNX Runtime 1.31.1 fails on a clip directly before a quantizer of 4 bits.
            real = if wider(dtype) == dtype {
                clamped
            } else {
                self.again(&clamped, to, &quantization, wider(dtype))
            };
        }
        self.linear("QuantizeLinear", real, to, (&quantization, dtype), axis);
        self.codes.insert((id, order), to.into());
        Ok(())
    }

    /// Adds a quantizer to codes of a dtype and a dequantizer, and returns the name of the real values.
    fn again(&mut self, real: &str, name: &str, quantization: &Quantization, dtype: DType) -> String {
        let quantization = whole(quantization);
        let (codes, to) = (self.fresh(name, "wide"), self.fresh(name, "widened"));
        self.linear("QuantizeLinear", real.into(), &codes, (&quantization, dtype), None);
        self.linear("DequantizeLinear", codes, &to, (&quantization, dtype), None);
        to
    }

    /// Returns the name of the real values of a tensor, with its axes in the given order.
    pub fn real(&mut self, id: TensorId, order: Order) -> Result<String, ExportError> {
        if let Some(name) = self.reals.get(&(id, order)) {
            return Ok(name.clone());
        }
        if let Some(codes) = self.dequantized(id) {
            return self.real(codes, order);
        }
        // Real values in the other order are moved below.
        if !self.reals.contains_key(&(id, order.other()))
            && let Some((name, made)) = floats::dequantized(self, id, order)?
        {
            self.reals.insert((id, made), name.clone());
            if made == order {
                return Ok(name);
            }
        }
        let tensor = self.graph.tensor(id);
        let (rank, dtype) = (tensor.ty.shape.len(), tensor.ty.dtype);
        let name = match (&tensor.constant, dtype.is_float()) {
            (Some(_), true) => self.real_constant(tensor, order),
            (Some(_), false) => self.code_constant(id, order)?,
            (None, true) => {
                let from = self.real(id, order.other())?;
                let to = self.fresh(&tensor.name, "moved");
                self.transpose(&from, &to, order, rank);
                to
            }
            (None, false) => {
                let (codes, quantization) = (self.codes_in(id, order)?, self.quantization(id)?);
                let to = self.fresh(&codes, "real");
                let axis = quantization.axis().map(|axis| order.axis(axis, rank));
                self.linear("DequantizeLinear", codes, &to, (&quantization, dtype), axis);
                to
            }
        };
        self.reals.insert((id, order), name.clone());
        Ok(name)
    }

    /// Returns the codes whose real values a tensor holds, if a dequantizer computes it.
    pub fn dequantized(&self, id: TensorId) -> Option<TensorId> {
        let node = self.graph.node(self.links.producer(id)?);
        if let Op::Dequantize(_) = node.op { node.inputs[0] } else { None }
    }

    /// Returns the name of the real values of a tensor for an operator on codes of 8 bits.
    pub fn operand(&mut self, id: TensorId, order: Order) -> Result<String, ExportError> {
        let dtype = self.graph.tensor(id).ty.dtype;
        if wider(dtype) == dtype {
            return self.real(id, order);
        }
        if let Some(name) = self.widened.get(&(id, order)) {
            return Ok(name.clone());
        }
        let (real, quantization) = (self.real(id, order)?, self.quantization(id)?);
        let name = self.again(&real, &self.graph.tensor(id).name, &quantization, wider(dtype));
        self.widened.insert((id, order), name.clone());
        Ok(name)
    }

    /// Returns the name of the codes of a tensor, with its axes in the given order.
    pub fn codes_in(&mut self, id: TensorId, order: Order) -> Result<String, ExportError> {
        if let Some(name) = self.codes.get(&(id, order)) {
            return Ok(name.clone());
        }
        let tensor = self.graph.tensor(id);
        if !self.codes.contains_key(&(id, order.other())) {
            let problem = "is read before it is computed".into();
            return Err(ExportError::Tensor { tensor: tensor.name.clone(), problem });
        }
        let from = self.operand(id, order.other())?;
        let moved = self.fresh(&tensor.name, "moved");
        self.transpose(&from, &moved, order, tensor.ty.shape.len());
        let to = self.fresh(&tensor.name, if order == Order::Own { "nhwc" } else { "nchw" });
        let (quantization, dtype) = (whole(&self.quantization(id)?), tensor.ty.dtype);
        let axis = quantization.axis().map(|axis| order.axis(axis, tensor.ty.shape.len()));
        let moved = match wider(dtype) == dtype {
            true => moved,
            false => self.again(&moved, &to, &quantization, wider(dtype)),
        };
        // Moved codes already lie in their range.
        self.linear("QuantizeLinear", moved, &to, (&quantization, dtype), axis);
        self.codes.insert((id, order), to.clone());
        Ok(to)
    }

    fn transpose(&mut self, from: &str, to: &str, order: Order, rank: usize) {
        let axes = order.permutation(rank);
        let moved = |known: &Known| axes.iter().map(|&axis| known.shape[axis]).collect();
        let shape = self.known.get(from).map(moved).unwrap_or_default();
        let element = self.known.get(from).map_or(element::FLOAT, |known| known.element);
        let axes = axes.iter().map(|&axis| axis as i64).collect();
        self.node("Transpose", vec![from.into()], to, vec![ints("perm", axes)]);
        self.shaped(to, element, shape);
    }

    /// Defines the output of a node: codes, or unchanged real values. Sums of 32 bits stay real values, too.
    pub fn result(&mut self, id: NodeId, made: Made<'_>, order: Order) -> Result<(), ExportError> {
        let output = self.graph.node(id).output;
        let tensor = self.graph.tensor(output);
        self.shaped(made.name(), real_element(tensor.ty.dtype), self.shape_in(output, order));
        if tensor.ty.dtype.is_float() || tensor.ty.dtype == DType::Int32 {
            self.reals.insert((output, order), made.name().into());
            return Ok(());
        }
        let name = tensor.name.clone();
        self.quantize(output, made, &name, order)
    }
}
