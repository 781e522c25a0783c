//! Tests of the error messages of invalid files.

use std::fs;
use std::path::Path;

use guardbit_frontends::read_yaml;
use guardbit_graph::Op;
use ndarray::{Array1, Array2};
use ndarray_npy::write_npy;

/// A valid file.
const SOUND: &str = "\
schema: 1
inputs:
  - {name: x, shape: [1, 4, 4, 1], dtype: int8, scale: 0.1, zero_point: -3}
constants:
  - {name: w, shape: [2, 1, 1, 1], dtype: int8, scale: [0.1, 0.2], axis: 0, values: [1, -2]}
nodes:
  - op: conv2d
    inputs: [x, w]
    output: {name: y, dtype: int8, scale: 0.2}
    padding: same
outputs: [y]
";

/// Returns the error of the valid file with one text replaced by another.
fn changed(from: &str, to: &str) -> String {
    assert!(SOUND.contains(from), "nothing to change");
    rendered(&SOUND.replacen(from, to, 1), Path::new(""))
}

fn rendered(text: &str, dir: &Path) -> String {
    let error = read_yaml(text, dir, "net.yaml").unwrap_err();
    // Errors without advice of their own name the description of the format.
    let help = Some(error.help()).filter(|help| !help.starts_with("docs/reference/graph.md describes"));
    let help = help.map_or_else(String::new, |help| format!("\nhelp: {help}"));
    // The system's messages and the paths of test files depend on the machine.
    let message = error.to_string().replace(&dir.join("").display().to_string(), "");
    let message = message.split(" (os error").next().unwrap_or_default().to_owned();
    // Lists that grow with every new operation.
    let operations = Op::KINDS.iter().map(|kind| kind.name).collect::<Vec<_>>().join(", ");
    let help = help.split(", dilation, kernel, ").next().unwrap_or_default();
    format!("{}\n{}{help}", error.code(), message.replace(&operations, "(every operation)"))
}

#[test]
fn the_sound_file_is_sound() {
    read_yaml(SOUND, Path::new(""), "net").unwrap();
}

#[test]
fn the_location_is_that_of_the_message() {
    let error = read_yaml(&SOUND.replace("same", "full"), Path::new(""), "net.yaml").unwrap_err();
    let location = error.location().unwrap();
    assert_eq!((location.line, location.column), (10, 14));
    assert!(error.to_string().starts_with("net.yaml:10:14: "));
}

#[test]
fn syntax() {
    insta::assert_snapshot!(changed("outputs: [y]", "outputs: [y"), @r"
    guardbit::graph_yaml::syntax
    net.yaml:12:1: not YAML: did not find expected ',' or ']', while parsing a flow sequence at line 11 column 10
    help: check quotes, brackets and indentation
    ");
    insta::assert_snapshot!(changed("nodes:", "nodes"), @r"
    guardbit::graph_yaml::syntax
    net.yaml:7:7: not YAML: could not find expected ':', while scanning a simple key at line 6 column 1
    help: check quotes, brackets and indentation
    ");
    insta::assert_snapshot!(rendered("", Path::new("")), @r"
    guardbit::graph_yaml::missing_key
    net.yaml:1:1: missing key `schema`
    help: begin with `schema: 1`
    ");
    insta::assert_snapshot!(rendered("[1, 2]", Path::new("")), @r"
    guardbit::graph_yaml::value
    net.yaml:1:1: the file is a list; it must be a map of keys
    ");
    insta::assert_snapshot!(changed("schema: 1\n", ""), @r"
    guardbit::graph_yaml::missing_key
    net.yaml:1:1: missing key `schema`
    help: begin with `schema: 1`
    ");
    insta::assert_snapshot!(changed("schema: 1", "schema: 2"), @r"
    guardbit::graph_yaml::value
    net.yaml:1:9: `schema` is 2; it must be 1
    ");
}

#[test]
fn unknown_keys() {
    insta::assert_snapshot!(changed("inputs:", "imputs:"), @r"
    guardbit::graph_yaml::unknown_key
    net.yaml:2:1: unknown key `imputs`
    help: did you mean `inputs`? The keys of a network are schema, name, inputs, constants, nodes, outputs, metadata
    ");
    insta::assert_snapshot!(changed("padding:", "pading:"), @r"
    guardbit::graph_yaml::unknown_key
    net.yaml:10:5: unknown key `nodes[0].pading`
    help: did you mean `padding`? The keys of `nodes[0]` are op, inputs, output, stride
    ");
    insta::assert_snapshot!(changed("axis: 0,", "axes: 0,"), @r"
    guardbit::graph_yaml::unknown_key
    net.yaml:5:68: unknown key `constants[0].axes`
    help: did you mean `axis`? The keys of `constants[0]` are name, shape, dtype, scale, zero_point, axis, range, step, values, reals, file, random
    ");
    insta::assert_snapshot!(changed("padding: same", "axis: 1"), @r"
    guardbit::graph_yaml::unknown_key
    net.yaml:10:11: `nodes[0].axis` is not an attribute of conv2d
    help: conv2d takes stride, dilation, padding, activation, requantize, multiplier
    ");
    insta::assert_snapshot!(changed("padding: same", "padding: {rows: [1, 1], columns: [1, 1]}"), @r"
    guardbit::graph_yaml::unknown_key
    net.yaml:10:29: unknown key `nodes[0].padding.columns`
    help: the keys of `nodes[0].padding` are rows, cols
    ");
    insta::assert_snapshot!(changed("padding: same", "padding: same\n    padding: valid"), @r"
    guardbit::graph_yaml::duplicate_key
    net.yaml:11:14: duplicate key `nodes[0].padding`
    help: keep one of the two
    ");
}

#[test]
fn ranges() {
    insta::assert_snapshot!(changed("zero_point: -3", "range: [5, 4]"), @r"
    guardbit::graph_yaml::value
    net.yaml:3:68: `inputs[0].range` has min 5 above max 4
    ");
    insta::assert_snapshot!(changed("zero_point: -3", "range: [-127, 128]"), @r"
    guardbit::graph_yaml::value
    net.yaml:3:68: `inputs[0].range` is [-127, 128]; int8 codes are -128 to 127
    help: a range must lie within the codes of the dtype
    ");
    insta::assert_snapshot!(changed("zero_point: -3", "range: [-127]"), @r"
    guardbit::graph_yaml::count
    net.yaml:3:68: `inputs[0].range` must be a list of 2
    ");
    insta::assert_snapshot!(changed("zero_point: -3", "range: [-1, 2], step: 2"), @r"
    guardbit::graph_yaml::value
    net.yaml:3:83: `inputs[0].step` is 2; expected a whole number of steps from -1 to 2
    ");
    insta::assert_snapshot!(changed("zero_point: -3", "step: 2"), @r"
    guardbit::graph_yaml::value
    net.yaml:3:67: `inputs[0].step` is only valid with a `range`
    ");
    insta::assert_snapshot!(changed("scale: 0.2}", "scale: 0.2, range: [0, 300]}"), @r"
    guardbit::graph_yaml::value
    net.yaml:9:55: `nodes[0].output.range` is [0, 300]; int8 codes are -128 to 127
    help: a range must lie within the codes of the dtype
    ");
    insta::assert_snapshot!(changed("axis: 0,", "axis: 0, range: [-1, 1],"), @r"
    guardbit::graph_yaml::value
    net.yaml:5:105: `constants[0].values[1]` is -2 at index 1; int8 [-1, 1] codes are -1 to 1
    ");
    insta::assert_snapshot!(changed("scale: [0.1, 0.2], axis: 0,", "range: [-1, 1],"), @r"
    guardbit::graph_yaml::value
    net.yaml:5:56: `constants[0].range` is only valid with a `scale`
    ");
    let random = "axis: 0, range: [0, 3], random: {seed: 1, min: -1}";
    insta::assert_snapshot!(changed("axis: 0, values: [1, -2]", random), @r"
    guardbit::graph_yaml::value
    net.yaml:5:115: `constants[0].random.min` is -1; int8 [0, 3] codes are 0 to 3
    ");
}

#[test]
fn missing_keys() {
    insta::assert_snapshot!(changed("dtype: int8, scale: 0.1, ", "dtype: int8, "), @r"
    guardbit::graph_yaml::missing_key
    net.yaml:3:5: missing key `inputs[0].scale`, which int8 needs
    help: use `scale: none` for plain integers such as indices and counts
    ");
    insta::assert_snapshot!(changed(", values: [1, -2]", ""), @r"
    guardbit::graph_yaml::missing_key
    net.yaml:5:5: `constants[0]` has no codes
    help: give `values`, `file` or `random: {seed: 1}`; real values are `reals` or a `file`
    ");
    insta::assert_snapshot!(changed("values: [1, -2]", "values: [1, -2], random: {seed: 1}"), @r"
    guardbit::graph_yaml::value
    net.yaml:5:5: `constants[0]` has codes of more than one kind
    help: keep one of `values`, `file` and `random`
    ");
    insta::assert_snapshot!(changed("op: conv2d", "op: max_pool2d"), @r"
    guardbit::graph_yaml::missing_key
    net.yaml:7:5: missing key `nodes[0].kernel`, which max_pool2d needs
    ");
}

#[test]
fn bad_values() {
    insta::assert_snapshot!(changed("padding: same", "padding: full"), @r"
    guardbit::graph_yaml::value
    net.yaml:10:14: `nodes[0].padding` is `full`; it must be one of same, valid, {rows: [before, after], cols: [before, after]}
    ");
    insta::assert_snapshot!(changed("padding: same", "activation: tanh"), @r"
    guardbit::graph_yaml::value
    net.yaml:10:17: `nodes[0].activation` is `tanh`; it must be one of none, relu, relu6, relu_n1_to_1, relu_0_to_1
    ");
    insta::assert_snapshot!(changed("padding: same", "requantize: triple"), @r"
    guardbit::graph_yaml::value
    net.yaml:10:17: `nodes[0].requantize` is `triple`; it must be one of double, single, away, even, float32_upward, float64_upward, float64_away, tosa_double, tosa_scale16, q48, float32_nearest, float64_nearest
    ");
    insta::assert_snapshot!(changed("padding: same", "multiplier: float16"), @r"
    guardbit::graph_yaml::value
    net.yaml:10:17: `nodes[0].multiplier` is `float16`; it must be one of float64, product_in_float32, float32
    ");
    insta::assert_snapshot!(changed("op: conv2d", "op: conv3d"), @r"
    guardbit::graph_yaml::value
    net.yaml:7:9: `nodes[0].op` is `conv3d`; it must be one of conv2d, depthwise_conv2d, transpose_conv2d, fully_connected, batch_matmul, add, mul, avg_pool2d, max_pool2d, mean, sum, relu, relu6, softmax, reshape, concat, pad, transpose, quantize, quantize_float, dynamic_quantization, quantize_by, sub_zero_point, dequantize, table, qlinear_softmax, qlinear_add, qlinear_mul, float_conv2d, float_matmul, float_unary, float_binary, float_cast, float_block_scale, float_avg_pool2d, float_max_pool2d, float_mean, float_reduce, float_resize_bilinear, float_softmax, float_layer_norm, slice, gather, gather_nd, pack, tile, reverse, mirror_pad, space_to_depth, depth_to_space, space_to_batch, batch_to_space, resize_nearest, resize_bilinear, maximum, minimum, reduce_max, reduce_min, arg_max, arg_min, cast, integer_binary, dilate, sub, squared_difference, relu_n1_to_1, relu_0_to_1, leaky_relu, prelu, hard_swish, logistic, tanh, abs, neg, exp, rsqrt, l2_normalization
    ");
    insta::assert_snapshot!(changed("dtype: int8", "dtype: float64"), @r"
    guardbit::graph_yaml::value
    net.yaml:3:43: `inputs[0].dtype` is `float64`; it must be one of int4, uint4, int8, uint8, int16, uint16, int32, int64, float32, float16, bfloat16, float8_e4m3fn, float8_e5m2, float8_e4m3fnuz, float8_e5m2fnuz, float8_e8m0, float4_e2m1
    ");
    insta::assert_snapshot!(changed("dtype: int8", "dtype: float32"), @r"
    guardbit::graph_yaml::value
    net.yaml:3:59: `inputs[0].scale` is not allowed: float32 holds real values
    ");
    insta::assert_snapshot!(changed("padding: same", "stride: 2"), @r"
    guardbit::graph_yaml::value
    net.yaml:10:13: `nodes[0].stride` is 2; it must be a list of 2
    ");
    insta::assert_snapshot!(changed("padding: same", "stride: [2]"), @r"
    guardbit::graph_yaml::count
    net.yaml:10:13: `nodes[0].stride` must be a list of 2
    ");
    insta::assert_snapshot!(changed("padding: same", "stride: [1, -2]"), @r"
    guardbit::graph_yaml::value
    net.yaml:10:17: `nodes[0].stride[1]` is -2; it must be a whole number of at least 0
    ");
    insta::assert_snapshot!(changed("padding: same", "stride: [0, 1]"), @r"
    guardbit::graph_yaml::graph
    net.yaml:10:13: `nodes[0].stride` does not fit: conv2d `y`: stride [0, 1] must be 1..=1048576
    ");
    insta::assert_snapshot!(changed("scale: 0.1,", "scale: .nan,"), @r"
    guardbit::graph_yaml::value
    net.yaml:3:56: `inputs[0].scale` is wrong: scale NaN at index 0 is not a finite number above 0
    ");
    insta::assert_snapshot!(changed("scale: 0.2}", "scale: -1}"), @r"
    guardbit::graph_yaml::value
    net.yaml:9:43: `nodes[0].output.scale` is wrong: scale -1 at index 0 is not a finite number above 0
    ");
    insta::assert_snapshot!(changed("zero_point: -3", "zero_point: 300"), @r"
    guardbit::graph_yaml::graph
    net.yaml:3:73: `inputs[0].zero_point` is wrong: tensor `x`: zero point 300 is outside int8
    ");
    insta::assert_snapshot!(changed("name: x", "name: ''"), @r"
    guardbit::graph_yaml::value
    net.yaml:3:12: `inputs[0].name` is empty; every tensor needs a name
    ");
    insta::assert_snapshot!(changed("scale: [0.1, 0.2], axis: 0", "scale: [0.1, 0.2]"), @r"
    guardbit::graph_yaml::value
    net.yaml:5:56: `constants[0].scale` is a list; set `axis` to its axis
    ");
    insta::assert_snapshot!(changed("scale: [0.1, 0.2]", "scale: [0.1]"), @r"
    guardbit::graph_yaml::graph
    net.yaml:5:56: `constants[0].scale` is wrong: tensor `w`: 1 scales along axis 0 of shape [2, 1, 1, 1]
    ");
    insta::assert_snapshot!(changed("scale: [0.1, 0.2]", "scale: 0.1"), @r"
    guardbit::graph_yaml::value
    net.yaml:5:67: `constants[0].axis` is only valid with a list of scales
    ");
    insta::assert_snapshot!(changed("scale: [0.1, 0.2], axis: 0", "zero_point: 0"), @r"
    guardbit::graph_yaml::value
    net.yaml:5:61: `constants[0].zero_point` is only valid with a `scale`
    ");
}

#[test]
fn codes() {
    insta::assert_snapshot!(changed("values: [1, -2]", "values: [1, -2, 3]"), @r"
    guardbit::graph_yaml::count
    net.yaml:5:85: `constants[0].values` has 3 values; shape [2, 1, 1, 1] needs 2
    ");
    insta::assert_snapshot!(changed("values: [1, -2]", "values: [[1, -2]]"), @r"
    guardbit::graph_yaml::count
    net.yaml:5:85: `constants[0].values` is nested as [1, 2]; it must be [2, 1, 1, 1] or a flat list
    ");
    insta::assert_snapshot!(changed("values: [1, -2]", "values: [[1], [2, 3]]"), @r"
    guardbit::graph_yaml::value
    net.yaml:5:85: `constants[0].values`: lists at one level must have equal lengths
    ");
    insta::assert_snapshot!(changed("values: [1, -2]", "values: [1, 200]"), @r"
    guardbit::graph_yaml::value
    net.yaml:5:89: `constants[0].values[1]` is 200 at index 1; int8 codes are -128 to 127
    ");
    insta::assert_snapshot!(changed("values: [1, -2]", "values: [1, 2.5]"), @r"
    guardbit::graph_yaml::value
    net.yaml:5:89: `constants[0].values[1]` is 2.5; it must be an integer or a list
    ");
    insta::assert_snapshot!(changed("values: [1, -2]", "random: {seed: 1, min: -200}"), @r"
    guardbit::graph_yaml::value
    net.yaml:5:100: `constants[0].random.min` is -200; int8 codes are -128 to 127
    ");
    insta::assert_snapshot!(changed("values: [1, -2]", "random: {seed: 1, min: 2, max: 1}"), @r"
    guardbit::graph_yaml::value
    net.yaml:5:85: `constants[0].random` has min 2 above max 1
    ");
    insta::assert_snapshot!(changed("[2, 1, 1, 1], dtype", "[2000000, 2000000, 2000000, 2000000], dtype"), @r"
    guardbit::graph_yaml::graph
    net.yaml:5:22: `constants[0].shape` is wrong: tensor `w` of shape [2000000, 2000000, 2000000, 2000000] has more than 268435456 elements
    ");
    insta::assert_snapshot!(changed("[1, 4, 4, 1]", "[1, 40000, 40000, 1]"), @r"
    guardbit::graph_yaml::graph
    net.yaml:3:22: `inputs[0].shape` is wrong: tensor `x` of shape [1, 40000, 40000, 1] has more than 268435456 elements
    ");
}

#[test]
fn code_files() {
    let dir = tempfile::tempdir().unwrap();
    write_npy(dir.path().join("float.npy"), &Array1::from(vec![1.0f32, 2.0])).unwrap();
    write_npy(dir.path().join("wide.npy"), &Array1::from(vec![1i16, 2])).unwrap();
    write_npy(dir.path().join("shape.npy"), &Array2::<i8>::zeros((1, 2))).unwrap();
    fs::write(dir.path().join("text.npy"), "no array").unwrap();
    let sound = fs::read(dir.path().join("wide.npy")).unwrap();
    fs::write(dir.path().join("cut.npy"), &sound[..sound.len() - 1]).unwrap();
    let with = |dtype: &str, file: &str| {
        let constant = format!("{{name: w, shape: [2], dtype: {dtype}, file: {file}}}");
        let text = format!(
            "schema: 1\ninputs: [{{name: x, shape: [1], dtype: int8, scale: 1}}]\nnodes: []\noutputs: [x]\n\
             constants:\n  - {constant}\n"
        );
        rendered(&text, dir.path())
    };
    insta::assert_snapshot!(with("int8", "absent.npy"), @r"
    guardbit::graph_yaml::file
    net.yaml:6:46: `constants[0].file` cannot be read: absent.npy: No such file or directory
    ");
    insta::assert_snapshot!(with("int8", "float.npy"), @r"
    guardbit::graph_yaml::file
    net.yaml:6:46: `constants[0].file` holds elements of type float32; int8 needs int8
    ");
    insta::assert_snapshot!(with("int4", "wide.npy"), @r"
    guardbit::graph_yaml::file
    net.yaml:6:46: `constants[0].file` holds elements of type int16; int4 needs int8
    ");
    insta::assert_snapshot!(with("int8", "shape.npy"), @r"
    guardbit::graph_yaml::file
    net.yaml:6:46: `constants[0].file` holds shape [1, 2]; the tensor has [2]
    ");
    insta::assert_snapshot!(with("int8", "text.npy"), @r"
    guardbit::graph_yaml::file
    net.yaml:6:46: `constants[0].file` is not an array of codes: text.npy: is not a NumPy array: its first bytes are wrong
    ");
    insta::assert_snapshot!(with("int16", "cut.npy"), @r"
    guardbit::graph_yaml::file
    net.yaml:6:47: `constants[0].file` is not an array of codes: cut.npy: its shape needs 4 bytes of elements, found 3
    ");
}

#[test]
fn graphs() {
    insta::assert_snapshot!(changed("inputs: [x, w]", "inputs: [x, v]"), @r"
    guardbit::graph_yaml::unknown_tensor
    net.yaml:8:17: `nodes[0].inputs[1]` is `v`, which is not defined before it
    help: the tensors defined before it are x, w
    ");
    insta::assert_snapshot!(changed("inputs: [x, w]", "inputs: [x]"), @r"
    guardbit::graph_yaml::graph
    net.yaml:8:13: `nodes[0].inputs` does not fit: conv2d `y` takes 2 to 3 inputs, found 1
    ");
    insta::assert_snapshot!(changed("inputs: [x, w]", "inputs: [x, x]"), @r"
    guardbit::graph_yaml::graph
    net.yaml:8:14: `nodes[0].inputs[0]` does not fit: conv2d `y`: tensor `x`: must be a constant
    ");
    insta::assert_snapshot!(changed("outputs: [y]", "outputs: [z]"), @r"
    guardbit::graph_yaml::unknown_tensor
    net.yaml:11:11: `outputs[0]` is `z`, which is not defined before it
    help: the tensors defined before it are x, w, y
    ");
    insta::assert_snapshot!(changed("outputs: [y]", "outputs: []"), @r"
    guardbit::graph_yaml::graph
    net.yaml:11:10: `outputs` is empty: the graph has no output
    ");
    insta::assert_snapshot!(changed("name: y", "name: x"), @r"
    guardbit::graph_yaml::graph
    net.yaml:9:20: `nodes[0].output.name` is wrong: tensor `x` is defined twice
    ");
    insta::assert_snapshot!(changed("name: w", "name: x"), @r"
    guardbit::graph_yaml::graph
    net.yaml:5:12: `constants[0].name` is wrong: tensor `x` is defined twice
    ");
    insta::assert_snapshot!(changed("shape: [1, 4, 4, 1]", "shape: [1, 4, 4]"), @r"
    guardbit::graph_yaml::graph
    net.yaml:8:14: `nodes[0].inputs[0]` does not fit: conv2d `y`: tensor `x` has shape [1, 4, 4], expected rank 4
    ");
    insta::assert_snapshot!(changed("scale: 0.2}", "scale: 1.0e-20}"), @r"
    guardbit::graph_yaml::graph
    net.yaml:9:43: `nodes[0].output.scale` does not fit: conv2d `y`: 1000000061536802000 cannot be a requantization multiplier: it must be finite, not negative and below 2^30
    ");
}

/// Invalid sizes and names of tensors are reported at their position.
#[test]
fn tensors_that_cannot_be() {
    insta::assert_snapshot!(changed("[1, 4, 4, 1]", "[0, 4, 4, 1]"), @r"
    guardbit::graph_yaml::graph
    net.yaml:3:22: `inputs[0].shape` is wrong: tensor `x`: axis 0 of shape [0, 4, 4, 1] is empty; expected at least 1 element
    ");
    insta::assert_snapshot!(changed("[2, 1, 1, 1]", "[2, 1, 1, 0]"), @r"
    guardbit::graph_yaml::graph
    net.yaml:5:22: `constants[0].shape` is wrong: tensor `w`: axis 3 of shape [2, 1, 1, 0] is empty; expected at least 1 element
    ");
    insta::assert_snapshot!(changed("name: y", "name: \"y\\e[2J\""), @r"
    guardbit::graph_yaml::graph
    net.yaml:9:20: `nodes[0].output.name` is wrong: the name of a tensor contains the control character U+001B: `y_[2J`
    ");
    insta::assert_snapshot!(changed("schema: 1\n", "schema: 1\nname: \"a\\nb\"\n"), @r"
    guardbit::graph_yaml::value
    net.yaml:2:7: `name` is `a_b`, with control characters or too long
    ");
    let many =
        "values: [1, -2]}\n  - {name: v, shape: [268435456], dtype: int8, scale: 1, random: {seed: 1}}";
    insta::assert_snapshot!(changed("values: [1, -2]}", many), @r"
    guardbit::graph_yaml::graph
    net.yaml:6:22: `constants[1].shape` is wrong: with tensor `v` the network has more than 268435456 elements in total
    ");
}

/// Long texts of a file are shortened in errors, and their position is known in any column.
#[test]
fn errors_are_bounded() {
    let long = "l".repeat(1_000_000);
    let sizes = "1, ".repeat(500_000);
    for (from, to) in [
        ("inputs: [x, w]", format!("inputs: [x, {long}]")),
        ("op: conv2d", format!("op: {long}")),
        ("padding: same", format!("{long}: same")),
        ("padding: same", format!("padding: {long}")),
        ("dtype: int8", format!("dtype: {long}")),
        ("[1, 4, 4, 1]", format!("[{sizes}]")),
        ("values: [1, -2]", format!("values: [{sizes}]")),
        ("scale: 0.2", format!("scale: {long}")),
        ("name: y", format!("name: {long}")),
        ("schema: 1\n", format!("schema: 1\nname: {long}\n")),
        ("outputs: [y]", format!("outputs: [{long}]")),
        ("outputs: [y]", format!("outputs: {long}")),
    ] {
        let error = changed(from, &to);
        assert!(error.len() < 3000, "{from}: {} bytes: {}", error.len(), &error[..3000]);
    }
    let one_line =
        format!("{{schema: 1, inputs: [], nodes: [], outputs: [], name: {}, x: 1}}", "n".repeat(70_000));
    let error = read_yaml(&one_line, Path::new(""), "net.yaml").unwrap_err();
    assert!(error.location().unwrap().column > 65_535, "{error}");
}

#[test]
fn deep_files() {
    let deep = format!("schema: 1\nx: {}", "[".repeat(50_000));
    insta::assert_snapshot!(rendered(&deep, Path::new("")), @r"
    guardbit::graph_yaml::syntax
    net.yaml:2:68: lists and maps are nested more than 64 levels deep
    help: check that every bracket is closed
    ");
    let less = format!("schema: 1\nx: {}{}", "[".repeat(200), "]".repeat(200));
    let error = read_yaml(&less, Path::new(""), "net.yaml").unwrap_err();
    assert_eq!(error.code(), "guardbit::graph_yaml::unknown_key", "{error}");
}

/// Aliases are allowed, as YAML libraries write them. An expansion far beyond the size of the file is rejected.
#[test]
fn aliases() {
    let shared = SOUND.replacen("shape: [1, 4, 4, 1]", "shape: &s [1, 4, 4, 1]", 1);
    let shared = shared.replacen("padding: same", "padding: {rows: &p [0, 0], cols: *p}", 1);
    read_yaml(&shared, Path::new(""), "net").unwrap();
    let repeated = format!("schema: 1\nx: [&a [{}]{}]\n", "1,".repeat(2000), ",*a".repeat(1000));
    insta::assert_snapshot!(rendered(&repeated, Path::new("")), @r"
    guardbit::graph_yaml::syntax
    net.yaml:2:275: its aliases expand to more than 8 values per byte of the file
    help: write values out instead of repeating them by aliases; large constants of a network can be .npy files
    ");
}

/// A path that is not a regular file is not opened, and a file that is too large for the tensor is not read.
#[test]
fn code_files_that_are_none() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe.npy");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    fs::File::create(dir.path().join("large.npy")).unwrap().set_len(1 << 40).unwrap();
    for (file, expected) in [
        ("pipe.npy", "is not a regular file"),
        ("/dev/zero", "is not a regular file"),
        ("large.npy", "has 1099511627776 bytes; expected at most 20016"),
    ] {
        let error = rendered(&SOUND.replace("values: [1, -2]", &format!("file: {file}")), dir.path());
        assert!(error.contains(expected), "{error}");
    }
}

/// Two constants, each of which would be allowed alone.
#[test]
fn random_codes_have_a_limit_of_their_own() {
    let two = "values: [1, -2]}\n  - {name: u, shape: [16777216], dtype: int8, scale: 1, random: {seed: 1}}\n  \
               - {name: v, shape: [1], dtype: int8, scale: 1, random: {seed: 1}}";
    insta::assert_snapshot!(changed("values: [1, -2]}", two), @r"
    guardbit::graph_yaml::value
    net.yaml:7:58: `constants[2].random` brings the random elements of all constants to 16777217; expected at most 16777216
    help: put larger constants into `.npy` files next to the network, and refer to them with `file`
    ");
}
