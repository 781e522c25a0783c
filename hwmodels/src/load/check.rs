//! Converts the file as written to the accelerator: defaults, ranges, consistency.

use std::ops::RangeInclusive;

use guardbit_num::{Format, Overflow, Rounding};

use super::KeyPath;
use super::order::KnownOrders;
use super::rules::{MAX_ELEMENTS, MAX_LEVELS, Rule, row_of};
use super::typed::not_allowed;
use super::{defaults, depthwise, float, order, packing, ports, text};
use crate::file::{AcceleratorFile, BiasBits, Bits, Integer, Name, RoundKind, TermsFile};
use crate::keys::{Key, LevelFile, MAX_TERMS};
use crate::operations::MAC_OPERATIONS;
use crate::{
    Accelerator, Array, Bias, BiasPlace, Datapath, LayerOverrides, Level, MAX_TOTAL_SHIFT, Operands,
    Processor, Product, Register, Requantization, ShiftRounding, Terms, Timing,
};

/// Greatest length in characters of a quoted text in a message.
const SHOWN: usize = 60;

/// Value out of range, or two inconsistent values.
#[derive(Debug)]
pub(crate) struct Violation {
    pub code: &'static str,
    /// Keys that are involved, the most likely culprit first.
    pub keys: Vec<KeyPath>,
    pub message: String,
    pub help: String,
}

/// Returns the accelerator of a file whose overrides are applied, except those of single layers.
pub(super) fn check(file: &AcceleratorFile, known: &KnownOrders) -> Result<Accelerator, Violation> {
    schema(file)?;
    let array = array(file)?;
    let datapath = datapath(file, array, known)?;
    let offload = match &file.offload {
        Some(named) => named.iter().map(|op| op.0.to_owned()).collect(),
        None => MAC_OPERATIONS.iter().map(|&op| op.to_owned()).collect(),
    };
    let timing = Timing::of(&file.timing.clone().unwrap_or_default(), &KeyPath::keys(&["timing"]))?;
    let memory = ports::memory(&file.memory.clone().unwrap_or_default(), array)?;
    let host = host(file)?;
    let packing = packing::packing(file, &datapath)?;
    let float = file
        .float_accumulation
        .as_ref()
        .map(|file| float::float_accumulation(file, &datapath))
        .transpose()?;
    let (name, description) = (accelerator_name(file)?, description(file)?);
    let layers = LayerOverrides::default();
    let accelerator = Accelerator::of(
        file,
        &KeyPath::keys(&[]),
        name,
        description,
        array,
        offload,
        datapath,
        timing,
        memory,
        host,
        packing,
        float,
        layers,
    )?;
    depthwise::check(accelerator)
}

fn host(file: &AcceleratorFile) -> Result<Processor, Violation> {
    let (section, file) = (KeyPath::keys(&["host"]), file.host.clone().unwrap_or_default());
    let clock = file.clock_mhz.map(|clock| f64::checked(clock, ())).transpose();
    let clock = clock.map_err(|found| out_of_range(section.join("clock_mhz"), found))?;
    Processor::of(&file, &section, clock)
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

/// Returns the beginning of a text for a message, with escapes for unprintable characters.
pub(super) fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    if text.chars().nth(SHOWN).is_some() {
        shown += "...";
    }
    format!("`{shown}`")
}

fn schema(file: &AcceleratorFile) -> Result<(), Violation> {
    let key = KeyPath::keys(&["schema"]);
    if let Some(version) = file.schema {
        return whole(key, version).map(drop);
    }
    Err(Violation {
        code: Rule::of(&key).code,
        message: "the file has no key `schema`".into(),
        help: "begin the file with `schema: 1`, the version of the file format".into(),
        keys: vec![key],
    })
}

fn array(file: &AcceleratorFile) -> Result<Array, Violation> {
    let array = Array::of(&file.array.clone().unwrap_or_default(), &KeyPath::keys(&["array"]))?;
    let elements = array.rows * array.cols * array.cores;
    if elements > MAX_ELEMENTS {
        return Err(Violation {
            code: "guardbit::hw::array",
            keys: ["rows", "cols", "cores"].map(|key| KeyPath::keys(&["array", key])).into(),
            message: format!(
                "`array.rows` x `array.cols` x `array.cores` is {elements} processing elements; expected \
                 at most {MAX_ELEMENTS}"
            ),
            help: "set `dot_width` if a processing element takes several products at a time".into(),
        });
    }
    Ok(array)
}

fn datapath(file: &AcceleratorFile, array: Array, known: &KnownOrders) -> Result<Datapath, Violation> {
    let requantize = file.requantize.clone().unwrap_or_default();
    let datapath = Datapath {
        operands: Operands::of(&file.operands.clone().unwrap_or_default(), &KeyPath::keys(&["operands"]))?,
        order: order::order(&file.reduction_order.clone().unwrap_or_default().0, known)?,
        product: product(file)?,
        levels: levels(file, array)?,
        bias: bias(file)?,
        requantize: Requantization::of(&requantize, &KeyPath::keys(&["requantize"]))?,
    };
    let shift = datapath.unit_shift(datapath.levels.len());
    if shift > MAX_TOTAL_SHIFT {
        let levels = (0..datapath.levels.len()).map(|i| level_key(&datapath, i).join("shift"));
        return Err(Violation {
            code: "guardbit::hw::shift",
            keys: levels.chain([KeyPath::keys(&["product", "shift"])]).collect(),
            message: format!("the shifts drop {shift} bits in total; expected at most {MAX_TOTAL_SHIFT}"),
            help: "lower the `shift` of the product or of a level".into(),
        });
    }
    if datapath.bias.at == BiasPlace::Preload {
        preload(&datapath)?;
    }
    Ok(datapath)
}

fn product(file: &AcceleratorFile) -> Result<Product, Violation> {
    let (product, key) = (file.product.clone().unwrap_or_default(), KeyPath::keys(&["product"]));
    let register = register(&key, product.bits.unwrap_or(Bits::Auto), product.overflow, product.signed)?;
    let round = rounding(&key, product.round, product.seed)?;
    Product::of(&product, &key, register, round)
}

fn levels(file: &AcceleratorFile, array: Array) -> Result<Vec<Level>, Violation> {
    let levels = file.accumulation.as_deref().unwrap_or_default();
    if levels.len() > MAX_LEVELS {
        let key = KeyPath::keys(&["accumulation"]);
        let Rule { code, hint, .. } = Rule::of(&key);
        let message = format!("`accumulation` has {} levels; expected at most {MAX_LEVELS}", levels.len());
        return Err(Violation { code, message, help: hint.into(), keys: vec![key] });
    }
    let mut checked: Vec<Level> = Vec::with_capacity(levels.len());
    for (index, raw) in levels.iter().enumerate() {
        let key = level_at(index, raw.name.as_deref());
        let level = level(&key, raw, array)?;
        if checked.iter().any(|other| other.name == level.name) {
            return Err(Violation {
                code: "guardbit::hw::level_name",
                keys: vec![level_at(index, None).join("name")],
                message: format!("two levels of `accumulation` have the name `{}`", level.name),
                help: "give every level a different name".into(),
            });
        }
        checked.push(level);
    }
    let Some(last) = checked.last() else {
        let key = KeyPath::keys(&["accumulation"]);
        let rule = Rule::of(&key);
        return Err(Violation {
            code: rule.code,
            message: "`accumulation` has no levels".into(),
            help: format!("give at least one level, {}, or leave out the key", rule.hint),
            keys: vec![key],
        });
    };
    if last.terms != Terms::All {
        let key = level_at(checked.len() - 1, Some(&last.name));
        return Err(Violation {
            code: "guardbit::hw::terms",
            message: format!(
                "the last level, `{}`, must have `terms: all`: its result is the sum of the dot product",
                last.name
            ),
            help: "write `terms: all`, or add a level with `terms: all` after it".into(),
            keys: vec![key.join("terms"), key],
        });
    }
    Ok(checked)
}

fn level(key: &KeyPath, raw: &LevelFile, array: Array) -> Result<Level, Violation> {
    let name = level_name(key, raw.name.as_deref())?;
    let terms = match raw.terms.unwrap_or(TermsFile::All) {
        TermsFile::All => Terms::All,
        TermsFile::Rows => Terms::Count(array.rows),
        TermsFile::Cols => Terms::Count(array.cols),
        TermsFile::DotWidth => Terms::Count(array.dot_width),
        TermsFile::Number(n) => Terms::Count(count(key.join("terms"), n, 1..=MAX_TERMS)?),
    };
    let register = register(key, raw.bits.unwrap_or(Bits::Auto), raw.overflow, raw.signed)?;
    let round = rounding(key, raw.round, raw.seed)?;
    Level::of(raw, key, name, terms, register, round)
}

fn level_name(level: &KeyPath, name: Option<&str>) -> Result<String, Violation> {
    let key = level.join("name");
    match name {
        Some(name @ ("product" | "bias")) => Err(Violation {
            code: "guardbit::hw::level_name",
            keys: vec![key],
            message: format!("a level of `accumulation` has the reserved name `{name}`"),
            help: "choose another name: in tables, `product` and `bias` stand for the product register and \
                   the bias adder"
                .into(),
        }),
        Some(name) if text::is_level_name(name) => Ok(name.into()),
        Some(name) => Err(out_of_range(key, shown(name))),
        None => {
            let Rule { code, allowed, hint } = Rule::of(&key);
            let message = format!("`{key}` is missing; it must be {allowed}");
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
    let key = KeyPath::keys(&["bias"]);
    let register = register(&key, bits, bias.overflow, None)?;
    Bias::of(&bias, &key, register, asked == BiasBits::FromModel)
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
            "`bias.at` is preload, but the last level, `{name}`, is a {kind}, which has no initial value"
        ),
        help: "write `bias: {at: post}`, or end with a serial level".into(),
    })
}

pub(super) fn register(
    key: &KeyPath,
    bits: Bits,
    overflow: Option<Name<Overflow>>,
    signed: Option<bool>,
) -> Result<Register, Violation> {
    let Bits::Number(bits) = bits else { return Ok(Register::Auto) };
    let key = key.join("bits");
    let format = u32::try_from(bits).ok().and_then(|bits| Format::new(bits, signed.unwrap_or(true)).ok());
    let format = format.ok_or_else(|| out_of_range(key, bits))?;
    Ok(Register::Fixed { format, overflow: name(overflow, Overflow::Saturate) })
}

/// Returns the rounding of a stage that drops low bits.
fn rounding(
    section: &KeyPath,
    round: Option<Name<RoundKind>>,
    seed: Option<Integer>,
) -> Result<ShiftRounding, Violation> {
    let seed = seed.map_or(Ok(0), |seed| whole(section.join("seed"), seed))? as u64;
    Ok(match name(round, RoundKind::Fixed(Rounding::Floor)) {
        RoundKind::Fixed(rounding) => rounding.into(),
        RoundKind::Stochastic => ShiftRounding::Stochastic { seed },
    })
}

fn count(key: KeyPath, value: i64, range: RangeInclusive<i64>) -> Result<usize, Violation> {
    usize::checked(Integer(value), range).map_err(|found| out_of_range(key, found))
}

/// Returns a whole number within the range of its row.
pub(super) fn whole(key: KeyPath, value: Integer) -> Result<usize, Violation> {
    let [least, most] = row_of(&key).and_then(|row| row.range).unwrap_or([0, i64::MAX]);
    count(key, value.0, least..=most)
}

pub(super) fn name<T>(value: Option<Name<T>>, default: T) -> T {
    value.map_or(default, |Name(value)| value)
}

pub(crate) fn out_of_range(key: KeyPath, found: impl std::fmt::Display) -> Violation {
    let Rule { code, hint, .. } = Rule::of(&key);
    Violation { code, message: not_allowed(&key, found), help: hint.into(), keys: vec![key] }
}

pub(super) fn level_key(datapath: &Datapath, index: usize) -> KeyPath {
    level_at(index, Some(&datapath.levels[index].name))
}

/// Returns the path of level `index` of `accumulation`.
pub(super) fn level_at(index: usize, name: Option<&str>) -> KeyPath {
    let name = name.filter(|name| !name.is_empty()).map(str::to_owned);
    KeyPath::keys(&["accumulation"]).named_item(index, name)
}
