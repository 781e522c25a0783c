//! Lowering of small graphs.

use std::sync::Arc;

use guardbit_graph::ops::{AvgPool2d, BatchMatmul, Conv2d};
use guardbit_graph::{
    Activation, DType, Finish, Graph, GraphBuilder, MultiplierRule, Op, OutputSpec, Padding, Quantization,
    Requantize, Tap, TensorType,
};
use guardbit_hwmodels::{
    Accelerator, Host, LowerError, Lowering, MacLayer, Placement, Program, check_program, from_yaml, lower,
    partition,
};
use guardbit_num::Scheme;
use proptest::prelude::*;

const REQUANTIZE: Requantize = Requantize { scheme: Scheme::Double, rule: MultiplierRule::Float64 };

/// Scales, zero points and codes of a convolution of 3x3 windows over 4x5 images of 4 channels, in 2 groups.
#[derive(Debug, Clone)]
struct Numbers {
    input_zero_point: i32,
    weight_zero_points: Vec<i32>,
    weights: Vec<i32>,
    bias: Option<Vec<i32>>,
    input: Vec<i32>,
    output_scale: f32,
}

const CHANNELS: usize = 6;
const INPUT: [usize; 4] = [1, 4, 5, 4];
const WEIGHTS: [usize; 4] = [CHANNELS, 3, 3, 2];

fn numbers() -> impl Strategy<Value = Numbers> {
    let code = || -128..=127i32;
    let bias = prop::option::of(prop::collection::vec(-5000..5000i32, CHANNELS));
    let size = |shape: [usize; 4]| shape.iter().product::<usize>();
    (
        code(),
        prop::collection::vec(prop_oneof![Just(0), code()], CHANNELS),
        prop::collection::vec(code(), size(WEIGHTS)),
        bias,
        prop::collection::vec(code(), size(INPUT)),
    )
        .prop_map(|(input_zero_point, weight_zero_points, weights, bias, input)| Numbers {
            input_zero_point,
            weight_zero_points,
            weights,
            bias,
            input,
            output_scale: 3.0,
        })
}

fn plain() -> Numbers {
    Numbers {
        input_zero_point: 0,
        weight_zero_points: vec![0; CHANNELS],
        weights: vec![1; WEIGHTS.iter().product()],
        bias: None,
        input: vec![1; INPUT.iter().product()],
        output_scale: 3.0,
    }
}

/// Returns a graph of `conv` followed by `pool`.
fn graph(numbers: &Numbers) -> Arc<Graph> {
    let ty = |shape: &[usize], dtype, quantization| TensorType { shape: shape.into(), dtype, quantization };
    let mut builder = GraphBuilder::new("test");
    let quantization = Quantization::per_tensor(0.02, numbers.input_zero_point).unwrap();
    let input = builder.input("input", ty(&INPUT, DType::Int8, Some(quantization))).unwrap();
    let scales = (0..CHANNELS).map(|c| 0.1 + c as f32 * 0.05).collect();
    let quantization = Quantization::per_axis(scales, numbers.weight_zero_points.clone(), 0).unwrap();
    let weights = ty(&WEIGHTS, DType::Int8, Some(quantization));
    let weights = builder.constant("weights", weights, numbers.weights.clone()).unwrap();
    let bias = numbers.bias.clone();
    let bias =
        bias.map(|codes| builder.constant("bias", ty(&[CHANNELS], DType::Int32, None), codes).unwrap());
    let conv = Conv2d {
        stride: [1, 2],
        dilation: [1, 1],
        padding: Padding::Same,
        activation: Activation::None,
        requantize: REQUANTIZE,
    };
    let quantization = Quantization::per_tensor(numbers.output_scale, 5).unwrap();
    let output = |name: &str| OutputSpec {
        name: name.into(),
        dtype: DType::Int8,
        quantization: Some(quantization.clone()),
    };
    let conv = builder.node(conv, &[Some(input), Some(weights), bias], output("conv")).unwrap();
    let pool =
        AvgPool2d { kernel: [2, 2], stride: [2, 2], padding: Padding::Same, activation: Activation::None };
    let pool = builder.node(Op::from(pool), &[Some(conv)], output("pool")).unwrap();
    Arc::new(builder.finish(vec![pool]).unwrap())
}

fn accelerator(yaml: &str) -> Accelerator {
    from_yaml(&format!("schema: 1\n{yaml}\n"), "test", &[]).unwrap()
}

fn lowered(numbers: &Numbers, yaml: &str) -> Result<Program, LowerError> {
    lower(graph(numbers), &accelerator(yaml))
}

/// Returns the output codes of a lowered layer, computed from the results of lowering with unlimited
/// registers.
fn run_exactly(layer: &MacLayer, input: &[i32]) -> Vec<i32> {
    let window = &layer.dots.window;
    let offset = layer.activation_offset();
    let code = |index| {
        let out = window.output_position(index);
        let (mut sum, mut of_operands, mut of_weights, mut count) = (0, 0, 0, 0);
        for (&cell, &weight) in layer.order.iter().zip(&*layer.weights.channel(out.c)) {
            let operand = match window.tap(out, window.kernel_position(cell)) {
                Tap::Input(at) => {
                    count += 1;
                    input[at] - offset.subtract
                }
                Tap::Padding if layer.dots.weights.is_none() => 0,
                Tap::Padding => offset.padding,
            };
            sum += i128::from(operand) * i128::from(weight);
            of_operands += i128::from(operand);
            of_weights += i128::from(weight);
        }
        sum += of_weights * i128::from(layer.weight_sum_factor);
        sum += of_operands * i128::from(layer.input_sum_factor[out.c]);
        sum += layer.bias.as_ref().map_or(0, |bias| bias[out.c]);
        match &layer.dots.finish {
            Finish::Requantize(stage) => {
                let code = layer.exact_requantizers[out.c].requantize(sum, stage.output_zero_point.into());
                code.clamp(stage.clamp.0.into(), stage.clamp.1.into()) as i32
            }
            Finish::Divide(division) => {
                division.finish(sum + i128::from(offset.subtract) * count as i128, count)
            }
        }
    };
    (0..window.dots()).map(code).collect()
}

proptest! {
    #[test]
    fn lowering_keeps_the_values(
        numbers in numbers(),
        zero_point in prop_oneof![Just("subtract"), Just("fold")],
        order in prop_oneof![
            Just("[ic, kw, kh]"), Just("{walk: reverse}"), Just("{walk: stride, stride: 4, axes: [kw, kh, ic]}")
        ],
    ) {
        let yaml = format!(
            "offload: [conv2d, avg_pool2d]\noperands: {{zero_point: {zero_point}}}\nreduction_order: {order}"
        );
        let program = lowered(&numbers, &yaml).unwrap();
        let graph = &program.graph;
        let nodes: Vec<_> = graph.nodes_with_ids().map(|(node, _)| node).collect();
        let bias = numbers.bias.clone().unwrap_or_default();
        let conv = graph.evaluate(nodes[0], &[&numbers.input, &numbers.weights, &bias]);
        prop_assert_eq!(run_exactly(program.mac_layer(nodes[0]).unwrap(), &numbers.input), conv.clone());
        let pool = graph.evaluate(nodes[1], &[&conv]);
        prop_assert_eq!(run_exactly(program.mac_layer(nodes[1]).unwrap(), &conv), pool);
    }
}

/// Returns the product of `a` and `b`, both activations with these shapes and zero points.
fn product(op: BatchMatmul, shapes: [&[usize]; 2], zero_points: [i32; 2]) -> Arc<Graph> {
    let mut builder = GraphBuilder::new("product");
    let inputs = [0, 1].map(|index| {
        let quantization = Quantization::per_tensor(0.02, zero_points[index]).ok();
        let ty = TensorType { shape: shapes[index].into(), dtype: DType::Int8, quantization };
        Some(builder.input(["a", "b"][index], ty).unwrap())
    });
    let quantization = Quantization::per_tensor(0.1, 5).ok();
    let y =
        builder.node(op, &inputs, OutputSpec { name: "y".into(), dtype: DType::Int8, quantization }).unwrap();
    Arc::new(builder.finish(vec![y]).unwrap())
}

proptest! {
    /// The layers of single images give the product, whichever operand is transposed and whether the second
    /// one broadcasts.
    #[test]
    fn lowering_keeps_the_values_of_two_activations(
        sizes in (1..3usize, 1..3usize, 1..4usize, 1..9usize, 1..4usize),
        adj in any::<[bool; 2]>(),
        broadcasts in any::<bool>(),
        zero_points in prop::array::uniform2(-128..=127i32),
        zero_point in prop_oneof![Just("subtract"), Just("fold")],
        walk in prop_oneof![Just("forward"), Just("reverse")],
        seed in any::<u64>(),
    ) {
        let (heads, images, rows, terms, cols) = sizes;
        let pair = |[first, second]: [usize; 2], adj| if adj { [second, first] } else { [first, second] };
        let a = [&[heads, images][..], &pair([rows, terms], adj[0])].concat();
        let front: &[usize] = if broadcasts { &[heads, 1] } else { &[heads, images] };
        let b = [front, &pair([terms, cols], adj[1])].concat();
        let op = BatchMatmul { adj_x: adj[0], adj_y: adj[1], requantize: REQUANTIZE };
        let graph = product(op, [&a, &b], zero_points);
        let codes = [&a, &b].map(|shape: &Vec<usize>| {
            let code = |i: usize| (seed.wrapping_mul(2 * i as u64 + 3) >> 40) as i8;
            (0..shape.iter().product()).map(|i| code(i).into()).collect::<Vec<i32>>()
        });
        let yaml = format!(
            "offload: [batch_matmul]\noperands: {{zero_point: {zero_point}}}\nreduction_order: {{walk: {walk}}}"
        );
        let program = lower(Arc::clone(&graph), &accelerator(&yaml)).unwrap();
        let (node, _) = graph.nodes_with_ids().next().unwrap();
        let layer = program.mac_layer(node).unwrap();
        prop_assert_eq!(layer.dots.window.batch, heads * images);
        let expected = graph.evaluate(node, &[&codes[0], &codes[1]]);
        for (image, expected) in expected.chunks(rows * cols).enumerate() {
            let made = run_exactly(&layer.with_weights(&codes[1], image), &codes[0]);
            prop_assert_eq!(&made[image * rows * cols..][..rows * cols], expected);
        }
    }
}

#[test]
fn a_first_operand_that_broadcasts_runs_on_the_host() {
    let op = BatchMatmul { adj_x: false, adj_y: false, requantize: REQUANTIZE };
    let place = |shapes| {
        let graph = product(op.clone(), shapes, [0, 0]);
        partition(&graph, &accelerator("offload: [batch_matmul]")).unwrap()
    };
    assert_eq!(place([&[2, 3, 4], &[2, 4, 5]]), [Placement::Accelerator]);
    assert_eq!(place([&[2, 3, 4], &[4, 5]]), [Placement::Accelerator]);
    let hosted = place([&[3, 4], &[2, 4, 5]]);
    assert_eq!(hosted, [Placement::Host(Host::NoDotProducts)]);
    assert_eq!(
        hosted[0].to_string(),
        "host: it does not consist of dot products that an accelerator can run"
    );
}

#[test]
fn operations_that_are_not_offloaded_run_on_the_host() {
    let graph = graph(&plain());
    let places = partition(&graph, &accelerator("")).unwrap();
    assert_eq!(places, [Placement::Accelerator, Placement::Host(Host::NotOffloaded)]);
    assert_eq!(places[1].to_string(), "host: its operation is not in `offload`");
    let places = partition(&graph, &accelerator("offload: [avg_pool2d]")).unwrap();
    assert_eq!(places, [Placement::Host(Host::NotOffloaded), Placement::Accelerator]);
    let program = lower(graph, &accelerator("")).unwrap();
    assert_eq!(program.mac_layers().map(|layer| layer.name.as_str()).collect::<Vec<_>>(), ["conv"]);
}

#[test]
fn a_bias_is_there_only_if_something_is_added() {
    let bias =
        |numbers: &Numbers, yaml| lowered(numbers, yaml).unwrap().mac_layers().next().unwrap().bias.clone();
    let fold = "operands: {zero_point: fold}";
    assert_eq!(bias(&plain(), ""), None);
    assert_eq!(bias(&plain(), fold), None);
    let shifted = Numbers { input_zero_point: 3, ..plain() };
    assert_eq!(bias(&shifted, ""), None);
    // 18 weights of 1 per channel, zero point 0.
    assert_eq!(bias(&shifted, fold), Some(vec![-3 * 18; CHANNELS]));
    let biased = Numbers { bias: Some(vec![7; CHANNELS]), ..shifted };
    assert_eq!(bias(&biased, ""), Some(vec![7; CHANNELS]));
    assert_eq!(bias(&biased, fold), Some(vec![7 - 3 * 18; CHANNELS]));
}

#[test]
fn multipliers_give_shifts_back() {
    let program = lowered(&plain(), "product: {shift: 3}\naccumulation: [{name: a, shift: 2}]").unwrap();
    let layer = program.mac_layers().next().unwrap();
    let exact = layer.exact_requantizers[0].multiplier().real();
    assert_eq!(layer.requantizers[0].multiplier().real(), exact * 32.0);
    assert_eq!(layer.requantizers.len(), CHANNELS);

    let small = Numbers { output_scale: 1e-7, ..plain() };
    let error = lowered(&small, "product: {shift: 31}").unwrap_err();
    assert_eq!(error.code(), "guardbit::lower::multiplier");
    assert!(error.to_string().starts_with("layer `conv`, whose datapath drops 31 bits: "), "{error}");
}

#[test]
fn a_scheme_replaces_that_of_the_model() {
    let scheme = |yaml| {
        let program = lowered(&plain(), yaml).unwrap();
        program.mac_layers().next().unwrap().requantizers[0].scheme()
    };
    assert_eq!(scheme(""), Scheme::Double);
    assert_eq!(scheme("requantize: {scheme: single}"), Scheme::Single);
    assert_eq!(scheme("requantize: {scheme: E}"), Scheme::Even);
}

#[test]
fn layers_have_their_own_datapaths() {
    let shift = |yaml: &str| {
        let program = lowered(&plain(), yaml).unwrap();
        program.mac_layers().map(|layer| layer.datapath.product.shift).collect::<Vec<_>>()
    };
    let both = "offload: [conv2d, avg_pool2d]\nlayers:";
    assert_eq!(shift(&format!("{both} {{conv: {{product.shift: 2}}}}")), [2, 0]);
    assert_eq!(shift(&format!("{both} {{1: {{product.shift: 2}}}}")), [0, 2]);
    // A layer may leave the accelerator, or be the only one of its kind on it.
    assert_eq!(shift(&format!("{both} {{conv: {{offload: []}}}}")), [0]);
    assert_eq!(shift("layers: {pool: {offload: [avg_pool2d]}}"), [0, 0]);
}

#[test]
fn overrides_that_name_no_layer_are_errors() {
    let error = |yaml| {
        let error = lowered(&plain(), yaml).unwrap_err();
        format!("{}\n{error}", error.code())
    };
    insta::assert_snapshot!(error("layers: {conv9: {bias.bits: 20}}"), @r"
    guardbit::lower::unknown_layer
    `layers` names `conv9`, which is not a layer of the network; did you mean `conv` (0)?
    ");
    insta::assert_snapshot!(error("layers: {7: {bias.bits: 20}}"), @r"
    guardbit::lower::unknown_layer
    `layers` names `7`, which is not a layer of the network
    ");
    insta::assert_snapshot!(error("layers: {pool: {product.shift: 2}}"), @r"
    guardbit::lower::host_layer
    `layers` names `pool`, but this avg_pool2d runs on the host: its operation is not in `offload`
    ");
    insta::assert_snapshot!(error("layers: {conv: {bias.at: preload}, 0: {accumulation: [{name: sum, reduce: tree}]}}"), @r"
    guardbit::hw::bias
    test:2:26: layer `conv`, `0`: `bias.at` is preload, but the last level, `sum`, is a tree, which has no initial value
    ");
}

/// The overrides by name and by index act together; if both set a key, the later one applies. Overrides of
/// the command line come last, even those for all layers.
#[test]
fn names_and_indices_of_a_layer_act_together() {
    let bits = |yaml: &str, sets: &[&str]| {
        let base = format!("schema: 1\nname: test\nextends: fpga-int14-os\n{yaml}");
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        let accelerator = from_yaml(&base, "test", &sets).unwrap();
        let program = lower(graph(&plain()), &accelerator).unwrap();
        let layer = program.mac_layers().next().unwrap();
        let own: Vec<String> = program.accelerator.layers.keys().map(String::from).collect();
        let register = layer.datapath.levels[0].register;
        (format!("{register:?}"), layer.datapath.product.shift, own)
    };
    let (narrow, ..) = bits("", &["accumulation.acc.bits=9"]);
    let (common, ..) = bits("", &[]);
    let by_name = "layers: {conv: {accumulation.acc.bits: 9, product.shift: 2}}";
    assert_eq!(bits(by_name, &[]), (narrow.clone(), 2, vec!["conv".into()]));
    assert_eq!(bits(by_name, &["layers.0.product.shift=3"]), (narrow.clone(), 3, vec!["conv".into()]));
    assert_eq!(bits(by_name, &["layers.0.accumulation.acc.bits=14"]), (common, 2, vec!["conv".into()]));
    let twice = "layers: {0: {accumulation.acc.bits: 9, product.shift: 2}, conv: {product.shift: 1}}";
    assert_eq!(bits(twice, &[]), (narrow, 1, vec!["conv".into()]));
}

/// The convolution has 2 groups of 3 channels, 12 pixels and 18 terms.
#[test]
fn layers_too_small_for_the_array_and_too_large_for_the_memory_are_said() {
    let found = |yaml: &str| {
        let program = lowered(&plain(), yaml).unwrap();
        let line = |problem: guardbit_hwmodels::Problem| format!("{}: {problem}", problem.code());
        check_program(&program).into_iter().map(line).collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(found("array: {rows: 8, cols: 8}"), @"guardbit::hw::array_larger_than_layer: \
                                                                  these layers can use at most half of the \
                                                                  array: `conv` 8x3 of 8x8");
    insta::assert_snapshot!(found("array: {rows: 4, cols: 3}"), @"");
    // 32 bytes hold neither the 72 activations nor the 54 weights of a fold, but they hold slices of its
    // terms.
    let small = |kib: f64| {
        format!("array: {{rows: 4, cols: 3}}\nmemory: {{activation_kib: {kib}, weight_kib: {kib}}}")
    };
    insta::assert_snapshot!(found(&small(0.0625)), @"");
    insta::assert_snapshot!(found(&small(0.004)), @r"
    guardbit::hw::sram_too_small_for_tile: the activations of the smallest tile do not fit `memory.activation_kib`: `conv` needs 4 of 2 bytes
    guardbit::hw::sram_too_small_for_tile: the weights of the smallest tile do not fit `memory.weight_kib`: `conv` needs 3 of 0 bytes
    ");
    insta::assert_snapshot!(found("array: {rows: 4, cols: 3}\nmemory: {accumulator_kib: 0.0625}"), @"guardbit::hw::sram_too_small_for_tile: the sums of the smallest tile do not fit `memory.accumulator_kib`: `conv` needs 48 of 32 bytes");
}

/// 108 weights and 80 activations: a memory that holds all of them moves them once.
#[test]
fn a_key_that_makes_data_move_again() {
    let found = |yaml: &str| {
        let program = lowered(&plain(), &format!("array: {{rows: 2, cols: 2}}\n{yaml}")).unwrap();
        let line = |problem: guardbit_hwmodels::Problem| {
            format!("{}: {problem}\nhelp: {}", problem.code(), problem.help())
        };
        check_program(&program).into_iter().map(line).collect::<Vec<_>>().join("\n")
    };
    let all = [
        "memory: {activation_kib: 0.05, weight_kib: 0.05}",
        "memory: {activation_kib: 1, weight_kib: 0.05}",
        "memory: {activation_kib: 1, weight_kib: 1}",
        "timing: {convention: scalesim_v3}\nmemory: {activation_kib: 0.05, weight_kib: 0.05}",
        "dataflow: vector\nmemory: {activation_kib: 0.05, weight_kib: 1}",
    ];
    let all = all.map(|yaml| format!("{yaml}\n{}", found(yaml)));
    insta::assert_snapshot!(all.join("\n"), @r"
    memory: {activation_kib: 0.05, weight_kib: 0.05}

    memory: {activation_kib: 1, weight_kib: 0.05}
    guardbit::hw::moves_data_again: layers move more than twice their data to and from external memory because `memory.weight_kib` is 0.05: `conv` 2.9 times
    help: `memory.weight_kib: 0.4` reduces the traffic to 35 %
    memory: {activation_kib: 1, weight_kib: 1}

    timing: {convention: scalesim_v3}
    memory: {activation_kib: 0.05, weight_kib: 0.05}

    dataflow: vector
    memory: {activation_kib: 0.05, weight_kib: 1}
    guardbit::hw::moves_data_again: layers move more than twice their data to and from external memory because `memory.activation_kib` is 0.05: `conv` 2.2 times
    help: `memory.activation_kib: 0.2` reduces the traffic to 45 %
    ");
}

/// Saturated cycle counts are refused, and none wraps.
#[test]
fn layers_of_too_many_cycles_are_refused() {
    // 2500 pixels, 2000 products each, of 2000 channels.
    let mut builder = GraphBuilder::new("large");
    let ty = |shape: &[usize]| {
        let quantization = Some(Quantization::per_tensor(0.1, 0).unwrap());
        TensorType { shape: shape.into(), dtype: DType::Int8, quantization }
    };
    let x = builder.input("x", ty(&[1, 50, 50, 2000])).unwrap();
    let w = builder.constant("w", ty(&[2000, 1, 1, 2000]), vec![1; 4_000_000]).unwrap();
    let op = Conv2d {
        stride: [1, 1],
        dilation: [1, 1],
        padding: Padding::Valid,
        activation: Activation::None,
        requantize: REQUANTIZE,
    };
    let output = OutputSpec { name: "y".into(), dtype: DType::Int8, quantization: ty(&[]).quantization };
    let y = builder.node(op, &[Some(x), Some(w)], output).unwrap();
    let graph = Arc::new(builder.finish(vec![y]).unwrap());
    let small = "array: {rows: 1, cols: 1}\nmemory: {activation_kib: 0.000001, weight_kib: 0.000001";
    for key in ["sram_bytes_per_cycle", "accumulator_bytes_per_cycle", "dram_bytes_per_cycle"] {
        for dataflow in ["weight_stationary", "input_stationary"] {
            for double_buffer in [true, false] {
                let yaml = |rate: &str| {
                    format!(
                        "schema: 1\ndataflow: {dataflow}\n{small}, {key}: {rate}, double_buffer: {double_buffer}}}"
                    )
                };
                let accelerator = from_yaml(&yaml("1e-6"), "hw.yaml", &[]).unwrap();
                let error = lower(graph.clone(), &accelerator).unwrap_err();
                assert_eq!(error.code(), "guardbit::lower::too_many_cycles", "{}", yaml("1e-6"));
                assert_eq!(error.to_string(), "layer `y` takes more than 2^53 cycles on this accelerator");
                for slower in ["1e-7", "1e-30", "1e-300"] {
                    let error = from_yaml(&yaml(slower), "hw.yaml", &[]).unwrap_err();
                    assert_eq!(error.code(), "guardbit::hw::memory", "{slower}");
                }
            }
        }
    }
    let slow = lowered(&plain(), "memory: {dram_bytes_per_cycle: 1e-6}").unwrap();
    assert!(slow.mac_layers().next().unwrap().timing.cycles > 100_000_000);
}

/// Programs of one `Lowering` are those of `lower`, whatever was lowered before; those with equal operands share them.
#[test]
fn programs_of_one_lowering_share_operands() {
    let numbers = Numbers { weights: (0..108).map(|i| i * 37 % 256 - 128).collect(), ..plain() };
    let numbers = Numbers { weight_zero_points: vec![3; CHANNELS], ..numbers };
    let lowering = Lowering::new(graph(&numbers));
    let kinds = [
        "reduction_order: [kh, kw, ic]",
        "accumulation: [{name: acc, reduce: serial, terms: all, bits: 9}]",
        "reduction_order: [ic, kh, kw]",
        "operands: {zero_point: fold}",
    ];
    let programs = [0, 1, 2, 0, 3, 1, 2, 2].map(|kind: usize| {
        let accelerator = accelerator(kinds[kind]);
        let program = lowering.lower(&accelerator).unwrap();
        let fresh = lower(graph(&numbers), &accelerator).unwrap();
        assert_eq!(format!("{program:?}"), format!("{fresh:?}"), "{}", kinds[kind]);
        program
    });
    let weights = |at: usize| &programs[at].mac_layers().next().unwrap().weights;
    let share = |a, b| weights(a).is_shared_with(weights(b));
    assert!(share(0, 1) && share(6, 7) && !share(0, 2) && !share(0, 4));
}
