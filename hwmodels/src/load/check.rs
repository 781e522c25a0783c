//! From the file as written to the accelerator: defaults, ranges, consistency.

use guardbit_num::{Format, MAX_BITS, MIN_BITS, Overflow, Rounding};

use super::key::KeyPath;
use super::rules::{
    DECIMALS, MAX_CORES, MAX_ELEMENTS, MAX_LATENCY, MAX_LEVELS, MAX_SHIFT, MAX_SIZE, MAX_TERMS,
    MAX_TOTAL_SHIFT, Rule,
};
use super::typed::not_allowed;
use super::{defaults, packing, text};
use crate::file::{
    AcceleratorFile, BiasBits, Bits, Integer, LevelFile, Name, Number, OrderFile, TermsFile, WalkKind,
};
use crate::lower::MAC_OPERATIONS;
use crate::{
    Accelerator, Array, ArrayKind, Axis, Bias, BiasPlace, Check, Datapath, Level, Memory, OutputFit, Product,
    Reduce, ReductionOrder, Register, Terms, TimingConvention, Walk, ZeroPoint,
};

/// Most characters of a text in a message.
const SHOWN: usize = 60;

/// A value out of range or two values that do not go together.
#[derive(Debug)]
pub(super) struct Violation {
    pub code: &'static str,
    /// The keys that bear on it, the likeliest culprit first.
    pub keys: Vec<KeyPath>,
    pub message: String,
    pub help: String,
}

/// The accelerator of a file whose overrides are applied, but for those of single layers.
pub(super) fn check(file: &AcceleratorFile) -> Result<Accelerator, Violation> {
    schema(file)?;
    let array = array(file)?;
    let datapath = datapath(file, array)?;
    Ok(Accelerator {
        name: accelerator_name(file)?,
        description: description(file)?,
        clock_mhz: decimal(&["clock_mhz"], file.clock_mhz, defaults::CLOCK_MHZ)?,
        array,
        dataflow: name(file.dataflow, defaults::DATAFLOW),
        offload: match &file.offload {
            Some(operations) => operations.iter().map(|op| op.0.to_owned()).collect(),
            None => MAC_OPERATIONS.iter().map(|&op| op.to_owned()).collect(),
        },
        timing: name(file.timing.as_ref().and_then(|t| t.convention), TimingConvention::Overlapped),
        memory: memory(file)?,
        packing: packing::packing(file, &datapath)?,
        datapath,
        layers: Default::default(),
    })
}

fn accelerator_name(file: &AcceleratorFile) -> Result<String, Violation> {
    match file.name.as_deref() {
        Some(name) if text::is_name(name) => Ok(name.into()),
        name => Err(out_of_range(KeyPath::keys(&["name"]), shown(name.unwrap_or_default()))),
    }
}

fn description(file: &AcceleratorFile) -> Result<String, Violation> {
    let said = file.description.as_deref().unwrap_or_default();
    text::description(said).ok_or_else(|| out_of_range(KeyPath::keys(&["description"]), shown(said)))
}

/// A text in a message: its beginning, with escapes for what is not printed.
fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    if text.chars().nth(SHOWN).is_some() {
        shown += "...";
    }
    format!("`{shown}`")
}

fn schema(file: &AcceleratorFile) -> Result<(), Violation> {
    let key = KeyPath::keys(&["schema"]);
    match file.schema {
        Some(Integer(1)) => Ok(()),
        Some(other) => Err(out_of_range(key, other)),
        None => Err(Violation {
            code: Rule::of(&key).code,
            message: "the file does not say its `schema`".into(),
            help: "begin the file with `schema: 1`, the version of the file format".into(),
            keys: vec![key],
        }),
    }
}

fn array(file: &AcceleratorFile) -> Result<Array, Violation> {
    let array = file.array.clone().unwrap_or_default();
    let size = |key, value, default| {
        let size = integer(KeyPath::keys(&["array", key]), value, default, 1, MAX_SIZE)?;
        Ok(size as usize)
    };
    let array = Array {
        rows: size("rows", array.rows, defaults::ROWS)?,
        cols: size("cols", array.cols, defaults::COLS)?,
        dot_width: size("dot_width", array.dot_width, defaults::DOT_WIDTH)?,
        kind: name(array.kind, ArrayKind::default()),
        cores: integer(KeyPath::keys(&["array", "cores"]), array.cores, 1, 1, MAX_CORES)? as usize,
        stripe: size("stripe", array.stripe, 1)?,
    };
    let elements = array.rows * array.cols * array.cores;
    if elements > MAX_ELEMENTS {
        return Err(Violation {
            code: "guardbit::hw::array",
            keys: ["rows", "cols", "cores"].map(|key| KeyPath::keys(&["array", key])).into(),
            message: format!(
                "`array.rows` x `array.cols` x `array.cores` are {elements} processing elements; {MAX_ELEMENTS} are the \
                 most"
            ),
            help: "a processing element that takes several products at a time has a `dot_width`".into(),
        });
    }
    Ok(array)
}

fn datapath(file: &AcceleratorFile, array: Array) -> Result<Datapath, Violation> {
    let datapath = Datapath {
        zero_point: name(file.operands.as_ref().and_then(|o| o.zero_point), ZeroPoint::Subtract),
        order: order(&file.reduction_order.clone().unwrap_or_default())?,
        product: product(file)?,
        levels: levels(file, array)?,
        bias: bias(file)?,
        scheme: file.requantize.as_ref().and_then(|r| r.scheme).and_then(|Name(scheme)| scheme),
        output: name(file.requantize.as_ref().and_then(|r| r.output), OutputFit::default()),
    };
    let shift = datapath.unit_shift(datapath.levels.len());
    if shift > MAX_TOTAL_SHIFT {
        let levels = (0..datapath.levels.len()).map(|i| level_key(&datapath, i).join("shift"));
        return Err(Violation {
            code: "guardbit::hw::shift",
            keys: levels.chain([KeyPath::keys(&["product", "shift"])]).collect(),
            message: format!("the shifts drop {shift} bits together; {MAX_TOTAL_SHIFT} are the most"),
            help: "lower the `shift` of the product or of a level".into(),
        });
    }
    if datapath.bias.at == BiasPlace::Preload {
        preload(&datapath)?;
    }
    Ok(datapath)
}

fn order(order: &OrderFile) -> Result<ReductionOrder, Violation> {
    let axes = match &order.axes {
        None => defaults::AXES,
        Some(axes) => permutation(axes)?,
    };
    let stride_key = KeyPath::keys(&["reduction_order", "stride"]);
    let walk = match name(order.walk, WalkKind::Forward) {
        WalkKind::Forward => Walk::Forward,
        WalkKind::Reverse => Walk::Reverse,
        WalkKind::Stride => match order.stride {
            Some(stride) => Walk::Stride(integer(stride_key, Some(stride), 1, 1, MAX_SIZE)? as usize),
            None => {
                return Err(Violation {
                    code: "guardbit::hw::order",
                    keys: vec![KeyPath::keys(&["reduction_order", "walk"])],
                    message: "`reduction_order.walk` is stride, but there is no `reduction_order.stride`"
                        .into(),
                    help: "give the distance, as `{walk: stride, stride: 4}`".into(),
                });
            }
        },
    };
    let block = |length| {
        let key = KeyPath::keys(&["reduction_order", "ic_block"]);
        integer(key, Some(length), 0, 0, MAX_SIZE).map(|length| length as usize)
    };
    Ok(ReductionOrder {
        axes,
        walk,
        ic_block: order.ic_block.map(block).transpose()?.filter(|&length| length > 0),
    })
}

fn permutation(axes: &[Name<Axis>]) -> Result<[Axis; 3], Violation> {
    let given: Vec<Axis> = axes.iter().map(|Name(axis)| *axis).collect();
    match <[Axis; 3]>::try_from(given.as_slice()) {
        Ok(order) if defaults::AXES.iter().all(|axis| order.contains(axis)) => Ok(order),
        _ => {
            let names: Vec<_> = given.iter().map(|axis| axis.name()).collect();
            // A list is read as the map that holds it: either place is right.
            let keys = [&["reduction_order", "axes"][..], &["reduction_order"]].map(KeyPath::keys);
            Err(Violation {
                code: "guardbit::hw::order",
                keys: keys.into(),
                message: format!(
                    "`reduction_order` is [{}]; it must name kh, kw and ic, each once",
                    names.join(", ")
                ),
                help: "the slowest axis comes first, as `[kh, kw, ic]`".into(),
            })
        }
    }
}

fn product(file: &AcceleratorFile) -> Result<Product, Violation> {
    let product = file.product.clone().unwrap_or_default();
    let key = KeyPath::keys(&["product"]);
    Ok(Product {
        register: register(&key, product.bits.unwrap_or(Bits::Auto), product.overflow, product.signed)?,
        shift: integer(key.join("shift"), product.shift, 0, 0, MAX_SHIFT)? as u32,
        round: name(product.round, Rounding::Floor),
    })
}

fn levels(file: &AcceleratorFile, array: Array) -> Result<Vec<Level>, Violation> {
    let levels = file.accumulation.as_deref().unwrap_or_default();
    if levels.len() > MAX_LEVELS {
        let key = KeyPath::keys(&["accumulation"]);
        let Rule { code, hint, .. } = Rule::of(&key);
        let message = format!("`accumulation` has {} levels; {MAX_LEVELS} are the most", levels.len());
        return Err(Violation { code, message, help: hint.into(), keys: vec![key] });
    }
    let mut checked: Vec<Level> = Vec::with_capacity(levels.len());
    for (index, raw) in levels.iter().enumerate() {
        let key = KeyPath::level(index, raw.name.as_deref());
        let level = level(&key, raw, array)?;
        if checked.iter().any(|other| other.name == level.name) {
            return Err(Violation {
                code: "guardbit::hw::level_name",
                keys: vec![KeyPath::level(index, None).join("name")],
                message: format!("two levels of `accumulation` are called `{}`", level.name),
                help: "give every level a name of its own".into(),
            });
        }
        checked.push(level);
    }
    let Some(last) = checked.last() else {
        let key = KeyPath::keys(&["accumulation"]);
        let rule = Rule::of(&key);
        return Err(Violation {
            code: rule.code,
            message: "`accumulation` has no level".into(),
            help: format!("give one level at least, {}, or leave the key out", rule.hint),
            keys: vec![key],
        });
    };
    if last.terms != Terms::All {
        let key = KeyPath::level(checked.len() - 1, Some(&last.name));
        return Err(Violation {
            code: "guardbit::hw::terms",
            message: format!("the last level, `{}`, must take all: what it hands on is the sum", last.name),
            help: "write `terms: all`, or add a level behind it that does".into(),
            keys: vec![key.join("terms"), key],
        });
    }
    Ok(checked)
}

fn level(key: &KeyPath, raw: &LevelFile, array: Array) -> Result<Level, Violation> {
    Ok(Level {
        name: level_name(key, raw.name.as_deref())?,
        reduce: name(raw.reduce, Reduce::Serial),
        terms: match raw.terms.unwrap_or(TermsFile::All) {
            TermsFile::All => Terms::All,
            TermsFile::Rows => Terms::Count(array.rows),
            TermsFile::Cols => Terms::Count(array.cols),
            TermsFile::DotWidth => Terms::Count(array.dot_width),
            TermsFile::Number(n) => {
                Terms::Count(integer(key.join("terms"), Some(Integer(n)), 1, 1, MAX_TERMS)? as usize)
            }
        },
        register: register(key, raw.bits.unwrap_or(Bits::Auto), raw.overflow, raw.signed)?,
        check: name(raw.check, Check::EachAdd),
        shift: integer(key.join("shift"), raw.shift, 0, 0, MAX_SHIFT)? as u32,
        round: name(raw.round, Rounding::Floor),
    })
}

fn level_name(level: &KeyPath, name: Option<&str>) -> Result<String, Violation> {
    let key = level.join("name");
    match name {
        Some(name) if text::is_level_name(name) => Ok(name.into()),
        Some(name) => Err(out_of_range(key, shown(name))),
        None => {
            let Rule { code, allowed, hint } = Rule::of(&key);
            let message = format!("there is no `{key}`; it must be {allowed}");
            Err(Violation { code, keys: vec![key, level.clone()], message, help: hint.into() })
        }
    }
}

fn bias(file: &AcceleratorFile) -> Result<Bias, Violation> {
    let bias = file.bias.clone().unwrap_or_default();
    let asked = bias.bits.unwrap_or(BiasBits::FromModel);
    let bits = match asked {
        BiasBits::FromModel => Bits::Number(defaults::BIAS_BITS),
        BiasBits::Auto => Bits::Auto,
        BiasBits::Number(bits) => Bits::Number(bits),
    };
    Ok(Bias {
        at: name(bias.at, BiasPlace::Post),
        register: register(&KeyPath::keys(&["bias"]), bits, bias.overflow, None)?,
        from_model: asked == BiasBits::FromModel,
    })
}

fn preload(datapath: &Datapath) -> Result<(), Violation> {
    let index = datapath.levels.len() - 1;
    if !datapath.levels[index].reduce.takes_run_at_once() {
        return Ok(());
    }
    let Level { name, reduce: kind, .. } = &datapath.levels[index];
    Err(Violation {
        code: "guardbit::hw::bias",
        keys: vec![KeyPath::keys(&["bias", "at"]), level_key(datapath, index).join("reduce")],
        message: format!(
            "`bias.at` is preload, but the last level, `{name}`, is a {kind}: it has no initial value"
        ),
        help: "write `bias: {at: post}`, or end with a serial level".into(),
    })
}

fn memory(file: &AcceleratorFile) -> Result<Memory, Violation> {
    let memory = file.memory.clone().unwrap_or_default();
    let number = |key, value, default| decimal(&["memory", key], value, default);
    let latency = KeyPath::keys(&["memory", "dram_latency_cycles"]);
    let (cycles, usual) = (memory.dram_latency_cycles, defaults::DRAM_LATENCY_CYCLES);
    let whole = |key, value, default, least| {
        integer(KeyPath::keys(&["memory", key]), value, default, least, MAX_SIZE)
    };
    let outstanding = whole("dram_outstanding_bursts", memory.dram_outstanding_bursts, 0, 0)? as u64;
    let (sram, dram) = (defaults::SRAM_BYTES_PER_CYCLE, defaults::DRAM_BYTES_PER_CYCLE);
    let sums = defaults::ACCUMULATOR_BYTES_PER_CYCLE;
    Ok(Memory {
        activation_kib: number("activation_kib", memory.activation_kib, defaults::ACTIVATION_KIB)?,
        weight_kib: number("weight_kib", memory.weight_kib, defaults::WEIGHT_KIB)?,
        accumulator_kib: number("accumulator_kib", memory.accumulator_kib, defaults::ACCUMULATOR_KIB)?,
        double_buffer: memory.double_buffer.unwrap_or(true),
        sram_bytes_per_cycle: number("sram_bytes_per_cycle", memory.sram_bytes_per_cycle, sram)?,
        accumulator_bytes_per_cycle: number(
            "accumulator_bytes_per_cycle",
            memory.accumulator_bytes_per_cycle,
            sums,
        )?,
        dram_bytes_per_cycle: number("dram_bytes_per_cycle", memory.dram_bytes_per_cycle, dram)?,
        dram_latency_cycles: integer(latency, cycles, usual, 0, MAX_LATENCY)? as u64,
        dram_burst_bytes: whole("dram_burst_bytes", memory.dram_burst_bytes, 1, 1)? as u64,
        dram_outstanding_bursts: (outstanding > 0).then_some(outstanding),
    })
}

fn register(
    key: &KeyPath,
    bits: Bits,
    overflow: Option<Name<Overflow>>,
    signed: Option<bool>,
) -> Result<Register, Violation> {
    let Bits::Number(bits) = bits else { return Ok(Register::Auto) };
    let key = key.join("bits");
    let bits = integer(key.clone(), Some(Integer(bits)), 0, MIN_BITS.into(), MAX_BITS.into())?;
    let format = Format::new(bits as u32, signed.unwrap_or(true)).map_err(|_| out_of_range(key, bits))?;
    Ok(Register::Fixed { format, overflow: name(overflow, Overflow::Saturate) })
}

fn integer(
    key: KeyPath,
    value: Option<Integer>,
    default: i64,
    low: i64,
    high: i64,
) -> Result<i64, Violation> {
    let value = value.map_or(default, |value| value.0);
    if (low..=high).contains(&value) { Ok(value) } else { Err(out_of_range(key, value)) }
}

fn decimal(key: &[&str], value: Option<Number>, default: f64) -> Result<f64, Violation> {
    let value = value.map_or(default, |value| value.0);
    if DECIMALS.contains(&value) {
        return Ok(value);
    }
    let far = value != 0.0 && value.is_finite() && !(1e-9..1e15).contains(&value.abs());
    let found = if far { format!("{value:e}") } else { value.to_string() };
    Err(out_of_range(KeyPath::keys(key), found))
}

fn name<T>(value: Option<Name<T>>, default: T) -> T {
    value.map_or(default, |Name(value)| value)
}

fn out_of_range(key: KeyPath, found: impl std::fmt::Display) -> Violation {
    let Rule { code, hint, .. } = Rule::of(&key);
    Violation { code, message: not_allowed(&key, found), help: hint.into(), keys: vec![key] }
}

pub(super) fn level_key(datapath: &Datapath, index: usize) -> KeyPath {
    KeyPath::level(index, Some(&datapath.levels[index].name))
}
