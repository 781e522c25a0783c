//! A checked accelerator as a complete file, which loads back to the same accelerator.

use serde_yaml::{Mapping, Value};

use super::{layers, typed};
use crate::file::{
    AcceleratorFile, ArrayFile, BiasBits, BiasFile, Bits, Integer, LevelFile, MemoryFile, Name, Number,
    OpName, OperandsFile, OrderFile, PackingFile, PackingKind, ProductFile, RequantizeFile, TermsFile,
    TimingFile, WalkKind,
};
use crate::lower::OPERATIONS;
use crate::{Accelerator, Bias, Level, Memory, Packing, Product, ReductionOrder, Register, Terms, Walk};

impl Accelerator {
    /// The complete file, as YAML: every default filled, run lengths as numbers. It loads back to the same
    /// accelerator.
    pub fn resolved_yaml(&self) -> String {
        serde_yaml::to_string(&resolved(self)).unwrap_or_default()
    }

    /// As [`resolved_yaml`](Self::resolved_yaml), as JSON.
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
        differences(&value, &typed::to_value(&file(layer)), "", &mut overrides);
        overrides.retain(|path, _| !path.as_str().is_some_and(|path| layers::COMMON.contains(&path)));
        Value::Mapping(overrides)
    };
    let layers: Mapping =
        accelerator.layers.iter().map(|(name, layer)| (name.as_str().into(), own(layer))).collect();
    if let (Value::Mapping(map), false) = (&mut value, layers.is_empty()) {
        map.insert("layers".into(), layers.into());
    }
    value
}

/// The file without its layers.
fn file(accelerator: &Accelerator) -> AcceleratorFile {
    let Accelerator {
        name,
        description,
        clock_mhz,
        array,
        dataflow,
        offload,
        datapath,
        timing,
        memory,
        packing,
        layers: _,
    } = accelerator;
    let operation = |name: &String| OPERATIONS.iter().find(|op| *op == name).copied().map(OpName);
    AcceleratorFile {
        schema: Some(Integer(1)),
        name: Some(name.clone()),
        description: Some(description.clone()),
        extends: None,
        clock_mhz: Some(Number(*clock_mhz)),
        array: Some(ArrayFile {
            rows: Some(count(array.rows)),
            cols: Some(count(array.cols)),
            dot_width: Some(count(array.dot_width)),
            kind: Some(Name(array.kind)),
            cores: Some(count(array.cores)),
            stripe: Some(count(array.stripe)),
        }),
        dataflow: Some(Name(*dataflow)),
        offload: Some(offload.iter().filter_map(operation).collect()),
        operands: Some(OperandsFile { zero_point: Some(Name(datapath.zero_point)) }),
        reduction_order: Some(order(datapath.order)),
        product: Some(product(datapath.product)),
        accumulation: Some(datapath.levels.iter().map(level).collect()),
        bias: Some(bias(datapath.bias)),
        requantize: Some(RequantizeFile {
            scheme: Some(Name(datapath.scheme)),
            output: Some(Name(datapath.output)),
        }),
        timing: Some(TimingFile { convention: Some(Name(*timing)) }),
        memory: Some(memory_file(*memory)),
        packing: Some(packing_file(*packing)),
        layers: None,
    }
}

fn order(order: ReductionOrder) -> OrderFile {
    let (walk, stride) = match order.walk {
        Walk::Forward => (WalkKind::Forward, None),
        Walk::Reverse => (WalkKind::Reverse, None),
        Walk::Stride(stride) => (WalkKind::Stride, Some(count(stride))),
    };
    OrderFile {
        axes: Some(order.axes.map(Name).into()),
        walk: Some(Name(walk)),
        stride,
        ic_block: Some(count(order.ic_block.unwrap_or(0))),
    }
}

fn packing_file(packing: Packing) -> PackingFile {
    let (kind, fixup) = match packing {
        Packing::None => (PackingKind::None, None),
        Packing::Dsp48e2Int8x2(fixup) => (PackingKind::Dsp48e2Int8x2, Some(Name(fixup))),
    };
    PackingFile { kind: Some(Name(kind)), fixup }
}

fn product(product: Product) -> ProductFile {
    let (bits, overflow, signed) = register(product.register);
    ProductFile {
        bits,
        overflow,
        signed,
        shift: Some(Integer(product.shift.into())),
        round: Some(Name(product.round)),
    }
}

fn level(level: &Level) -> LevelFile {
    let (bits, overflow, signed) = register(level.register);
    LevelFile {
        name: Some(level.name.clone()),
        reduce: Some(Name(level.reduce)),
        terms: Some(match level.terms {
            Terms::Count(terms) => TermsFile::Number(count(terms).0),
            Terms::All => TermsFile::All,
        }),
        bits,
        overflow,
        signed,
        check: Some(Name(level.check)),
        shift: Some(Integer(level.shift.into())),
        round: Some(Name(level.round)),
    }
}

fn bias(bias: Bias) -> BiasFile {
    let (bits, overflow, _) = register(bias.register);
    let bits = bits.map(|bits| match bits {
        _ if bias.from_model => BiasBits::FromModel,
        Bits::Auto => BiasBits::Auto,
        Bits::Number(bits) => BiasBits::Number(bits),
    });
    BiasFile { at: Some(Name(bias.at)), bits, overflow }
}

fn memory_file(memory: Memory) -> MemoryFile {
    let whole = |value: u64| Some(Integer(i64::try_from(value).unwrap_or(i64::MAX)));
    MemoryFile {
        activation_kib: Some(Number(memory.activation_kib)),
        weight_kib: Some(Number(memory.weight_kib)),
        accumulator_kib: Some(Number(memory.accumulator_kib)),
        double_buffer: Some(memory.double_buffer),
        sram_bytes_per_cycle: Some(Number(memory.sram_bytes_per_cycle)),
        accumulator_bytes_per_cycle: Some(Number(memory.accumulator_bytes_per_cycle)),
        dram_bytes_per_cycle: Some(Number(memory.dram_bytes_per_cycle)),
        dram_latency_cycles: whole(memory.dram_latency_cycles),
        dram_burst_bytes: whole(memory.dram_burst_bytes),
        dram_outstanding_bursts: whole(memory.dram_outstanding_bursts.unwrap_or(0)),
    }
}

type RegisterFile = (Option<Bits>, Option<Name<guardbit_num::Overflow>>, Option<bool>);

/// Width, overflow mode and signedness; only a fixed width has the latter two.
fn register(register: Register) -> RegisterFile {
    match register {
        Register::Auto => (Some(Bits::Auto), None, None),
        Register::Fixed { format, overflow } => {
            (Some(Bits::Number(format.bits().into())), Some(Name(overflow)), Some(format.is_signed()))
        }
    }
}

fn count(value: usize) -> Integer {
    Integer(i64::try_from(value).unwrap_or(i64::MAX))
}

/// What has to be set in `base` to make it `other`, as dotted paths.
fn differences(base: &Value, other: &Value, path: &str, found: &mut Mapping) {
    let join = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match (base, other) {
        (Value::Mapping(base), Value::Mapping(other)) => {
            for (key, value) in other {
                let old = base.get(key).unwrap_or(&Value::Null);
                differences(old, value, &join(key.as_str().unwrap_or_default()), found);
            }
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

fn same_levels(base: &[Value], other: &[Value]) -> bool {
    let names = |levels: &[Value]| {
        levels.iter().map(|l| level_name(l).map(str::to_owned)).collect::<Option<Vec<_>>>()
    };
    names(base).is_some_and(|names_of_base| Some(names_of_base) == names(other))
}

fn level_name(level: &Value) -> Option<&str> {
    level.as_mapping()?.get("name")?.as_str()
}
