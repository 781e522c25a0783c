//! A small network for every supported operator, with typical operands and attributes.

use crate::onnx::writer::{Attribute, Tensor, element};

/// An operand of a node.
#[derive(Debug, Clone)]
pub enum Operand {
    /// Inputs of the network with this shape: real values, and codes.
    X(Vec<i64>),
    U8(Vec<i64>),
    /// Constants with this shape: real values, and codes.
    Reals(Vec<i64>),
    Codes(i32, Vec<i64>),
    /// Dequantized constant codes with several scales along an axis.
    Weights {
        shape: Vec<i64>,
        scales: i64,
        axis: i64,
    },
    /// One-dimensional constants.
    Integers(Vec<i64>),
    Floats(Vec<f32>),
    Absent,
}

pub use Operand::{Absent, Codes, Floats, Integers, Reals, U8, Weights, X};

/// One operator with valid operands and attributes.
#[derive(Debug, Clone)]
pub struct Row {
    pub op: &'static str,
    pub opset: i64,
    pub operands: Vec<Operand>,
    pub attributes: Vec<(&'static str, Attribute)>,
    pub outputs: &'static [&'static str],
}

impl Row {
    pub fn int(self, name: &'static str, value: i64) -> Self {
        self.with(name, Attribute::Int(value))
    }

    pub fn ints(self, name: &'static str, values: &[i64]) -> Self {
        self.with(name, Attribute::Ints(values.to_vec()))
    }

    pub fn text(self, name: &'static str, value: &str) -> Self {
        self.with(name, Attribute::Text(value.into()))
    }

    pub fn with(mut self, name: &'static str, value: Attribute) -> Self {
        self.attributes.push((name, value));
        self
    }

    fn opset(self, opset: i64) -> Self {
        Self { opset, ..self }
    }

    fn outputs(self, outputs: &'static [&'static str]) -> Self {
        Self { outputs, ..self }
    }

    /// Returns whether none of its operands is an input of the network.
    pub fn is_constant(&self) -> bool {
        self.op != "Shape" && !self.operands.iter().any(|operand| matches!(operand, X(_) | U8(_)))
    }

    pub fn domain(&self) -> &'static str {
        match self.op {
            "QLinearConv" | "QLinearMatMul" => "",
            "Quant" | "IntQuant" | "BipolarQuant" | "Trunc" => "qonnx.custom_op.general",
            "MxBlockScale" | "NvBlockScale" => "guardbit",
            op if op.starts_with("QLinear") || op == "QGemm" || op == "MatMulNBits" => "com.microsoft",
            _ => "",
        }
    }
}

pub fn row(op: &'static str, operands: &[Operand]) -> Row {
    Row { op, opset: 13, operands: operands.to_vec(), attributes: Vec::new(), outputs: &["y"] }
}

pub fn x(shape: &[i64]) -> Operand {
    X(shape.to_vec())
}

pub fn image() -> Operand {
    x(&[1, 4, 4, 4])
}

pub fn codes(shape: &[i64]) -> Operand {
    U8(shape.to_vec())
}

pub fn reals(shape: &[i64]) -> Operand {
    Reals(shape.to_vec())
}

pub fn u8s(shape: &[i64]) -> Operand {
    Codes(element::UINT8, shape.to_vec())
}

fn f8s(shape: &[i64]) -> Operand {
    Codes(element::FLOAT8E4M3FN, shape.to_vec())
}

fn i8s(shape: &[i64]) -> Operand {
    Codes(element::INT8, shape.to_vec())
}

pub fn integers(values: &[i64]) -> Operand {
    Integers(values.to_vec())
}

pub fn floats(values: &[f32]) -> Operand {
    Floats(values.to_vec())
}

/// Returns weights with a scale for each of four channels.
fn weights(shape: &[i64], axis: i64) -> Operand {
    Weights { shape: shape.to_vec(), scales: 4, axis }
}

/// Returns a scale and a zero point.
fn steps() -> [Operand; 2] {
    [reals(&[]), u8s(&[])]
}

/// Returns codes with their scale and zero point.
fn quantized(codes: Operand) -> Vec<Operand> {
    [vec![codes], steps().to_vec()].concat()
}

pub fn rows() -> Vec<Row> {
    [elementwise(), windows(), products(), moves(), quantizers(), constants()].concat()
}

fn elementwise() -> Vec<Row> {
    const UNARY: [&str; 27] = [
        "Abs",
        "Ceil",
        "Cos",
        "Dropout",
        "Elu",
        "Erf",
        "Exp",
        "Floor",
        "Gelu",
        "HardSigmoid",
        "HardSwish",
        "Identity",
        "LeakyRelu",
        "Log",
        "Mish",
        "Neg",
        "Reciprocal",
        "Relu",
        "Round",
        "Selu",
        "Sigmoid",
        "Sign",
        "Sin",
        "Softplus",
        "Softsign",
        "Sqrt",
        "Tanh",
    ];
    const PAIRS: [&str; 9] = ["Add", "Div", "Max", "Mean", "Min", "Mul", "Pow", "Sub", "Sum"];
    let norm = vec![image(), reals(&[4]), reals(&[4]), reals(&[4]), reals(&[4])];
    let unary = UNARY.iter().chain(&["ThresholdedRelu"]).map(|op| row(op, &[image()]));
    let pairs = PAIRS.iter().map(|op| row(op, &[image(), reals(&[4, 1, 1])]));
    let others = vec![
        row("BatchNormalization", &norm).int("training_mode", 0).int("spatial", 1),
        row("Cast", &[image()]).int("to", 1),
        row("Cast", &[image()]).int("to", 17).int("saturate", 0).opset(19),
        row("Clip", &[image(), reals(&[]), reals(&[])]),
        row("Clip", &[codes(&[1, 4]), u8s(&[]), u8s(&[])]),
        row("LayerNormalization", &[image(), reals(&[4]), reals(&[4])]).int("axis", -1).int("stash_type", 1),
        row("PRelu", &[image(), reals(&[4, 1, 1])]),
        row("Softmax", &[image()]).int("axis", -1),
        row("MxBlockScale", &[image()]).int("axis", 1).int("block_size", 2).text("elements", "float8_e4m3fn"),
        row("NvBlockScale", &[x(&[1, 4])]).int("block_size", 3).text("elements", "float4_e2m1"),
        row("Softmax", &[x(&[1, 4])]).int("axis", 1).opset(11),
        row("QLinearLeakyRelu", &[quantized(codes(&[1, 4])), steps().to_vec()].concat()),
        row("QLinearSigmoid", &[quantized(codes(&[1, 4])), steps().to_vec()].concat()),
        row("QLinearSoftmax", &[quantized(codes(&[1, 4])), steps().to_vec()].concat())
            .int("axis", 1)
            .int("opset", 13),
    ];
    let qlinear = ["QLinearAdd", "QLinearMul"]
        .map(|op| row(op, &[quantized(codes(&[1, 4])), quantized(u8s(&[1, 4])), steps().to_vec()].concat()));
    unary.chain(pairs).chain(others).chain(qlinear).collect()
}

fn windows() -> Vec<Row> {
    let convolved = || vec![image(), reals(&[4, 4, 2, 2]), reals(&[4])];
    let window = |row: Row| {
        row.ints("kernel_shape", &[2, 2])
            .ints("strides", &[1, 1])
            .ints("dilations", &[1, 1])
            .ints("pads", &[0, 0, 0, 0])
    };
    let line = |row: Row| {
        row.ints("kernel_shape", &[2]).ints("strides", &[1]).ints("dilations", &[1]).ints("pads", &[0, 0])
    };
    let same = |row: Row| window(row).text("auto_pad", "SAME_UPPER");
    let pool = |op, operands: &[Operand]| row(op, operands).int("ceil_mode", 0).int("count_include_pad", 0);
    let transposed = || row("ConvTranspose", &[image(), reals(&[4, 2, 2, 2]), reals(&[2])]);
    let integer = || vec![codes(&[1, 4, 4, 4]), i8s(&[4, 4, 2, 2]), u8s(&[]), Codes(element::INT8, vec![])];
    let qconv = [
        quantized(codes(&[1, 4, 4, 4])),
        vec![i8s(&[4, 4, 2, 2]), reals(&[4]), i8s(&[4])],
        steps().to_vec(),
        vec![Codes(element::INT32, vec![4])],
    ];
    let images = [quantized(codes(&[1, 4, 4, 4])), steps().to_vec()].concat();
    vec![
        window(pool("AveragePool", &[image()])),
        line(pool("AveragePool", &[x(&[1, 4, 8])])),
        same(pool("AveragePool", &[image()])),
        window(pool("MaxPool", &[image()])).int("storage_order", 0),
        same(pool("MaxPool", &[image()])),
        window(pool("MaxPool", &[codes(&[1, 4, 4, 4])])),
        window(pool("QLinearAveragePool", &images)).int("channels_last", 0),
        row("QLinearGlobalAveragePool", &images).int("channels_last", 0),
        row("GlobalAveragePool", &[image()]),
        row("GlobalMaxPool", &[image()]),
        window(row("Conv", &convolved())).int("group", 1),
        same(row("Conv", &convolved())).int("group", 1),
        line(row("Conv", &[x(&[1, 4, 8]), reals(&[4, 4, 2]), reals(&[4])])).int("group", 1),
        window(row("Conv", &[image(), reals(&[4, 1, 2, 2])])).int("group", 4),
        window(row("Conv", &[image(), weights(&[4, 4, 2, 2], 0), reals(&[4])])).int("group", 1),
        window(row("ConvTranspose", &[image(), weights(&[4, 2, 2, 2], 0), reals(&[2])])).int("group", 1),
        window(row("ConvInteger", &integer())).int("group", 1),
        window(row("QLinearConv", &qconv.concat())).int("group", 1),
        window(transposed()).int("group", 1).ints("output_padding", &[0, 0]),
        same(transposed()).int("group", 1).ints("output_padding", &[0, 0]),
        window(transposed()).int("group", 1).ints("output_shape", &[5, 5]),
    ]
}

fn products() -> Vec<Row> {
    let gemm = |row: Row| row.int("transA", 0).int("transB", 0);
    let bits = |row: Row| row.int("K", 20).int("N", 3).int("bits", 4).int("block_size", 16);
    let matrix = [quantized(codes(&[2, 4])), vec![u8s(&[4, 3])], steps().to_vec()].concat();
    let dense = [matrix.clone(), vec![Codes(element::INT32, vec![3])], steps().to_vec()].concat();
    vec![
        gemm(row("Gemm", &[x(&[2, 4]), reals(&[4, 3]), reals(&[3])])),
        gemm(row("Gemm", &[x(&[2, 4]), weights(&[4, 4], 1), reals(&[4])])),
        row("MatMul", &[x(&[2, 4]), reals(&[4, 3])]),
        row("MatMul", &[x(&[2, 4]), weights(&[4, 4], 1)]),
        row("MatMul", &[x(&[2, 4]), x(&[4, 3])]),
        row("MatMulInteger", &[codes(&[2, 4]), u8s(&[4, 3]), u8s(&[]), u8s(&[])]),
        row("MatMulInteger", &[codes(&[2, 4]), i8s(&[4, 3]), u8s(&[]), i8s(&[3])]),
        row("QLinearMatMul", &[matrix, steps().to_vec()].concat()),
        gemm(row("QGemm", &dense)),
        bits(row("MatMulNBits", &[x(&[2, 20]), u8s(&[3, 2, 8]), reals(&[3, 2]), u8s(&[3, 1])])),
        bits(row(
            "MatMulNBits",
            &[x(&[2, 20]), u8s(&[3, 2, 8]), reals(&[6]), reals(&[6]), Absent, reals(&[3])],
        )),
    ]
}

fn moves() -> Vec<Row> {
    const REDUCTIONS: [&str; 5] = ["ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum"];
    let reduced =
        |operands: &[Operand], op| row(op, operands).int("keepdims", 1).int("noop_with_empty_axes", 0);
    let listed = REDUCTIONS.map(|op| reduced(&[image(), integers(&[2, 3])], op));
    let said = REDUCTIONS.map(|op| reduced(&[image()], op).ints("axes", &[2, 3]).opset(11));
    let resize = |operands: &[Operand]| row("Resize", operands).int("antialias", 0).int("exclude_outside", 0);
    let sizes = || resize(&[image(), Absent, Absent, integers(&[1, 4, 7, 8])]);
    let scales = || resize(&[image(), Absent, floats(&[1.0, 1.0, 1.5, 2.0])]);
    let pad = |operands: &[Operand]| row("Pad", operands);
    let others = vec![
        row("Concat", &[image(), image()]).int("axis", 1),
        row("DepthToSpace", &[image()]).int("blocksize", 2),
        row("DepthToSpace", &[image()]).int("blocksize", 2).text("mode", "CRD"),
        row("SpaceToDepth", &[image()]).int("blocksize", 2),
        row("Expand", &[x(&[1, 4]), integers(&[2, 3, 4])]),
        row("Flatten", &[image()]).int("axis", 1),
        row("Gather", &[image(), integers(&[0, 1])]).int("axis", 1),
        row("Gather", &[u8s(&[256]), codes(&[1, 4])]).int("axis", 0),
        pad(&[image(), integers(&[0, 0, 1, 1, 0, 0, 1, 1])]).text("mode", "constant"),
        pad(&[image(), integers(&[0, 0, 1, 1, 0, 0, 1, 1])]).text("mode", "reflect"),
        pad(&[image(), integers(&[0, 0, 1, 1, 0, 0, 1, 1])]).text("mode", "edge"),
        pad(&[image(), integers(&[1, 1]), reals(&[]), integers(&[2])]).opset(18),
        pad(&[image(), integers(&[1, 1]), Absent, integers(&[2])]).opset(18).text("mode", "edge"),
        pad(&[image()]).ints("pads", &[0, 0, 1, 1, 0, 0, 1, 1]).opset(10),
        row("Reshape", &[image(), integers(&[2, -1, 0])]).int("allowzero", 0),
        sizes().text("mode", "nearest"),
        sizes().text("mode", "linear"),
        sizes().text("mode", "nearest").text("coordinate_transformation_mode", "asymmetric"),
        scales().text("mode", "nearest"),
        scales().text("mode", "linear"),
        row("Upsample", &[image(), floats(&[1.0, 1.0, 2.0, 2.0])]).opset(9).text("mode", "nearest"),
        row("Upsample", &[image(), floats(&[1.0, 1.0, 2.0, 2.0])]).opset(9).text("mode", "linear"),
        row("Slice", &[image(), integers(&[0, 1]), integers(&[4, 3]), integers(&[2, 3]), integers(&[2, 1])]),
        row("Slice", &[image(), integers(&[3]), integers(&[-9]), integers(&[3]), integers(&[-1])]),
        row("Split", &[image(), integers(&[1, 3])]).int("axis", 1).outputs(&["y", "z"]),
        row("Split", &[image()]).int("axis", 1).ints("split", &[1, 3]).outputs(&["y", "z"]).opset(11),
        row("Split", &[image()]).int("axis", 1).int("num_outputs", 2).outputs(&["y", "z"]).opset(18),
        row("Squeeze", &[image(), integers(&[0])]),
        row("Squeeze", &[image()]).ints("axes", &[0]).opset(11),
        row("Unsqueeze", &[image(), integers(&[0])]),
        row("Unsqueeze", &[image()]).ints("axes", &[0]).opset(11),
        row("Tile", &[image(), integers(&[1, 1, 2, 2])]),
        row("Transpose", &[image()]).ints("perm", &[0, 2, 3, 1]),
    ];
    listed.into_iter().chain(said).chain(others).collect()
}

fn quantizers() -> Vec<Row> {
    let quant = |op, values: &[f32]| {
        let operands = values.iter().map(|&value| floats(&[value]));
        row(op, &std::iter::once(image()).chain(operands).collect::<Vec<_>>())
            .int("signed", 1)
            .int("narrow", 0)
    };
    let said = |row: Row| row.int("axis", 1).int("block_size", 0);
    let joined = [steps().to_vec(), quantized(codes(&[1, 4])), quantized(codes(&[1, 4]))];
    vec![
        quant("Quant", &[0.5, 0.0, 8.0]),
        quant("IntQuant", &[0.5, 0.0, 4.0]),
        quant("BipolarQuant", &[0.5]),
        quant("Trunc", &[0.5, 0.0, 8.0, 4.0]),
        quant("Trunc", &[0.5, 0.0, 8.0, 2.0, 4.0]),
        said(row("QuantizeLinear", &[image(), reals(&[]), u8s(&[])])).int("output_dtype", 0),
        said(row("QuantizeLinear", &[image(), reals(&[4]), u8s(&[4])])).int("saturate", 1),
        row("QuantizeLinear", &[x(&[2, 8]), reals(&[2, 2]), u8s(&[2, 2])])
            .int("axis", 1)
            .int("block_size", 4)
            .opset(21),
        row("QuantizeLinear", &[image(), reals(&[4]), f8s(&[4])]).int("axis", 1).opset(19),
        row("QuantizeLinear", &[x(&[2, 8]), reals(&[2, 2]), f8s(&[2, 2])])
            .int("axis", 1)
            .int("block_size", 4)
            .int("precision", 10)
            .opset(23),
        said(row("DequantizeLinear", &quantized(codes(&[1, 4])))),
        row("DequantizeLinear", &[codes(&[2, 8]), reals(&[2, 2]), u8s(&[2, 2])])
            .int("axis", 1)
            .int("block_size", 4)
            .opset(21),
        row("DynamicQuantizeLinear", &[image()]).outputs(&["y", "z", "w"]),
        row("QLinearConcat", &joined.concat()).int("axis", 1),
    ]
}

/// Returns operators with constant operands, which the reader computes.
fn constants() -> Vec<Row> {
    let matrix = || reals(&[2, 4]);
    let value = |values: &[i64]| Attribute::Tensor(Tensor::integers("value", values));
    vec![
        row("Constant", &[]).int("value_int", 3),
        row("Constant", &[]).ints("value_ints", &[3, 4]),
        row("Constant", &[]).with("value", value(&[3, 4])),
        row("ConstantOfShape", &[integers(&[2, 3])]),
        row("ConstantOfShape", &[integers(&[2, 3])]).with("value", value(&[3])),
        row("Shape", &[image()]).int("start", 0).int("end", 3),
        row("Add", &[integers(&[2, 3]), integers(&[4, 5])]),
        row("Sub", &[integers(&[2, 3]), integers(&[4])]),
        row("Mul", &[integers(&[2, 3]), integers(&[4])]),
        row("Div", &[integers(&[2, 3]), integers(&[4])]),
        row("Cast", &[integers(&[2, 3])]).int("to", 6),
        row("Concat", &[integers(&[2, 3]), integers(&[4])]).int("axis", 0),
        row("Flatten", &[matrix()]).int("axis", 1),
        row("Gather", &[matrix(), integers(&[0, 1])]).int("axis", 1),
        row("Reshape", &[matrix(), integers(&[4, -1])]),
        row("Slice", &[integers(&[2, 3, 4]), integers(&[0]), integers(&[2]), integers(&[0]), integers(&[1])]),
        row("Squeeze", &[reals(&[1, 4]), integers(&[0])]),
        row("Unsqueeze", &[matrix(), integers(&[0])]),
        row("Transpose", &[matrix()]).ints("perm", &[1, 0]),
        row("DequantizeLinear", &[i8s(&[4, 2]), reals(&[4]), i8s(&[4])]).int("axis", 0),
        row("DequantizeLinear", &[i8s(&[2, 8]), reals(&[2, 2]), i8s(&[2, 2])])
            .int("axis", 1)
            .int("block_size", 4),
        row("QuantizeLinear", &[reals(&[4, 2]), reals(&[4]), i8s(&[4])]).int("axis", 0),
        row("QuantizeLinear", &[reals(&[4, 2]), reals(&[4]), f8s(&[4])]).int("axis", 0).opset(19),
        row("DequantizeLinear", &[f8s(&[4, 2]), reals(&[4])]).int("axis", 0).opset(19),
        row("DequantizeLinear", &[f8s(&[2, 8]), reals(&[2, 2]), f8s(&[2, 2])])
            .int("axis", 1)
            .int("block_size", 4)
            .int("output_dtype", 10)
            .opset(23),
    ]
}
