//! Random layers and datapaths.

use guardbit_graph::ops::{AvgPool2d, BatchMatmul, Conv2d, DepthwiseConv2d, FullyConnected, Mean, Sum};
use guardbit_graph::{Activation, DType, Graph, GraphBuilder, Padding, Quantization, TensorType};
use guardbit_hwmodels::{
    Accelerator, Array, Axis, BiasPlace, Check, Dataflow, Datapath, Fixup, Level, OutputFit, Packing,
    Product, Reduce, ReductionOrder, Register, ShiftRounding, Terms, Walk, ZeroPoint,
};
use guardbit_num::{Format, Overflow, Rounding, Scheme};
use proptest::prelude::*;
use proptest::sample::select;

use super::{REQUANTIZE, accelerator, datapath, one_layer, output, quantized};

/// Layer with inputs.
#[derive(Debug, Clone)]
pub struct Case {
    pub graph: Graph,
    pub samples: Vec<Vec<i32>>,
    pub accelerator: Accelerator,
}

/// Generates any layer on any datapath.
pub fn case() -> impl Strategy<Value = Case> {
    (layer(), base()).prop_map(|((graph, samples), accelerator)| Case { graph, samples, accelerator })
}

/// Generates any datapath in an array of any shape.
pub fn base() -> impl Strategy<Value = Accelerator> {
    (any_datapath(), array(), scheme()).prop_map(|(mut path, (array, flow), scheme)| {
        path.requantize.scheme = scheme;
        let mut accelerator = accelerator(path);
        accelerator.array = array;
        accelerator.dataflow = flow;
        accelerator
    })
}

/// Generates any layer on any datapath that starts in the shared adder of a DSP48E2.
pub fn packed_case() -> impl Strategy<Value = Case> {
    (prop_oneof![case(), levels_case()], packing()).prop_map(|(mut case, (chain, packing))| {
        pack(&mut case.accelerator.datapath, chain);
        case.accelerator.packing = packing.into();
        case
    })
}

/// Generates packings, with the number of products that are added in the shared adder.
pub fn packing() -> impl Strategy<Value = (Terms, Packing)> {
    let chain = prop_oneof![3 => (1usize..12).prop_map(Terms::Count), 1 => Just(Terms::All)];
    (chain, select(vec![Fixup::None, Fixup::Lut]))
        .prop_map(|(chain, fixup)| (chain, Packing::Dsp48e2Int8x2(fixup)))
}

/// Replaces the innermost level by one of the shared adder.
pub fn pack(path: &mut Datapath, chain: Terms) {
    path.product = Product { register: Register::Auto, shift: 0, round: Rounding::Floor.into() };
    // A shared adder has one order for all of its lanes.
    if path.order.walk.depends_on_data() {
        path.order.walk = Walk::Forward;
    }
    let only = path.levels.len() == 1;
    let terms = if only { Terms::All } else { chain };
    let name = path.levels[0].name.clone();
    path.levels[0] = super::serial(&name, terms, super::register(18, Overflow::Wrap));
    if only && path.bias.at == BiasPlace::Preload {
        path.bias.at = BiasPlace::Post;
    }
}

/// Generates a layer of any kind with two samples; some of its codes may have a narrower range than their
/// dtype.
pub fn layer() -> impl Strategy<Value = (Graph, Vec<Vec<i32>>)> {
    let layer = prop_oneof![conv(), depthwise(), fully_connected(), pool(), reduction(), product_of_two()];
    (layer, prop::option::weighted(0.4, any::<u64>())).prop_map(narrowed)
}

/// Returns a network with its samples, with narrower code ranges if there is a seed for them.
pub fn narrowed(((graph, samples), seed): ((Graph, Vec<Vec<i32>>), Option<u64>)) -> (Graph, Vec<Vec<i32>>) {
    match seed {
        Some(seed) => super::narrow::narrowed(&graph, &samples, seed),
        None => (graph, samples),
    }
}

fn array() -> impl Strategy<Value = (Array, Dataflow)> {
    let flows =
        [Dataflow::OutputStationary, Dataflow::WeightStationary, Dataflow::InputStationary, Dataflow::Vector];
    let array = (1usize..5, 1usize..5, 1usize..4);
    (array.prop_map(|(rows, cols, dot_width)| Array::new(rows, cols, dot_width)), select(flows.to_vec()))
}

fn scheme() -> impl Strategy<Value = Option<Scheme>> {
    prop_oneof![3 => Just(None), 1 => select(Scheme::ALL.to_vec()).prop_map(Some)]
}

pub fn any_datapath() -> impl Strategy<Value = Datapath> {
    let axes = Just([Axis::Kh, Axis::Kw, Axis::Ic]).prop_shuffle();
    let order = (axes, walk(), prop::option::weighted(0.2, 1usize..4))
        .prop_map(|(axes, walk, ic_block)| ReductionOrder { axes, walk, ic_block });
    let bias = (select(vec![BiasPlace::Post, BiasPlace::Preload, BiasPlace::PostRequantize]), any_register());
    let fit = prop_oneof![
        6 => Just(OutputFit::Saturate),
        2 => Just(OutputFit::Wrap),
        1 => Just(OutputFit::SaturateSymmetric),
    ];
    (levels(), select(vec![ZeroPoint::Subtract, ZeroPoint::Fold]), order, product(), bias, fit).prop_map(
        |(mut levels, zero_point, order, product, (at, register), fit)| {
            if at == BiasPlace::Preload {
                levels.last_mut().unwrap().reduce = Reduce::Serial;
            }
            let mut path = datapath(levels);
            path.operands.zero_point = zero_point;
            path.order = order;
            path.product = product;
            path.bias = guardbit_hwmodels::Bias { at, register, from_model: false };
            path.requantize.output = fit;
            path
        },
    )
}

pub fn walk() -> impl Strategy<Value = Walk> {
    prop_oneof![
        4 => Just(Walk::Forward),
        4 => Just(Walk::Reverse),
        4 => (1usize..7).prop_map(Walk::Stride),
        2 => any::<u64>().prop_map(|seed| Walk::Random { seed }),
        1 => select(vec![Walk::Sorted, Walk::SignPaired, Walk::Greedy]),
    ]
}

fn product() -> impl Strategy<Value = Product> {
    prop_oneof![
        2 => Just(Product { register: Register::Auto, shift: 0, round: Rounding::Floor.into() }),
        1 => (any_register(), 0u32..5, rounding())
            .prop_map(|(register, shift, round)| Product { register, shift, round }),
    ]
}

pub fn levels() -> impl Strategy<Value = Vec<Level>> {
    (1usize..4).prop_flat_map(|count| {
        prop::collection::vec(level(), count).prop_map(|mut levels| {
            for (i, level) in levels.iter_mut().enumerate() {
                level.name = format!("level{i}");
            }
            levels.last_mut().unwrap().terms = Terms::All;
            levels
        })
    })
}

fn level() -> impl Strategy<Value = Level> {
    let reduce = select(Reduce::ALL.to_vec());
    let check = select(vec![Check::EachAdd, Check::HandOver]);
    let shift = prop_oneof![3 => Just(0u32), 1 => 1u32..4];
    let terms = prop_oneof![5 => (1usize..9).prop_map(Terms::Count), 1 => Just(Terms::All)];
    (reduce, terms, any_register(), check, shift, rounding()).prop_map(
        |(reduce, terms, register, check, shift, round)| Level {
            name: String::new(),
            reduce,
            terms,
            register,
            check,
            shift,
            round,
        },
    )
}

fn rounding() -> impl Strategy<Value = ShiftRounding> {
    let fixed = select(Rounding::ALL.to_vec()).prop_map(ShiftRounding::Fixed);
    prop_oneof![8 => fixed, 1 => any::<u64>().prop_map(|seed| ShiftRounding::Stochastic { seed })]
}

fn any_register() -> impl Strategy<Value = Register> {
    let bits = prop_oneof![6 => 2u32..24, 1 => 30u32..34, 1 => 60u32..=64];
    let fixed = (bits, any::<bool>(), mode()).prop_map(|(bits, signed, overflow)| Register::Fixed {
        format: Format::new(bits, signed).unwrap(),
        overflow,
    });
    prop_oneof![1 => Just(Register::Auto), 6 => fixed]
}

/// Generates every mode that does not stop the run.
pub fn mode() -> impl Strategy<Value = Overflow> {
    select(Overflow::ALL.into_iter().filter(|&mode| mode != Overflow::Trap).collect::<Vec<_>>())
}

pub fn padding() -> impl Strategy<Value = Padding> {
    let explicit = prop::array::uniform4(0usize..3)
        .prop_map(|[a, b, c, d]| Padding::Explicit { rows: [a, b], cols: [c, d] });
    prop_oneof![Just(Padding::Same), Just(Padding::Valid), explicit]
}

/// Generates the type of the activations, and two samples.
fn activations(shape: [usize; 4]) -> impl Strategy<Value = (TensorType, Vec<Vec<i32>>)> {
    let dtype = select(vec![DType::Int8, DType::UInt8, DType::Int4, DType::Int16]);
    dtype.prop_flat_map(move |dtype| {
        let len = shape.iter().product::<usize>();
        let code =
            || prop_oneof![4 => dtype.min()..=dtype.max(), 1 => Just(dtype.min()), 1 => Just(dtype.max())];
        let samples = prop::collection::vec(prop::collection::vec(code(), len), 2);
        (dtype.min()..=dtype.max(), samples)
            .prop_map(move |(zero_point, samples)| (quantized(&shape, dtype, 0.1, zero_point), samples))
    })
}

/// Generates weights with a scale and a zero point per index of `axis`.
fn weights(shape: [usize; 4], axis: usize) -> impl Strategy<Value = (TensorType, Vec<i32>)> {
    let dtype = select(vec![DType::Int8, DType::UInt8, DType::Int4]);
    dtype.prop_flat_map(move |dtype| {
        let codes = prop::collection::vec(dtype.min()..=dtype.max(), shape.iter().product::<usize>());
        let channels = shape[axis];
        let scales = prop::collection::vec(0.001f32..0.5, channels);
        let zero_points =
            prop_oneof![Just(vec![0; channels]), prop::collection::vec(dtype.min()..=dtype.max(), channels)];
        (codes, scales, zero_points).prop_map(move |(codes, scales, zero_points)| {
            let quantization = Some(Quantization::per_axis(scales, zero_points, axis).unwrap());
            (TensorType { shape: shape.to_vec(), dtype, quantization }, codes)
        })
    })
}

fn bias(channels: usize) -> impl Strategy<Value = Option<Vec<i32>>> {
    let value = prop_oneof![4 => -20_000i32..20_000, 1 => any::<i32>()];
    prop::option::of(prop::collection::vec(value, channels))
}

fn conv() -> impl Strategy<Value = (Graph, Vec<Vec<i32>>)> {
    let sizes = (2usize..6, 2usize..6, 1usize..4, 1usize..3, 1usize..3, 1usize..3, 1usize..3);
    let window = (1usize..3, 1usize..3, padding());
    (sizes, window).prop_flat_map(
        |((h, w, depth, groups, per_group, kh, kw), (stride, dilation, padding))| {
            let channels = groups * per_group;
            let parts = (
                activations([1, h, w, depth * groups]),
                weights([channels, kh, kw, depth], 0),
                bias(channels),
            );
            // With three cells, one window always fits.
            let dilation = if h < 3 || w < 3 { 1 } else { dilation };
            parts.prop_map(move |((x, samples), w, bias)| {
                let op = Conv2d {
                    stride: [stride, 1],
                    dilation: [dilation; 2],
                    padding,
                    activation: Activation::Relu,
                    requantize: REQUANTIZE,
                };
                (one_layer(op, x, Some(w), bias, output("y", DType::Int8, 0.7, -5)), samples)
            })
        },
    )
}

fn depthwise() -> impl Strategy<Value = (Graph, Vec<Vec<i32>>)> {
    let sizes = (2usize..6, 2usize..6, 1usize..4, 1usize..3, 1usize..3, 1usize..3);
    (sizes, padding(), 1usize..3).prop_flat_map(|((h, w, c, multiplier, kh, kw), padding, stride)| {
        let channels = c * multiplier;
        let parts = (activations([1, h, w, c]), weights([1, kh, kw, channels], 3), bias(channels));
        parts.prop_map(move |((x, samples), w, bias)| {
            let op = DepthwiseConv2d {
                stride: [stride; 2],
                dilation: [1; 2],
                padding,
                activation: Activation::None,
                requantize: REQUANTIZE,
            };
            (one_layer(op, x, Some(w), bias, output("y", DType::UInt8, 0.3, 100)), samples)
        })
    })
}

fn fully_connected() -> impl Strategy<Value = (Graph, Vec<Vec<i32>>)> {
    (1usize..40, 1usize..5).prop_flat_map(|(k, units)| {
        let parts = (activations([1, 1, 1, k]), weights([units, k, 1, 1], 0), bias(units));
        parts.prop_map(move |((x, samples), (mut ty, codes), bias)| {
            ty.shape.truncate(2);
            let op = FullyConnected {
                keep_num_dims: false,
                activation: Activation::None,
                requantize: REQUANTIZE.with_scheme(Scheme::Single),
            };
            (one_layer(op, x, Some((ty, codes)), bias, output("y", DType::Int8, 0.9, 3)), samples)
        })
    })
}

fn pool() -> impl Strategy<Value = (Graph, Vec<Vec<i32>>)> {
    let sizes = (2usize..6, 2usize..6, 1usize..4, 1usize..3, 1usize..3, 1usize..3);
    (sizes, select(vec![Padding::Same, Padding::Valid])).prop_flat_map(
        |((h, w, c, kh, kw, stride), padding)| {
            activations([1, h, w, c]).prop_map(move |(x, samples)| {
                let op = AvgPool2d {
                    kernel: [kh, kw],
                    stride: [stride; 2],
                    padding,
                    activation: Activation::None,
                };
                let quantization = x.quantization.clone().unwrap();
                let out = output("y", x.dtype, quantization.scale(0), quantization.zero_point(0));
                (one_layer(op, x, None, None, out), samples)
            })
        },
    )
}

fn reduction() -> impl Strategy<Value = (Graph, Vec<Vec<i32>>)> {
    let axes = select(vec![vec![1, 2], vec![1], vec![2, 3], vec![3], vec![1, 2, 3]]);
    ((1usize..5, 1usize..5, 1usize..5), axes, any::<bool>(), any::<bool>()).prop_flat_map(
        |((h, w, c), axes, keep_dims, mean)| {
            activations([1, h, w, c]).prop_map(move |(x, samples)| {
                let out = output("y", x.dtype, 0.2, 1);
                let axes = axes.clone();
                let graph = if mean {
                    one_layer(Mean { axes, keep_dims, requantize: REQUANTIZE }, x, None, None, out)
                } else {
                    one_layer(Sum { axes, keep_dims, requantize: REQUANTIZE }, x, None, None, out)
                };
                (graph, samples)
            })
        },
    )
}

/// Generates a product of an activation with itself, one factor transposed.
fn product_of_two() -> impl Strategy<Value = (Graph, Vec<Vec<i32>>)> {
    (1usize..4, 1usize..5, 1usize..5, any::<bool>()).prop_flat_map(|(images, rows, cols, adj_x)| {
        activations([1, images, rows, cols]).prop_map(move |(x, samples)| (squared(x, adj_x), samples))
    })
}

/// Generates two inputs whose product is the only layer, on any datapath, without samples.
pub fn case_of_two_inputs() -> impl Strategy<Value = Case> {
    let sizes = (1usize..4, 1usize..4, 1usize..30, 1usize..4);
    sizes.prop_flat_map(|(images, rows, terms, cols)| {
        let inputs = (activations([1, images, rows, terms]), activations([1, images, terms, cols]));
        (inputs, base()).prop_map(|(((x, _), (w, _)), accelerator)| {
            let mut builder = GraphBuilder::new("two");
            let inputs = [("x", x), ("w", w)].map(|(name, ty)| Some(builder.input(name, ty).unwrap()));
            let op = BatchMatmul { adj_x: false, adj_y: false, requantize: REQUANTIZE };
            let y = builder.node(op, &inputs, output("y", DType::Int8, 0.7, -5)).unwrap();
            Case { graph: builder.finish(vec![y]).unwrap(), samples: Vec::new(), accelerator }
        })
    })
}

/// Returns a network whose only layer multiplies its input, `[.., rows, columns]`, by itself; the first
/// factor is transposed, or the second one.
fn squared(x: TensorType, adj_x: bool) -> Graph {
    let mut builder = GraphBuilder::new("squared");
    let x = Some(builder.input("x", x).unwrap());
    let op = BatchMatmul { adj_x, adj_y: !adj_x, requantize: REQUANTIZE };
    let y = builder.node(op, &[x, x], output("y", DType::Int8, 0.7, -5)).unwrap();
    builder.finish(vec![y]).unwrap()
}

/// Generates a layer with many channels on one serial level, for the vectorized kernels and partly used
/// vectors.
pub fn vector_case() -> impl Strategy<Value = Case> {
    (vector_layer(vec![DType::Int8, DType::UInt8]), vector_datapath()).prop_map(on_path)
}

/// Generates a layer with many channels on any datapath, including registers as wide as lanes.
pub fn levels_case() -> impl Strategy<Value = Case> {
    let types = vec![DType::Int8, DType::Int8, DType::UInt8, DType::Int16];
    (vector_layer(types), levels_datapath(), array()).prop_map(|(layer, path, (array, flow))| {
        let mut case = on_path((layer, path));
        case.accelerator.array = array;
        case.accelerator.dataflow = flow;
        case
    })
}

/// Generates a layer with many channels whose innermost level steps runs on 16-bit lanes, in arrays as wide
/// as blocks of channels.
pub fn runs_case() -> impl Strategy<Value = Case> {
    let wide = (1usize..40, select(vec![1, 3, 16, 17, 40]), 1usize..17)
        .prop_map(|(rows, cols, dot_width)| Array::new(rows, cols, dot_width));
    let array = (array(), wide, any::<bool>())
        .prop_map(|((small, flow), wide, is_wide)| (if is_wide { wide } else { small }, flow));
    let layer = vector_layer(vec![DType::Int8, DType::UInt8]);
    (layer, runs_datapath(), array).prop_map(|(layer, path, (array, flow))| {
        let mut case = on_path((layer, path));
        case.accelerator.array = array;
        case.accelerator.dataflow = flow;
        case
    })
}

/// Generates two levels: runs in a register of about 16 bits, followed by any register, with a bias in it or
/// after it.
fn runs_datapath() -> impl Strategy<Value = Datapath> {
    let terms = prop_oneof![
        4 => select(vec![1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65]).prop_map(Terms::Count),
        2 => (1usize..80).prop_map(Terms::Count),
        1 => Just(Terms::All),
    ];
    let bits = prop_oneof![3 => 10u32..17, 3 => select(vec![14, 15, 16, 17]), 1 => 2u32..10];
    let modes = prop_oneof![
        4 => select(vec![Overflow::Saturate, Overflow::SaturateSymmetric, Overflow::Wrap]),
        1 => mode(),
    ];
    let inner = (terms, bits, prop_oneof![4 => Just(true), 1 => Just(false)], modes);
    let shift = (prop_oneof![3 => Just(0u32), 1 => 1u32..4], rounding());
    let zero_point = select(vec![ZeroPoint::Subtract, ZeroPoint::Fold]);
    let bias = select(vec![BiasPlace::Post, BiasPlace::Preload]);
    let reduce = select(vec![Reduce::Serial, Reduce::Tree]);
    (inner, reduce, shift, lane_register(), zero_point, bias, walk()).prop_map(
        |((terms, bits, signed, overflow), reduce, (shift, round), outer, zero_point, at, walk)| {
            let format = Format::new(bits, signed).unwrap();
            let inner = super::serial("inner", terms, Register::Fixed { format, overflow });
            let inner = Level { reduce, shift, round, ..inner };
            let mut path = datapath(vec![inner, super::serial("outer", Terms::All, outer)]);
            path.operands.zero_point = zero_point;
            path.bias.at = at;
            path.order.walk = walk;
            path
        },
    )
}

fn on_path(((graph, samples), path): ((Graph, Vec<Vec<i32>>), Datapath)) -> Case {
    Case { graph, samples, accelerator: accelerator(path) }
}

/// Generates any datapath, with runs and widths at which kernels change.
fn levels_datapath() -> impl Strategy<Value = Datapath> {
    let terms = prop_oneof![
        3 => select(vec![1, 2, 3, 7, 8, 15, 16, 17, 64]).prop_map(Terms::Count),
        1 => (1usize..40).prop_map(Terms::Count),
        1 => Just(Terms::All),
    ];
    let changes = prop::collection::vec((terms, lane_register()), 4);
    let product = prop_oneof![2 => Just(None), 1 => lane_register().prop_map(Some)];
    (any_datapath(), changes, product).prop_map(|(mut path, changes, product)| {
        let last = path.levels.len() - 1;
        for (index, (level, (terms, register))) in path.levels.iter_mut().zip(changes).enumerate() {
            level.register = register;
            if index < last {
                level.terms = terms;
            }
        }
        if let Some(register) = product {
            path.product.register = register;
        }
        path
    })
}

/// Generates a register of any width and mode, often about as wide as lanes.
fn lane_register() -> impl Strategy<Value = Register> {
    let bits = prop_oneof![
        4 => 2u32..24,
        4 => select(vec![14, 15, 16, 17]),
        2 => select(vec![30, 31, 32, 33]),
        1 => select(vec![61, 62, 63, 64]),
    ];
    let fixed = (bits, prop_oneof![4 => Just(true), 1 => Just(false)], mode()).prop_map(
        |(bits, signed, overflow)| Register::Fixed { format: Format::new(bits, signed).unwrap(), overflow },
    );
    prop_oneof![8 => fixed, 1 => Just(Register::Auto)]
}

fn vector_datapath() -> impl Strategy<Value = Datapath> {
    let bits =
        prop_oneof![4 => 2u32..24, 2 => select(vec![14, 15, 16, 17]), 1 => select(vec![31, 32, 33, 64])];
    let register = (bits, prop_oneof![4 => Just(true), 1 => Just(false)], mode()).prop_map(
        |(bits, signed, overflow)| Register::Fixed { format: Format::new(bits, signed).unwrap(), overflow },
    );
    let check = prop_oneof![4 => Just(Check::EachAdd), 1 => Just(Check::HandOver)];
    let bias = select(vec![BiasPlace::Post, BiasPlace::Post, BiasPlace::Preload, BiasPlace::PostRequantize]);
    let zero_point = select(vec![ZeroPoint::Subtract, ZeroPoint::Subtract, ZeroPoint::Fold]);
    (prop_oneof![8 => register, 1 => Just(Register::Auto)], check, bias, any_register(), zero_point, walk())
        .prop_map(|(register, check, at, bias, zero_point, walk)| {
            let level = Level { check, ..super::serial("acc", Terms::All, register) };
            let mut path = datapath(vec![level]);
            path.bias = guardbit_hwmodels::Bias { at, register: bias, from_model: false };
            path.operands.zero_point = zero_point;
            path.order.walk = walk;
            path
        })
}

/// Generates codes, many of them at the limits of the dtype.
fn codes_at_rails(dtype: DType, len: usize) -> impl Strategy<Value = Vec<i32>> {
    let free = prop::collection::vec(dtype.min()..=dtype.max(), len);
    let small = prop::collection::vec((-3).max(dtype.min())..=3, len);
    let rails = prop::collection::vec(select(vec![dtype.min(), dtype.max()]), len);
    // One limit for a while, then the other, which drives a sum to its own rails.
    let blocks = (0..=len, any::<bool>()).prop_map(move |(turn, up)| {
        let rail = |first: bool| if first == up { dtype.max() } else { dtype.min() };
        (0..len).map(|i| rail(i < turn)).collect()
    });
    prop_oneof![free, small, rails, blocks]
}

/// Generates a layer of up to 40 channels whose codes are often at their limits, with activations of one of
/// these types.
pub fn vector_layer(types: Vec<DType>) -> impl Strategy<Value = (Graph, Vec<Vec<i32>>)> {
    let sizes = (1usize..5, 1usize..5, 1usize..20, 1usize..40, 1usize..4, 0usize..4);
    let types = (select(types), select(vec![DType::Int8, DType::UInt8]), any::<bool>());
    (sizes, types, padding()).prop_flat_map(|((h, w, depth, channels, kernel, kind), types, padding)| {
        let (kernel, padding) = if h < 3 || w < 3 { (1, padding) } else { (kernel, padding) };
        let (x_type, w_type, centred) = types;
        let x_shape = match kind {
            0 => [1, h, w, depth],
            1 => [1, h, w, channels],
            2 => [h, 1, 1, depth * 9],
            _ => [1, h, channels, depth],
        };
        let (w_shape, axis) = match kind {
            0 => ([channels, kernel, kernel, depth], 0),
            1 => ([1, kernel, kernel, channels], 3),
            _ => ([channels, depth * 9, 1, 1], 0),
        };
        let zero_point = if centred { 0.max(x_type.min()) } else { x_type.max() };
        let len = x_shape.iter().product();
        let samples = prop::collection::vec(codes_at_rails(x_type, len), 2);
        let weights = codes_at_rails(w_type, w_shape.iter().product());
        (samples, weights, bias(channels)).prop_map(move |(samples, codes, bias)| {
            let x = quantized(&x_shape, x_type, 0.1, zero_point);
            let scales = vec![0.01; channels];
            let zero_points = vec![if w_type == DType::UInt8 { 128 } else { 0 }; channels];
            let quantization = Some(Quantization::per_axis(scales, zero_points, axis).unwrap());
            let mut ty = TensorType { shape: w_shape.to_vec(), dtype: w_type, quantization };
            let out = output("y", DType::Int8, 0.7, -5);
            let (activation, requantize) = (Activation::None, REQUANTIZE);
            let (stride, dilation) = ([1; 2], [1; 2]);
            let weights = |ty| Some((ty, codes.clone()));
            let graph = match kind {
                3 => squared(x, false),
                0 => {
                    let op = Conv2d { stride, dilation, padding, activation, requantize };
                    one_layer(op, x, weights(ty), bias, out)
                }
                1 => {
                    let op = DepthwiseConv2d { stride, dilation, padding, activation, requantize };
                    one_layer(op, x, weights(ty), bias, out)
                }
                _ => {
                    ty.shape.truncate(2);
                    let op = FullyConnected { keep_num_dims: false, activation, requantize };
                    one_layer(op, x, weights(ty), bias, out)
                }
            };
            (graph, samples)
        })
    })
}
