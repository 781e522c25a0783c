//! Parts of a layer's hardware, and how often each is used.
//!
//! Each core has an array of `rows x cols` processing elements with `dot_width` multipliers each.
//! Accumulation levels whose sums stay in place are in every element. A serial level has one adder per value
//! that arrives in a step, in a chain, and a register. A tree has one adder less than the values of a run,
//! and no register. If sums move down the columns, levels above the chain are below the last row, once for
//! every chain that ends there, and keep their sums in the accumulator's SRAM. Bias adders, requantizers,
//! operand buffers, wires and control are not counted.

use guardbit_graph::Graph;
use guardbit_num::Overflow;

use crate::bounds::{LayerBounds, operand_range, weight_operand_range};
use crate::expression::Quantity;
use crate::timing::{Moved, products_per_step};
use crate::{Accelerator, Check, Level, MacLayer, Reduce};

/// Number of bits of a KiB.
const KIB: f64 = 8192.0;
const BYTE: f64 = 8.0;

/// Kind of part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Part {
    /// One multiplier; an access is one product.
    Multiplier,
    /// One adder of a level; an access is one addition.
    Adder,
    /// The register of a serial level; an access is one addition, which writes it.
    Register,
    /// An on-chip memory; an access is one word.
    Sram,
    /// External memory; an access is one bit.
    Dram,
    /// All multipliers, adders and registers of one core together.
    Array,
}

/// Variable of a formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Variable {
    /// Width of the multiplier's activations in bits.
    A,
    /// Width of the multiplier's weights in bits.
    B,
    /// Larger of both widths.
    Wide,
    /// Smaller of both widths.
    Narrow,
    /// Width of an adder or a register in bits; for an array, that of its last level.
    Bits,
    /// Size of a memory in KiB.
    Kib,
    /// Number of words of a memory.
    Depth,
    /// Width of a word in bits.
    Width,
    /// Number of processing elements of an array.
    Pe,
    /// Number of multipliers of a processing element.
    Simd,
}

/// Parts of one kind in the hardware of one layer.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// Kind of the parts.
    pub part: Part,
    /// Level or memory; empty if there is only one.
    pub of: String,
    /// Overflow mode of the level; `None` for other parts, and for registers that hold every value.
    pub overflow: Option<Overflow>,
    /// Reduction of the level.
    pub reduce: Option<Reduce>,
    /// Number of instances.
    pub instances: u64,
    /// Number of accesses of one instance in one inference.
    pub accesses: f64,
    values: Vec<(Variable, f64)>,
}

impl Part {
    /// All kinds, in the order of tables.
    pub const ALL: [Self; 6] =
        [Self::Multiplier, Self::Adder, Self::Register, Self::Array, Self::Sram, Self::Dram];

    /// Returns the name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Multiplier => "multiplier",
            Self::Adder => "adder",
            Self::Register => "register",
            Self::Sram => "sram",
            Self::Dram => "dram",
            Self::Array => "array",
        }
    }

    /// Returns the variables of its formulas.
    pub fn variables(self) -> &'static [Variable] {
        use Variable::{A, B, Bits, Depth, Kib, Narrow, Pe, Simd, Wide, Width};
        match self {
            Self::Multiplier => &[A, B, Wide, Narrow],
            Self::Adder | Self::Register => &[Bits],
            Self::Sram => &[Kib, Depth, Width],
            Self::Dram => &[],
            Self::Array => &[Pe, Simd, A, B, Bits],
        }
    }
}

impl Quantity for Variable {
    fn name(self) -> &'static str {
        match self {
            Self::A => "a",
            Self::B => "b",
            Self::Wide => "wide",
            Self::Narrow => "narrow",
            Self::Bits => "bits",
            Self::Kib => "kib",
            Self::Depth => "depth",
            Self::Width => "width",
            Self::Pe => "pe",
            Self::Simd => "simd",
        }
    }
}

impl Item {
    fn new(part: Part, of: &str, instances: u64, accesses: f64, values: Vec<(Variable, f64)>) -> Self {
        Self { part, of: of.into(), overflow: None, reduce: None, instances, accesses, values }
    }

    /// Returns the value of a variable.
    pub fn value(&self, wanted: Variable) -> Option<f64> {
        self.values.iter().find(|(variable, _)| *variable == wanted).map(|(_, value)| *value)
    }

    /// Returns its widths and sizes in words, e.g. `a 9, b 8`.
    pub fn describe(&self) -> String {
        let shown = self.part.variables().iter().filter(|v| !matches!(v, Variable::Wide | Variable::Narrow));
        let shown = shown.filter_map(|&v| Some(format!("{} {}", v.name(), self.value(v)?)));
        shown.collect::<Vec<_>>().join(", ")
    }
}

/// Returns the parts that a layer of a program over `graph` uses on its accelerator, in the order of tables.
pub fn items(graph: &Graph, accelerator: &Accelerator, layer: &MacLayer) -> Vec<Item> {
    let array = accelerator.array;
    let (cores, simd) = (array.cores as u64, array.dot_width as u64);
    let elements = (array.rows * array.cols) as u64;
    let a = f64::from(operand_range(graph, layer).bits(true));
    let b = f64::from(weight_operand_range(graph, layer).bits(true));
    let levels = level_items(graph, accelerator, layer);
    let last = levels.iter().rev().find_map(|item| item.value(Variable::Bits)).unwrap_or(0.0);
    let mut items = Vec::new();
    // Sums and means have weights of 1, so nothing is multiplied.
    let has_weights = layer.dots.weights.is_some();
    if has_weights {
        let values = vec![
            (Variable::A, a),
            (Variable::B, b),
            (Variable::Wide, a.max(b)),
            (Variable::Narrow, a.min(b)),
        ];
        let products = layer.timing.cost.macs as f64;
        items.push(Item::new(Part::Multiplier, "", elements * simd * cores, products, values));
    }
    items.extend(levels);
    if has_weights {
        let whole = [elements as f64, simd as f64, a, b, last];
        let variables = [Variable::Pe, Variable::Simd, Variable::A, Variable::B, Variable::Bits];
        let values = variables.into_iter().zip(whole).collect();
        items.push(Item::new(Part::Array, "", cores, 1.0, values));
    }
    items.extend(memory_items(accelerator, &layer.timing.cost.moved));
    items
}

/// Returns adders and registers, level by level.
fn level_items(graph: &Graph, accelerator: &Accelerator, layer: &MacLayer) -> Vec<Item> {
    let array = accelerator.array;
    let in_step = products_per_step(accelerator);
    let dots = layer.dots.window.dots() as f64;
    let chain = layer.timing.chain();
    let mut bounds = None;
    // Number of values of a dot product that reach the level, of products in each, and of values that reach
    // an element in one step.
    let (mut values, mut products) = (layer.order.len(), 1usize);
    let mut items = Vec::new();
    for (index, level) in layer.datapath.levels.iter().enumerate() {
        let run = level.terms.run_length(values).min(values.max(1));
        let at_once = level.reduce.takes_run_at_once();
        let arriving = (in_step / products).max(1);
        let below = chain.filter(|chain| index > chain.level || (index == chain.level && at_once));
        let places = match below {
            Some(chain) => array.cols * chain.abreast,
            None => array.rows * array.cols,
        };
        let places = (places * array.cores) as u64;
        let adders = if at_once {
            level.reduce.additions(run) * if below.is_some() { 1 } else { (arriving / run.max(1)).max(1) }
        } else if below.is_some() {
            1
        } else {
            arriving
        };
        let bits = f64::from(level_bits(graph, layer, index, level, &mut bounds));
        let (full, rest) = (values / run.max(1), values % run.max(1));
        let additions =
            full * level.reduce.additions(run) + level.reduce.additions(rest) * usize::from(rest > 0);
        let accesses = dots * additions as f64;
        let item = |part, instances, accesses| Item {
            overflow: level.register.overflow(),
            reduce: Some(level.reduce),
            ..Item::new(part, &level.name, instances, accesses, vec![(Variable::Bits, bits)])
        };
        items.push(item(Part::Adder, places * adders as u64, accesses));
        // Sums that wait below the array are in their SRAM.
        let waits = chain.is_some_and(|chain| index > chain.level);
        if !at_once && !waits {
            // Values that arrive in one step are written once.
            items.push(item(Part::Register, places, dots * values.div_ceil(arriving) as f64));
        }
        values = values.div_ceil(run.max(1));
        products = products.saturating_mul(run.max(1));
    }
    items
}

/// Returns the width of a level's values within a run in bits: its own width, or one that holds every sum of
/// any weights if the level is exact within a run.
fn level_bits(
    graph: &Graph,
    layer: &MacLayer,
    index: usize,
    level: &Level,
    bounds: &mut Option<LayerBounds>,
) -> u32 {
    let exact = || bounds.get_or_insert_with(|| LayerBounds::new(graph, layer)).type_bits(index);
    level.register.bits().filter(|_| level.check == Check::EachAdd).unwrap_or_else(exact)
}

/// Returns on-chip memories and external memory. A word of an on-chip memory is the number of bytes that its
/// port passes per cycle, at least one.
fn memory_items(accelerator: &Accelerator, moved: &Moved) -> Vec<Item> {
    let memory = accelerator.memory;
    let sram = |of: &str, kib: f64, port: f64, bits: u128| {
        let width = (port * BYTE).max(BYTE);
        let values = vec![
            (Variable::Kib, kib),
            (Variable::Depth, (kib * KIB / width).ceil()),
            (Variable::Width, width),
        ];
        Item::new(Part::Sram, of, 1, bits as f64 / width, values)
    };
    let operands = memory.sram_bytes_per_cycle;
    let mut items = vec![
        sram("activation", memory.activation_kib, operands, moved.activation_sram()),
        sram("weight", memory.weight_kib, operands, moved.weight_sram()),
    ];
    if moved.sums > 0 {
        let port = memory.accumulator_bytes_per_cycle;
        items.push(sram("accumulator", memory.accumulator_kib, port, moved.sums));
    }
    items.push(Item::new(Part::Dram, "", 0, moved.outside() as f64, Vec::new()));
    items
}
