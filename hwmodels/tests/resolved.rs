//! The complete file of an accelerator loads back as an equal accelerator.

use guardbit_hwmodels::{
    Accelerator, Array, ArrayKind, Axis, Bias, BiasPlace, BlockScaling, Check, Dataflow, Datapath, Depthwise,
    FloatAccumulation, FloatIncoming, FloatReduce, FloatResult, Level, Memory, OPERATIONS, OperandFormats,
    Operands, OutputFit, PRESETS, Packing, Permutations, Processor, Product, Reduce, ReductionOrder,
    Register, Requantization, Residency, ScaleFormat, ShiftRounding, Subnormals, Terms, Timing,
    TimingConvention, Walk, ZeroPoint, from_yaml, load,
};
use guardbit_num::{FloatFormat, Format, Overflow, Rounding, Scheme};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

fn register() -> impl Strategy<Value = Register> {
    let fixed = (2..=64u32, any::<bool>(), select(&Overflow::ALL[..]));
    let fixed = fixed.prop_map(|(bits, signed, overflow)| Register::Fixed {
        format: Format::new(bits, signed).unwrap(),
        overflow,
    });
    prop_oneof![Just(Register::Auto), fixed]
}

fn round() -> impl Strategy<Value = ShiftRounding> {
    let fixed = select(&Rounding::ALL[..]).prop_map(ShiftRounding::Fixed);
    prop_oneof![3 => fixed, 1 => seed().prop_map(|seed| ShiftRounding::Stochastic { seed })]
}

fn seed() -> impl Strategy<Value = u64> {
    0..=i32::MAX as u64
}

/// Generates permutations by length and by name.
fn permutations() -> impl Strategy<Value = Permutations> {
    let list = |terms: i64| Just((0..terms).collect::<Vec<i64>>()).prop_shuffle();
    (list(5), list(7)).prop_map(|(five, seven)| {
        Permutations::new(vec![("7".into(), seven), ("conv 1, a".into(), five)]).unwrap()
    })
}

fn level() -> impl Strategy<Value = Level> {
    let reduce = select(vec![Reduce::Serial, Reduce::Tree]);
    let terms = prop_oneof![Just(Terms::All), (1..1000usize).prop_map(Terms::Count)];
    let check = select(vec![Check::EachAdd, Check::HandOver]);
    (reduce, terms, register(), check, 0..15u32, round()).prop_map(
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

/// Generates one to three levels; the last one is serial and adds all values.
fn levels() -> impl Strategy<Value = Vec<Level>> {
    (select(vec!["acc", "sum", "a-1"]), prop::collection::vec(level(), 1..4)).prop_map(
        |(prefix, mut levels)| {
            for (i, level) in levels.iter_mut().enumerate() {
                level.name = format!("{prefix}{i}");
            }
            let last = levels.last_mut().unwrap();
            (last.reduce, last.terms) = (Reduce::Serial, Terms::All);
            levels
        },
    )
}

fn order() -> impl Strategy<Value = ReductionOrder> {
    let axes = Just([Axis::Kh, Axis::Kw, Axis::Ic]).prop_shuffle();
    let walk = prop_oneof![
        select(vec![Walk::Forward, Walk::Reverse, Walk::Sorted, Walk::SignPaired, Walk::Greedy]),
        (1..=65536usize).prop_map(Walk::Stride),
        seed().prop_map(|seed| Walk::Random { seed }),
        permutations().prop_map(Walk::File),
    ];
    let block = prop::option::of(1..=65536usize);
    (axes, walk, block).prop_map(|(axes, walk, ic_block)| ReductionOrder { axes, walk, ic_block })
}

fn datapath() -> impl Strategy<Value = Datapath> {
    let at = select(vec![BiasPlace::Post, BiasPlace::Preload, BiasPlace::PostRequantize]);
    // A bias adder is always signed.
    let bias_register = prop_oneof![
        Just(Register::Auto),
        (2..=64u32, select(&Overflow::ALL[..]))
            .prop_map(|(bits, overflow)| Register::Fixed { format: Format::signed(bits).unwrap(), overflow })
    ];
    let bias = (at, bias_register, any::<bool>()).prop_map(|(at, register, from_model)| {
        let default = Register::Fixed { format: Format::signed(32).unwrap(), overflow: Overflow::Saturate };
        Bias { at, register: if from_model { default } else { register }, from_model }
    });
    let product = (register(), 0..15u32, round());
    let product = product.prop_map(|(register, shift, round)| Product { register, shift, round });
    let scheme = prop::option::of(select(Scheme::ALL));
    let zero_point = select(vec![ZeroPoint::Subtract, ZeroPoint::Fold]);
    let output = select(vec![OutputFit::Saturate, OutputFit::SaturateSymmetric, OutputFit::Wrap]);
    (zero_point, order(), product, levels(), bias, scheme, output).prop_map(
        |(zero_point, order, product, levels, bias, scheme, output)| Datapath {
            operands: Operands { zero_point },
            order,
            product,
            levels,
            bias,
            requantize: Requantization { scheme, output },
        },
    )
}

fn dram() -> impl Strategy<Value = (u64, u64, Option<u64>)> {
    (0..1_000_000u64, 1..=65536u64, proptest::option::of(1..=65536u64))
}

fn host() -> impl Strategy<Value = Processor> {
    let number = || prop_oneof![0.001..1000.0f64, (1..1000u32).prop_map(f64::from)];
    (prop::option::of(number()), 1..=65536usize, number(), number()).prop_map(
        |(clock_mhz, lanes, ops_per_cycle, bytes_per_cycle)| Processor {
            clock_mhz,
            lanes,
            ops_per_cycle,
            bytes_per_cycle,
        },
    )
}

fn memory() -> impl Strategy<Value = Memory> {
    let number = || prop_oneof![0.001..1000.0f64, (1..1000u32).prop_map(f64::from)];
    let switches = (any::<bool>(), select(vec![Residency::None, Residency::Fit]));
    (number(), number(), number(), switches, [number(), number(), number()], dram()).prop_map(
        |(
            activation,
            weight,
            accumulator,
            (double_buffer, residency),
            [sram, sums, dram],
            (latency, burst, outstanding),
        )| {
            Memory {
                activation_kib: activation,
                weight_kib: weight,
                accumulator_kib: accumulator,
                residency,
                double_buffer,
                sram_bytes_per_cycle: sram,
                accumulator_bytes_per_cycle: sums,
                dram_bytes_per_cycle: dram,
                dram_latency_cycles: latency,
                dram_burst_bytes: burst,
                dram_outstanding_bursts: outstanding,
            }
        },
    )
}

fn float() -> impl Strategy<Value = Option<FloatAccumulation>> {
    let bits = (0..=40u32, 1..=40u32, 1..=40u32);
    let formats = [FloatFormat::FLOAT32, "e8m13".parse().unwrap(), "float16".parse().unwrap()];
    let rounds = || select(&Rounding::ALL[..]);
    let promoted = prop::option::of(1..50usize);
    let switches = (any::<bool>(), any::<bool>(), any::<bool>());
    let reach = prop::option::of(1..=300usize);
    let scales = select(vec![BlockScaling::None, BlockScaling::PerTerm, BlockScaling::PerGroup]);
    let blocks =
        (scales, select(vec![ScaleFormat::Ue8m0, ScaleFormat::Ue4m3, ScaleFormat::Any]), any::<bool>());
    let all = (
        1..=1024usize,
        bits,
        rounds(),
        rounds(),
        select(formats.to_vec()),
        promoted,
        (switches, blocks),
        reach,
    );
    let float = all.prop_map(
        |(
            terms,
            (fraction_bits, sum, own),
            align,
            round,
            result,
            promoted,
            ((apart, interleaved, zero), (block_scales, scale_format, several)),
            reach,
        )| {
            let groups = block_scales == BlockScaling::PerGroup;
            let e2m1 = "e2m1".parse().unwrap();
            let small = OperandFormats::of([e2m1, "e5m2".parse().unwrap()]);
            FloatAccumulation {
                register: Register::Auto,
                reduce: FloatReduce::Aligned,
                fused: false,
                subnormals: Subnormals::Keep,
                operands: match (groups, several) {
                    (true, _) => OperandFormats::of([e2m1]),
                    (false, true) => small,
                    (false, false) => OperandFormats::all(),
                },
                block_scales,
                scale_format: if groups { scale_format } else { ScaleFormat::Ue8m0 },
                // An addition is one group, or has no groups.
                group_terms: if groups { terms } else { 16 },
                terms,
                fraction_bits,
                align_round: align,
                incoming: if apart { FloatIncoming::Apart } else { FloatIncoming::Term },
                // These have an effect only apart from the products.
                interleaved: apart && interleaved,
                sum_bits: if apart { sum.max(own) } else { 31 },
                accumulator_bits: if apart { own } else { 24 },
                reach: reach.filter(|_| apart),
                result: FloatResult::Float(result),
                result_round: round,
                negative_zero: zero,
                promote_terms: promoted.map(|times| times * terms),
            }
        },
    );
    // Kinds of sums other than aligned ones, on which keys of those have no effect.
    let kind = select(vec![
        None,
        None,
        Some(FloatReduce::Aligned),
        Some(FloatReduce::Serial),
        Some(FloatReduce::Pairwise),
    ]);
    let own = (any::<bool>(), select(vec![Subnormals::Keep, Subnormals::Flush]), register(), 1..=10u32);
    let float = (float, kind, own).prop_map(|(float, kind, (fused, subnormals, register, power))| {
        let Some(reduce) = kind else { return float };
        let is_fixed = reduce == FloatReduce::Aligned;
        let signed = register.is_signed() && register.overflow() != Some(Overflow::Trap);
        let terms = match reduce {
            FloatReduce::Aligned => float.terms,
            FloatReduce::Serial => 1,
            FloatReduce::Pairwise => 1 << power,
        };
        let aligned = FloatAccumulation {
            reduce,
            fused: fused && !is_fixed,
            subnormals: if is_fixed { Subnormals::Keep } else { subnormals },
            block_scales: BlockScaling::None,
            scale_format: ScaleFormat::Ue8m0,
            group_terms: 16,
            incoming: FloatIncoming::Term,
            interleaved: false,
            sum_bits: 31,
            accumulator_bits: 24,
            reach: None,
            negative_zero: false,
            terms,
            promote_terms: float.promote_terms.map(|products| products / float.terms * terms),
            ..float
        };
        match is_fixed {
            true => FloatAccumulation {
                result: FloatResult::Fixed,
                result_round: Rounding::TowardZero,
                register: if signed { register } else { Register::Auto },
                ..aligned
            },
            false => FloatAccumulation { fraction_bits: 25, align_round: Rounding::TowardZero, ..aligned },
        }
    });
    prop::option::of(float)
}

fn single() -> impl Strategy<Value = Accelerator> {
    let size = || 1..=65536usize;
    // At most 2^20 processing elements.
    let array = (size(), 1..=16usize, size());
    let kinds = [ArrayKind::Outputs, ArrayKind::Channels, ArrayKind::Folded, ArrayKind::Block];
    let depthwise = select(vec![Depthwise::ByKind, Depthwise::Serial]);
    let array = (array, select(kinds.to_vec()), 1..=1usize, size(), depthwise);
    let array = array.prop_map(|((rows, cols, dot_width), kind, cores, stripe, depthwise)| Array {
        kind,
        cores,
        stripe,
        depthwise,
        ..Array::new(rows, cols, dot_width)
    });
    let dataflow = select(vec![
        Dataflow::OutputStationary,
        Dataflow::WeightStationary,
        Dataflow::InputStationary,
        Dataflow::Vector,
    ]);
    let timing = select(vec![TimingConvention::Overlapped, TimingConvention::ScalesimV3]);
    let offload = subsequence(&OPERATIONS[..], 0..=OPERATIONS.len());
    (array, dataflow, timing, offload, datapath(), memory(), host(), float()).prop_map(
        |(array, dataflow, timing, offload, datapath, memory, host, float)| {
            let sorts = matches!(datapath.order.walk, Walk::Sorted | Walk::SignPaired | Walk::Greedy);
            Accelerator {
                name: String::new(),
                description: String::new(),
                clock_mhz: 1.0,
                array,
                dataflow,
                offload: offload.into_iter().map(str::to_owned).collect(),
                timing: Timing { convention: timing },
                datapath,
                memory,
                host,
                packing: Packing::None.into(),
                // A walk that sorts products adds integers.
                float: float.filter(|_| !sorts),
                layers: Default::default(),
            }
        },
    )
}

/// Generates an accelerator, some of whose layers differ from it slightly, or completely.
fn accelerators() -> impl Strategy<Value = Accelerator> {
    let name = select(vec!["x", "14", "no", "a: b # c", "null", "größer", "1e3", "_"]);
    let description = select(vec!["", "x", "14", "no", "a: b # c", "\"quoted\"", "~", "a\\nb", "größer"]);
    let names = subsequence(vec!["conv1", "block.1/conv:0", "3", "a b", "bias.bits"], 0..=3);
    let layer = prop_oneof![
        single().prop_map(Some),
        // `None`: equal to the whole except for the width of its last level.
        Just(None),
    ];
    let layers = prop::collection::vec(layer, 3);
    (single(), name, description, 0.5..2000.0f64, names, layers).prop_map(
        |(mut accelerator, name, description, clock_mhz, names, layers)| {
            (accelerator.name, accelerator.description) = (name.into(), description.into());
            accelerator.clock_mhz = clock_mhz;
            let common = accelerator.clone();
            for (layer, own) in names.into_iter().zip(layers) {
                let mut own = own.unwrap_or_else(|| {
                    let mut narrow = common.clone();
                    let format = Format::signed(9).unwrap();
                    let register = Register::Fixed { format, overflow: Overflow::Wrap };
                    narrow.datapath.levels.last_mut().unwrap().register = register;
                    narrow
                });
                own.name.clone_from(&common.name);
                own.description.clone_from(&common.description);
                (own.clock_mhz, own.host) = (common.clock_mhz, common.host);
                accelerator.layers.insert(layer, own);
            }
            accelerator
        },
    )
}

proptest! {
    #[test]
    fn a_resolved_file_loads_back(accelerator in accelerators()) {
        let yaml = accelerator.resolved_yaml();
        prop_assert_eq!(&from_yaml(&yaml, "other.yaml", &[]).unwrap(), &accelerator, "{}", yaml);
        let json = accelerator.resolved_json().to_string();
        prop_assert_eq!(&from_yaml(&json, "other.json", &[]).unwrap(), &accelerator, "{}", json);
    }
}

#[test]
fn presets_load_back() {
    for preset in PRESETS {
        let accelerator = load(preset.name, &[]).unwrap();
        assert_eq!(from_yaml(&accelerator.resolved_yaml(), "other.yaml", &[]).unwrap(), accelerator);
        let commented = accelerator.commented_yaml();
        let (float, codes) = match accelerator.float {
            Some(_) => ("# Every layer of floating-point codes, stage by stage:\n#   ", " of integer codes"),
            None => ("# Every layer, stage by stage:\n#   order ", ""),
        };
        let order = format!("# Every layer{codes}, stage by stage:\n#   order ");
        assert!(commented.starts_with(float) && commented.contains(&order), "{commented}");
        assert_eq!(from_yaml(&commented, "other.yaml", &[]).unwrap(), accelerator);
    }
}

#[test]
fn a_resolved_file_is_complete_and_in_the_order_of_the_manual() {
    let sets = ["layers.conv1.accumulation.acc.bits=20".to_owned(), "layers.fc.bias.at=preload".to_owned()];
    insta::assert_snapshot!(load("fpga-int14-ws", &sets).unwrap().resolved_yaml(), @r"
    schema: 1
    name: fpga-int14-ws
    description: 16x16 weight-stationary array, 14-bit saturating column chains and 14-bit saturating accumulator SRAM
    clock_mhz: 300
    array:
      rows: 16
      cols: 16
      dot_width: 1
      kind: outputs
      cores: 1
      stripe: 1
      depthwise: by_kind
    dataflow: weight_stationary
    offload:
    - conv2d
    - depthwise_conv2d
    - transpose_conv2d
    - fully_connected
    - batch_matmul
    operands:
      zero_point: subtract
    reduction_order:
      axes:
      - kh
      - kw
      - ic
      walk: forward
      ic_block: 0
    product:
      bits: auto
      shift: 0
      round: floor
    accumulation:
    - name: chain
      reduce: serial
      terms: 16
      bits: 14
      overflow: saturate
      signed: true
      check: each_add
      shift: 0
      round: floor
    - name: acc
      reduce: serial
      terms: all
      bits: 14
      overflow: saturate
      signed: true
      check: each_add
      shift: 0
      round: floor
    bias:
      at: post
      bits: 32
      overflow: saturate
    requantize:
      scheme: from_model
      output: saturate
    timing:
      convention: overlapped
    memory:
      activation_kib: 256
      weight_kib: 256
      accumulator_kib: 64
      residency: none
      double_buffer: true
      sram_bytes_per_cycle: 16
      accumulator_bytes_per_cycle: 128
      dram_bytes_per_cycle: 8
      dram_latency_cycles: 100
      dram_burst_bytes: 1
      dram_outstanding_bursts: 0
    host:
      lanes: 2
      ops_per_cycle: 1
      bytes_per_cycle: 8
    packing:
      kind: none
    layers:
      conv1:
        accumulation.acc.bits: 20
      fc:
        bias.at: preload
    ");
}
