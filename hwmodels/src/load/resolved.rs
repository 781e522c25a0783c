//! Writes a checked accelerator as a complete file, which loads back as an equal accelerator.

use serde_yaml::{Mapping, Value};

use super::{layers, typed};
use crate::accelerator::PackingKind;
use crate::file::{
    AcceleratorFile, BiasBits, Bits, Integer, Name, OpName, OrderFile, PermutationsFile, PortFile, RoundKind,
    TermsFile,
};
use crate::formats::OperandFormats;
use crate::keys::{
    BiasFile, FloatFile, HostFile, Key, LevelFile, MemoryFile, OrderMap, PackingFile, ProductFile,
};
use crate::operations::OPERATIONS;
use crate::{
    Accelerator, Bias, BlockScaling, FloatAccumulation, FloatIncoming, FloatReduce, FloatResult, Level,
    Memory, PackingKeys, Product, ReductionOrder, Register, ShiftRounding, Terms, Walk,
};

impl Accelerator {
    /// Returns the complete file as YAML, with every default filled in and run lengths as numbers. It loads
    /// back as an equal accelerator.
    pub fn resolved_yaml(&self) -> String {
        serde_yaml::to_string(&resolved(self)).unwrap_or_default()
    }

    /// Returns the complete file of [`resolved_yaml`](Self::resolved_yaml) as JSON.
    pub fn resolved_json(&self) -> serde_json::Value {
        let mut json = serde_json::to_value(resolved(self)).unwrap_or_default();
        // The order of keys must not depend on the features with which a dependency is built.
        json.sort_all_objects();
        json
    }
}

fn resolved(accelerator: &Accelerator) -> Value {
    let mut value = typed::to_value(&file(accelerator));
    let own = |layer: &Accelerator| {
        let mut overrides = Mapping::new();
        let own = typed::to_value(&file(layer));
        differences(&value, &own, "", &mut overrides);
        removals(&value, &own, &mut overrides);
        overrides.retain(|path, _| !path.as_str().is_some_and(|path| layers::COMMON.contains(&path)));
        Value::Mapping(overrides)
    };
    let layers: Mapping = accelerator.layers.iter().map(|(name, layer)| (name.into(), own(layer))).collect();
    if let (Value::Mapping(map), false) = (&mut value, layers.is_empty()) {
        map.insert("layers".into(), layers.into());
    }
    value
}

/// Returns the file without its layers.
fn file(accelerator: &Accelerator) -> AcceleratorFile {
    let Accelerator {
        name, description, array, offload, datapath, timing, memory, host, packing, float, ..
    } = accelerator;
    let operation = |name: &String| OPERATIONS.iter().find(|op| *op == name).copied().map(OpName);
    AcceleratorFile {
        schema: Some(Integer(1)),
        name: Some(name.clone()),
        description: Some(description.clone()),
        array: Some(array.file()),
        offload: Some(offload.iter().filter_map(operation).collect()),
        operands: Some(datapath.operands.file()),
        reduction_order: Some(order(&datapath.order)),
        product: Some(product(&datapath.product)),
        accumulation: Some(datapath.levels.iter().map(level).collect()),
        bias: Some(bias(&datapath.bias)),
        requantize: Some(datapath.requantize.file()),
        timing: Some(timing.file()),
        memory: Some(memory_file(memory)),
        host: Some(HostFile { clock_mhz: host.clock_mhz.map(Key::to_file), ..host.file() }),
        packing: Some(packing_file(*packing)),
        float_accumulation: float.as_ref().map(float_file),
        ..accelerator.file()
    }
}

/// Returns the memories with the rates that follow from the array's size.
fn memory_file(memory: &Memory) -> MemoryFile {
    MemoryFile {
        sram_bytes_per_cycle: Some(PortFile::Number(memory.sram_bytes_per_cycle)),
        accumulator_bytes_per_cycle: Some(PortFile::Number(memory.accumulator_bytes_per_cycle)),
        dram_bytes_per_cycle: Some(PortFile::Number(memory.dram_bytes_per_cycle)),
        ..memory.file()
    }
}

fn order(order: &ReductionOrder) -> OrderFile {
    let mut map = OrderMap {
        axes: Some(order.axes.map(Name).into()),
        walk: Some(Name(order.walk.kind())),
        ..order.file()
    };
    match &order.walk {
        Walk::Stride(stride) => map.stride = Some(stride.to_file()),
        Walk::Random { seed } => map.seed = Some(seed.to_file()),
        Walk::File(given) => {
            let numbers = |order: &[usize]| order.iter().map(|i| i.to_file().0).collect();
            let lists = given.iter().map(|(name, order)| (name, numbers(order)));
            map.permutations = Some(PermutationsFile::of(lists));
        }
        Walk::Forward | Walk::Reverse | Walk::Sorted | Walk::SignPaired | Walk::Greedy => {}
    }
    OrderFile(map)
}

/// Returns rounding and seed; only random rounding has a seed.
fn rounding(round: ShiftRounding) -> (Option<Name<RoundKind>>, Option<Integer>) {
    match round {
        ShiftRounding::Fixed(rounding) => (Some(Name(RoundKind::Fixed(rounding))), None),
        ShiftRounding::Stochastic { seed } => (Some(Name(RoundKind::Stochastic)), Some(seed.to_file())),
    }
}

fn packing_file(packing: PackingKeys) -> PackingFile {
    match packing.kind {
        PackingKind::None => PackingFile { fixup: None, ..packing.file() },
        PackingKind::Dsp48e2Int8x2 => packing.file(),
    }
}

/// Returns the keys of a section that have an effect.
fn float_file(float: &FloatAccumulation) -> FloatFile {
    let mut file = float.file();
    if float.incoming == FloatIncoming::Term {
        (file.interleaved, file.sum_bits, file.accumulator_bits, file.reach) = (None, None, None, None);
    }
    if float.block_scales != BlockScaling::PerGroup {
        file.group_terms = None;
    }
    if float.block_scales == BlockScaling::None {
        (file.block_scales, file.scale_format) = (None, None);
    }
    let (is_aligned, is_fixed) = (float.reduce == FloatReduce::Aligned, float.result == FloatResult::Fixed);
    if is_aligned {
        (file.reduce, file.fused, file.subnormals) = (None, None, None);
    } else {
        (file.fraction_bits, file.align_round) = (None, None);
    }
    if is_fixed {
        (file.bits, file.overflow, _) = register(float.register);
        file.result_round = None;
    }
    if is_fixed || !is_aligned {
        (file.incoming, file.negative_zero) = (None, None);
    }
    file.operands = file.operands.filter(|_| float.operands != OperandFormats::all());
    file
}

fn product(product: &Product) -> ProductFile {
    let (bits, overflow, signed) = register(product.register);
    let (round, seed) = rounding(product.round);
    ProductFile { bits, overflow, signed, round, seed, ..product.file() }
}

fn level(level: &Level) -> LevelFile {
    let (bits, overflow, signed) = register(level.register);
    let terms = match level.terms {
        Terms::Count(terms) => TermsFile::Number(terms.to_file().0),
        Terms::All => TermsFile::All,
    };
    let (round, seed) = rounding(level.round);
    let name = Some(level.name.clone());
    LevelFile { name, terms: Some(terms), bits, overflow, signed, round, seed, ..level.file() }
}

fn bias(bias: &Bias) -> BiasFile {
    let (bits, overflow, _) = register(bias.register);
    let bits = bits.map(|bits| match bits {
        _ if bias.from_model => BiasBits::FromModel,
        Bits::Auto => BiasBits::Auto,
        Bits::Number(bits) => BiasBits::Number(bits),
    });
    BiasFile { bits, overflow, ..bias.file() }
}

type RegisterFile = (Option<Bits>, Option<Name<guardbit_num::Overflow>>, Option<bool>);

/// Returns width, overflow mode and signedness; only a fixed width has the latter two.
fn register(register: Register) -> RegisterFile {
    match register {
        Register::Auto => (Some(Bits::Auto), None, None),
        Register::Fixed { format, overflow } => {
            (Some(Bits::Number(format.bits().into())), Some(Name(overflow)), Some(format.is_signed()))
        }
    }
}

/// Collects the settings that turn `base` into `other`, as dotted paths.
fn differences(base: &Value, other: &Value, path: &str, found: &mut Mapping) {
    let join = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match (base, other) {
        (Value::Mapping(base), Value::Mapping(other)) => {
            for (key, value) in other {
                let old = base.get(key).unwrap_or(&Value::Null);
                differences(old, value, &join(key.as_str().unwrap_or_default()), found);
            }
        }
        (Value::Null, Value::Mapping(other)) => {
            other.iter().for_each(|(key, value)| {
                differences(&Value::Null, value, &join(key.as_str().unwrap_or_default()), found);
            });
        }
        (Value::Sequence(base), Value::Sequence(other)) if same_levels(base, other) => {
            for (old, level) in base.iter().zip(other) {
                differences(old, level, &join(level_name(level).unwrap_or_default()), found);
            }
        }
        _ if base == other => {}
        _ => drop(found.insert(path.into(), other.clone())),
    }
}

/// Collects the keys of `float_accumulation` that `base` has and `other` lacks: `null` removes them.
fn removals(base: &Value, other: &Value, found: &mut Mapping) {
    let section = "float_accumulation";
    let keys = |file: &Value| file.get(section).and_then(Value::as_mapping).cloned();
    let Some(base) = keys(base) else { return };
    match keys(other) {
        None => drop(found.insert(section.into(), Value::Null)),
        Some(other) => {
            for key in base.keys().filter(|key| !other.contains_key(key)).filter_map(Value::as_str) {
                found.insert(format!("{section}.{key}").into(), Value::Null);
            }
        }
    }
}

fn same_levels(base: &[Value], other: &[Value]) -> bool {
    let names = |levels: &[Value]| {
        levels.iter().map(|l| level_name(l).map(str::to_owned)).collect::<Option<Vec<_>>>()
    };
    names(base).is_some_and(|names_of_base| Some(names_of_base) == names(other))
}

fn level_name(level: &Value) -> Option<&str> {
    level.as_mapping()?.get("name")?.as_str()
}
