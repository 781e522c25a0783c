//! Constants: initializers and their scales.

use guardbit_graph::{DType, Quantization, Tensor, TensorId, real_of};

use super::{Constants, ExportError, Order, Writer, int};
use crate::onnx::parse::constant::permuted_places;
use crate::onnx::parse::metadata;
use crate::onnx::parse::proto::{self, element};

/// Returns the element type of a dtype, and the bits of an element.
pub(super) fn element_of(dtype: DType) -> (i32, usize) {
    match dtype {
        DType::Int4 => (element::INT4, 4),
        DType::UInt4 => (element::UINT4, 4),
        DType::Int8 => (element::INT8, 8),
        DType::UInt8 => (element::UINT8, 8),
        DType::Int16 => (element::INT16, 16),
        DType::UInt16 => (element::UINT16, 16),
        DType::Int32 => (element::INT32, 32),
        DType::Int64 => (element::INT64, 64),
        DType::Float32 => (element::FLOAT, 32),
        DType::Float16 => (element::FLOAT16, 16),
        DType::BFloat16 => (element::BFLOAT16, 16),
        DType::Float8E4M3Fn => (element::FLOAT8E4M3FN, 8),
        DType::Float8E5M2 => (element::FLOAT8E5M2, 8),
        DType::Float8E4M3FnUz => (element::FLOAT8E4M3FNUZ, 8),
        DType::Float8E5M2FnUz => (element::FLOAT8E5M2FNUZ, 8),
        DType::Float8E8M0 => (element::FLOAT8E8M0, 8),
        DType::Float4E2M1 => (element::FLOAT4E2M1, 4),
    }
}

/// Returns the element type of real values for a tensor: its own for floating-point numbers, float for codes.
pub(super) fn real_element(dtype: DType) -> i32 {
    if dtype.is_float() { element_of(dtype).0 } else { element::FLOAT }
}

/// Returns the bytes of integers of `bits` bits. Two integers of 4 bits share a byte, the first in the low half.
fn bytes(values: &[i64], bits: usize) -> Vec<u8> {
    if bits == 4 {
        let nibble = |value: Option<&i64>| (value.copied().unwrap_or(0) & 15) as u8;
        return values.chunks(2).map(|two| nibble(two.first()) | nibble(two.get(1)) << 4).collect();
    }
    values.iter().flat_map(|value| value.to_le_bytes().into_iter().take(bits / 8)).collect()
}

impl Writer<'_> {
    pub fn reals_constant(&mut self, name: &str, shape: &[usize], values: &[f32]) -> String {
        let data = || values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.initializer(name, shape, element::FLOAT, data)
    }

    fn initializer(
        &mut self,
        name: &str,
        shape: &[usize],
        element: i32,
        data: impl FnOnce() -> Vec<u8>,
    ) -> String {
        let name = self.fresh(name, "constant");
        self.shaped(&name, element, shape.to_vec());
        self.initializers.push(proto::Tensor {
            name: name.clone(),
            dims: shape.iter().map(|&size| size as i64).collect(),
            data_type: element,
            raw_data: if self.constants == Constants::Written { data() } else { Vec::new() },
            ..Default::default()
        });
        name
    }

    pub fn integers_constant(&mut self, name: &str, shape: &[usize], dtype: DType, values: &[i64]) -> String {
        let (element, bits) = element_of(dtype);
        self.initializer(name, shape, element, || bytes(values, bits))
    }

    /// Adds a one-dimensional constant of integers, an operand of operators, and returns its name.
    pub fn sizes_constant(&mut self, name: &str, values: &[i64]) -> String {
        self.integers_constant(name, &[values.len()], DType::Int64, values)
    }

    /// Adds a constant with codes of a tensor. A restricted range is stored in the metadata.
    pub fn codes_constant(
        &mut self,
        tensor: &Tensor,
        dtype: DType,
        shape: &[usize],
        codes: &[i64],
    ) -> String {
        let name = self.integers_constant(&tensor.name, shape, dtype, codes);
        let range = tensor.ty.quantization.as_ref().and_then(Quantization::range);
        if let (Some(range), Some(last)) = (range, self.initializers.last_mut()) {
            last.metadata.push(metadata::range(range));
        }
        name
    }

    /// Returns the quantization of a tensor.
    pub fn quantization(&self, id: TensorId) -> Result<Quantization, ExportError> {
        let tensor = self.graph.tensor(id);
        tensor.ty.quantization.clone().ok_or_else(|| ExportError::Tensor {
            tensor: tensor.name.clone(),
            problem: "has codes without a scale; one is needed".into(),
        })
    }

    /// Adds the scale and the zero point of codes, and returns their names.
    pub fn scale_of(&mut self, name: &str, quantization: &Quantization, dtype: DType) -> [String; 2] {
        let shape: &[usize] =
            if quantization.axis().is_some() { &[quantization.scales().len()] } else { &[] };
        let zero_points: Vec<i64> = quantization.zero_points().iter().map(|&z| z.into()).collect();
        [
            self.reals_constant(name, shape, quantization.scales()),
            self.integers_constant(name, shape, dtype, &zero_points),
        ]
    }

    /// Adds a quantizer or dequantizer of codes with this quantization. `axis` is the axis in the file if there are
    /// several scales.
    pub fn linear(
        &mut self,
        op: &str,
        from: String,
        to: &str,
        (quantization, dtype): (&Quantization, DType),
        axis: Option<usize>,
    ) {
        let [scale, zero_point] = self.scale_of(to, quantization, dtype);
        let attributes = axis.map(|axis| int("axis", axis as i64)).into_iter().collect();
        self.node(op, vec![from, scale, zero_point], to, attributes);
        let made = if op == "QuantizeLinear" { element_of(dtype).0 } else { element::FLOAT };
        self.known.entry(to.into()).or_default().element = made;
    }

    pub fn real_constant(&mut self, tensor: &Tensor, order: Order) -> String {
        let words = || tensor.codes().map(|codes| codes.to_vec()).unwrap_or_default();
        let (shape, words) = self.ordered(&tensor.ty.shape, words, order);
        if tensor.ty.dtype != DType::Float32 {
            let codes: Vec<i64> = words.into_iter().map(i64::from).collect();
            return self.integers_constant(&tensor.name, &shape, tensor.ty.dtype, &codes);
        }
        let values: Vec<f32> = words.into_iter().map(real_of).collect();
        self.reals_constant(&tensor.name, &shape, &values)
    }

    /// Adds constant codes with a dequantizer, and returns the name of the real values.
    pub fn code_constant(&mut self, id: TensorId, order: Order) -> Result<String, ExportError> {
        let (tensor, quantization) = (self.graph.tensor(id), self.quantization(id)?);
        let codes = || tensor.constant.as_ref().map_or_else(Vec::new, |constant| constant.wide().to_vec());
        let (shape, codes) = self.ordered(&tensor.ty.shape, codes, order);
        let name = self.codes_constant(tensor, tensor.ty.dtype, &shape, &codes);
        let to = self.fresh(&tensor.name, "real");
        let axis = quantization.axis().map(|axis| order.axis(axis, shape.len()));
        self.linear("DequantizeLinear", name, &to, (&quantization, tensor.ty.dtype), axis);
        Ok(to)
    }

    /// Returns a constant with its axes in the given order.
    pub(super) fn ordered<T: Copy>(
        &self,
        shape: &[usize],
        values: impl FnOnce() -> Vec<T>,
        order: Order,
    ) -> (Vec<usize>, Vec<T>) {
        let turned = order != Order::Own && shape.len() > 2;
        let axes = if turned { order.permutation(shape.len()) } else { (0..shape.len()).collect() };
        self.permuted(shape, values, &axes)
    }

    /// Returns a constant with permuted axes. It has no values if constants are only described.
    pub fn permuted<T: Copy>(
        &self,
        shape: &[usize],
        values: impl FnOnce() -> Vec<T>,
        axes: &[usize],
    ) -> (Vec<usize>, Vec<T>) {
        match self.constants {
            Constants::Written if axes.is_sorted() => (shape.to_vec(), values()),
            Constants::Written => permuted(shape, &values(), axes),
            Constants::Described => (axes.iter().map(|&axis| shape[axis]).collect(), Vec::new()),
        }
    }
}

/// Returns a constant with permuted axes.
pub(super) fn permuted<T: Copy>(shape: &[usize], values: &[T], axes: &[usize]) -> (Vec<usize>, Vec<T>) {
    let sizes = axes.iter().map(|&axis| shape[axis]).collect();
    (sizes, permuted_places(shape, axes).map(|at| values[at]).collect())
}
