//! Tests of single operations against the reference kernels of LiteRT 2.3.0, as recorded by
//! `scripts/goldens/make_litert_op_goldens.py`.

use guardbit_graph::{
    Activation, DType, Graph, GraphBuilder, GraphError, MultiplierRule, Op, OutputSpec, Padding,
    Quantization, Requantize, TensorId, TensorType, ops,
};
use guardbit_num::Scheme;
use serde_json::Value;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/litert_ops.json");

fn goldens() -> Vec<Value> {
    let text = std::fs::read_to_string(GOLDEN).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn every_op_computes_what_the_reference_kernels_compute() {
    for case in goldens() {
        let codes_of_case = evaluate(&case, recorded(&case));
        assert_eq!(codes_of_case, codes(&case["output"]), "{case}");
    }
}

/// The cases hold sums at ties and between multipliers of different precision, so that a wrong rounding fails.
#[test]
fn no_other_rounding_fits() {
    let cases = goldens();
    let pinned =
        ["conv2d", "depthwise_conv2d", "fully_connected", "mul", "mean", "relu", "relu6", "quantize"];
    for name in pinned {
        let int8: Vec<_> =
            cases.iter().filter(|c| c["op"] == name && dtype(&c["inputs"][0]) == DType::Int8).collect();
        let right = recorded(int8[0]);
        for scheme in [Scheme::Double, Scheme::Single, Scheme::Away, Scheme::Even, Scheme::Float64Away] {
            for rule in [MultiplierRule::Float64, MultiplierRule::Float32] {
                let other = Requantize { scheme, rule };
                let fits = int8.iter().all(|case| evaluate(case, other) == codes(&case["output"]));
                assert_eq!(fits, other == right, "{name} under {other:?}");
            }
        }
    }
}

/// Returns the runtime's rounding in this case.
fn recorded(case: &Value) -> Requantize {
    let rule = match case["rule"].as_str().unwrap() {
        "float64" => MultiplierRule::Float64,
        "product_in_float32" => MultiplierRule::ProductInFloat32,
        "float32" => MultiplierRule::Float32,
        other => panic!("no rule `{other}`"),
    };
    Requantize { scheme: case["scheme"].as_str().unwrap().parse().unwrap(), rule }
}

fn evaluate(case: &Value, requantize: Requantize) -> Vec<i32> {
    let graph = build(case, requantize).unwrap_or_else(|e| panic!("{case}: {e}"));
    let (id, node) = graph.nodes_with_ids().next().unwrap();
    let inputs: Vec<_> = case["inputs"].as_array().unwrap().iter().map(codes).collect();
    let inputs: Vec<_> = inputs.iter().map(Vec::as_slice).collect();
    let output = graph.tensor(node.output);
    assert_eq!(output.ty.shape, sizes(&case["output"]["shape"]), "{case}");
    graph.evaluate(id, &inputs)
}

fn build(case: &Value, requantize: Requantize) -> Result<Graph, GraphError> {
    let mut builder = GraphBuilder::new("golden");
    let mut inputs = Vec::new();
    for (index, tensor) in case["inputs"].as_array().unwrap().iter().enumerate() {
        inputs.push(Some(input(&mut builder, format!("input{index}"), tensor)?));
    }
    let output = &case["output"];
    let spec = OutputSpec { name: "output".into(), dtype: dtype(output), quantization: quantization(output) };
    let output = builder.node(op(case, requantize), &inputs, spec)?;
    builder.finish(vec![output])
}

fn input(builder: &mut GraphBuilder, name: String, tensor: &Value) -> Result<TensorId, GraphError> {
    let ty = TensorType {
        shape: sizes(&tensor["shape"]),
        dtype: dtype(tensor),
        quantization: quantization(tensor),
    };
    if tensor["constant"] == true {
        builder.constant(name, ty, codes(tensor))
    } else {
        builder.input(name, ty)
    }
}

fn quantization(tensor: &Value) -> Option<Quantization> {
    let quantization = tensor.get("quantization").filter(|q| !q.is_null())?;
    let scales: Vec<_> =
        integers(&quantization["scale_bits"]).map(|bits| f32::from_bits(bits as u32)).collect();
    let zero_points: Vec<_> = integers(&quantization["zero_points"]).map(|z| z as i32).collect();
    match quantization["axis"].as_u64() {
        Some(axis) => Quantization::per_axis(scales, zero_points, axis as usize),
        None => Quantization::per_tensor(scales[0], zero_points[0]),
    }
    .ok()
}

fn op(case: &Value, requantize: Requantize) -> Op {
    let a = &case["attributes"];
    let activation = || Activation::ALL.into_iter().find(|x| a["activation"] == x.name()).unwrap();
    let padding = || if a["padding"] == "same" { Padding::Same } else { Padding::Valid };
    let keep_dims = || a["keep_dims"] == true;
    match case["op"].as_str().unwrap() {
        "conv2d" => ops::Conv2d {
            stride: pair(&a["stride"]),
            dilation: pair(&a["dilation"]),
            padding: padding(),
            activation: activation(),
            requantize,
        }
        .into(),
        "depthwise_conv2d" => ops::DepthwiseConv2d {
            stride: pair(&a["stride"]),
            dilation: pair(&a["dilation"]),
            padding: padding(),
            activation: activation(),
            requantize,
        }
        .into(),
        "fully_connected" => ops::FullyConnected {
            keep_num_dims: a["keep_num_dims"] == true,
            activation: activation(),
            requantize,
        }
        .into(),
        "add" => ops::Add { activation: activation(), scheme: requantize.scheme }.into(),
        "mul" => ops::Mul { activation: activation(), requantize }.into(),
        "avg_pool2d" => ops::AvgPool2d {
            kernel: pair(&a["kernel"]),
            stride: pair(&a["stride"]),
            padding: padding(),
            activation: activation(),
        }
        .into(),
        "max_pool2d" => ops::MaxPool2d {
            kernel: pair(&a["kernel"]),
            stride: pair(&a["stride"]),
            padding: padding(),
            activation: activation(),
        }
        .into(),
        "mean" => ops::Mean { axes: sizes(&a["axes"]), keep_dims: keep_dims(), requantize }.into(),
        "sum" => ops::Sum { axes: sizes(&a["axes"]), keep_dims: keep_dims(), requantize }.into(),
        "relu" => ops::Relu { requantize }.into(),
        "relu6" => ops::Relu6 { requantize }.into(),
        "quantize" => ops::Quantize { requantize }.into(),
        "softmax" => ops::Softmax { beta: f32::from_bits(a["beta_bits"].as_u64().unwrap() as u32) }.into(),
        "reshape" => ops::Reshape { shape: integers(&a["shape"]).collect() }.into(),
        "concat" => ops::Concat { axis: a["axis"].as_u64().unwrap() as usize, requantize }.into(),
        "pad" => ops::Pad {
            paddings: a["paddings"].as_array().unwrap().iter().map(pair).collect(),
            value: a["value"].as_i64().map(|v| v as i32),
        }
        .into(),
        "transpose" => ops::Transpose { permutation: sizes(&a["permutation"]) }.into(),
        other => panic!("no op `{other}`"),
    }
}

fn dtype(tensor: &Value) -> DType {
    tensor["dtype"].as_str().unwrap().parse().unwrap()
}

fn codes(tensor: &Value) -> Vec<i32> {
    integers(&tensor["codes"]).map(|code| code as i32).collect()
}

fn sizes(list: &Value) -> Vec<usize> {
    integers(list).map(|size| size as usize).collect()
}

fn pair(list: &Value) -> [usize; 2] {
    sizes(list).try_into().unwrap()
}

fn integers(list: &Value) -> impl Iterator<Item = i64> + '_ {
    list.as_array().unwrap().iter().map(|value| value.as_i64().unwrap())
}
