//! Warnings about accelerators that can be simulated but are likely mistakes.

use guardbit_num::MIN_BITS;

use super::KeyPath;
use super::Recipe;
use super::check::{Violation, level_at, level_key};
use super::problem::{HwError, Problem};
use super::set::Set;
use super::sources::Sources;
use crate::file::{AcceleratorFile, BiasBits, Bits, Name, RoundKind};
use crate::order::WalkKind;
use crate::timing::{Feed, Unfilled, products_per_step};
use crate::{
    Accelerator, ArrayKind, BiasPlace, Dataflow, Datapath, OutputFit, Packing, Terms, TimingConvention,
};

/// Width in bits of one product of two int8 codes: -128 * -128 = 2^14.
const INT8_PRODUCT_BITS: u32 = 16;

/// Number of products of int8 codes that fit the low lane of a packed adder: `floor((2^17 - 1) / 2^14)`.
const PACKED_CHAIN: usize = 7;

/// Returns the warnings for a file whose accelerator is valid.
pub(super) fn lint(sources: &Sources, sets: &[Set]) -> Result<Vec<Problem>, HwError> {
    let common: Vec<&Set> = sets.iter().filter(|set| set.layer().is_none()).collect();
    let recipe = Recipe::new(sources, AcceleratorFile { layers: None, ..sources.merged() }, &common)?;
    let made = recipe.file(&[])?;
    let accelerator = made.check()?;
    let file = &made.file;
    let found = [
        wide_product(&accelerator.datapath),
        narrow_tree(&accelerator.datapath),
        inner_all(&accelerator.datapath),
        overflow_without_bits(file),
        unused_of_walk(file),
        unused_seed(file),
        nothing_offloaded(&accelerator),
        long_chain(&accelerator),
        truncating_output(&accelerator),
        small_accumulator_memory(&accelerator),
        ethos_u_array(&accelerator),
        unfilled_column(&accelerator),
        idle_multipliers(&accelerator),
        several_float_additions(&accelerator),
        bias_bits_of_preload(&accelerator, file),
        slow_operands(&accelerator, file),
        slow_sums(&accelerator, file),
    ];
    Ok(found.into_iter().flatten().map(|violation| made.blame(violation)).collect())
}

/// Code of the warning of single products, which a network can refute.
pub(crate) const PRODUCT_WIDER: &str = "guardbit::hw::product_wider_than_accumulator";

/// Warns if a single product may already overflow.
fn wide_product(datapath: &Datapath) -> Option<Violation> {
    let level = datapath.levels.first()?;
    let bits = level.register.bits()?;
    let (product, what) = match datapath.product.register.bits() {
        Some(bits) => (bits, "a product"),
        None => (INT8_PRODUCT_BITS, "a product of int8 codes"),
    };
    let product = product.saturating_sub(datapath.product.shift).max(MIN_BITS);
    (product > bits).then(|| Violation {
        code: PRODUCT_WIDER,
        keys: vec![level_key(datapath, 0).join("bits")],
        message: format!(
            "{what} has {product} bits, but `{}` has {bits}: a single product may overflow it",
            level.name
        ),
        help: "use narrower operands, a `product.shift` or a wider accumulator".into(),
    })
}

/// Warns of a tree that can overflow even if each of its terms fits.
fn narrow_tree(datapath: &Datapath) -> Option<Violation> {
    let tree = datapath.levels.first().filter(|level| level.reduce.takes_run_at_once())?;
    let (bits, Terms::Count(terms)) = (tree.register.bits()?, tree.terms) else { return None };
    let product = datapath.product.register.bits().unwrap_or(INT8_PRODUCT_BITS);
    let needed = product.saturating_sub(datapath.product.shift) + terms.next_power_of_two().ilog2();
    (needed > bits).then(|| Violation {
        code: "guardbit::hw::tree_too_narrow",
        keys: vec![level_key(datapath, 0).join("bits")],
        message: format!(
            "the sum of {terms} products of {product} bits needs {needed} bits, but `{}` has {bits}",
            tree.name
        ),
        help: "an adder tree usually holds its sum: write `bits: auto`".into(),
    })
}

/// Warns of a level that adds all values, followed by another level.
fn inner_all(datapath: &Datapath) -> Option<Violation> {
    let last = datapath.levels.len() - 1;
    // A narrower level after it has a purpose of its own: the hand-over is fitted there.
    let narrows = |index: usize| {
        let bits = |level: usize| datapath.levels[level].register.bits();
        bits(index).zip(bits(index + 1)).is_some_and(|(here, behind)| behind < here)
    };
    let all = |&index: &usize| datapath.levels[index].terms == Terms::All && !narrows(index);
    let index = (0..last).find(all)?;
    let key = level_key(datapath, index);
    let name = &datapath.levels[index].name;
    Some(Violation {
        code: "guardbit::hw::inner_all",
        message: format!("`{name}` adds all values, so each level after it has a single term"),
        help: "give the length of its runs, e.g. `terms: rows`".into(),
        keys: vec![key.join("terms"), key],
    })
}

/// Warns of an overflow mode for a register that cannot overflow.
fn overflow_without_bits(file: &AcceleratorFile) -> Option<Violation> {
    let levels = file.accumulation.iter().flatten().enumerate();
    let levels = levels.map(|(i, level)| (level_at(i, level.name.as_deref()), level.bits, level.overflow));
    let product = file.product.iter().map(|p| (KeyPath::keys(&["product"]), p.bits, p.overflow));
    let never = |bits: Option<Bits>| bits.is_none_or(|bits| bits == Bits::Auto);
    let (key, ..) = levels.chain(product).find(|&(_, bits, overflow)| overflow.is_some() && never(bits))?;
    Some(Violation {
        code: "guardbit::hw::overflow_without_bits",
        message: format!("`{key}` has an overflow mode, but never overflows because its width is auto"),
        help: "give a width, e.g. `bits: 14`".into(),
        keys: vec![key.join("overflow")],
    })
}

/// Warns of a key that belongs to another walk.
fn unused_of_walk(file: &AcceleratorFile) -> Option<Violation> {
    let order = &file.reduction_order.as_ref()?.0;
    let walk = order.walk.map_or(WalkKind::Forward, |walk| walk.0);
    let keys = [
        ("stride", "stride", order.stride.is_some(), WalkKind::Stride, "guardbit::hw::unused_stride"),
        ("seed", "random", order.seed.is_some(), WalkKind::Random, "guardbit::hw::unused_seed"),
        ("file", "file", order.file.is_some(), WalkKind::File, "guardbit::hw::unused_file"),
        ("permutations", "file", order.permutations.is_some(), WalkKind::File, "guardbit::hw::unused_file"),
    ];
    let (key, name, .., code) =
        keys.into_iter().find(|&(_, _, is_given, wanted, _)| is_given && walk != wanted)?;
    Some(Violation {
        code,
        keys: vec![KeyPath::keys(&["reduction_order", key])],
        message: format!("`reduction_order.{key}` is given, but the walk is not {name}"),
        help: format!("write `walk: {name}`, or leave out `{key}`"),
    })
}

/// Warns of a seed for a rounding that needs none.
fn unused_seed(file: &AcceleratorFile) -> Option<Violation> {
    let levels = file.accumulation.iter().flatten().enumerate();
    let levels = levels.map(|(i, level)| (level_at(i, level.name.as_deref()), level.round, level.seed));
    let product = file.product.iter().map(|p| (KeyPath::keys(&["product"]), p.round, p.seed));
    let is_random =
        |round: Option<Name<RoundKind>>| round.is_some_and(|round| round.0 == RoundKind::Stochastic);
    let (key, ..) = levels.chain(product).find(|&(_, round, seed)| seed.is_some() && !is_random(round))?;
    Some(Violation {
        code: "guardbit::hw::unused_seed",
        message: format!("`{key}` has a seed, but no stochastic rounding"),
        help: "write `round: stochastic`, or leave out the seed".into(),
        keys: vec![key.join("seed")],
    })
}

/// Warns of an accelerator that runs no operation.
fn nothing_offloaded(accelerator: &Accelerator) -> Option<Violation> {
    accelerator.offload.is_empty().then(|| Violation {
        code: "guardbit::hw::nothing_offloaded",
        keys: vec![KeyPath::keys(&["offload"])],
        message: "`offload` is empty, so every operation runs on the host".into(),
        help: "leave out `offload` to run all multiply-accumulate operations on the accelerator".into(),
    })
}

/// Warns of a packed chain in which int8 products can overflow the low lane.
fn long_chain(accelerator: &Accelerator) -> Option<Violation> {
    let Packing::Dsp48e2Int8x2(_) = Packing::from(accelerator.packing) else { return None };
    let level = accelerator.datapath.levels.first()?;
    let terms = match level.terms {
        Terms::Count(terms) if terms <= PACKED_CHAIN => return None,
        Terms::Count(terms) => terms.to_string(),
        Terms::All => "all".into(),
    };
    Some(Violation {
        code: "guardbit::hw::packing_chain",
        keys: vec![level_key(&accelerator.datapath, 0).join("terms")],
        message: format!(
            "`{}` adds {terms} products in 18-bit lanes, but only {PACKED_CHAIN} products of int8 codes \
             always fit: more may corrupt the neighbouring lane",
            level.name
        ),
        help: "write `terms: 7` and add a level after it".into(),
    })
}

/// Warns of an output stage that keeps low bits.
fn truncating_output(accelerator: &Accelerator) -> Option<Violation> {
    (accelerator.datapath.requantize.output == OutputFit::Wrap).then(|| Violation {
        code: "guardbit::hw::output_truncates",
        keys: vec![KeyPath::keys(&["requantize", "output"])],
        message: "the output stage keeps only the low bits: a result that does not fit can change its sign"
            .into(),
        help: "write `requantize: {output: saturate}`, unless the device truncates".into(),
    })
}

/// Warns if the accumulators of one tile do not fit their memory.
fn small_accumulator_memory(accelerator: &Accelerator) -> Option<Violation> {
    let Accelerator { array, memory, .. } = accelerator;
    let bits = accelerator.datapath.sum_bits();
    let bytes = array.rows as f64 * array.cols as f64 * f64::from(bits) / 8.0;
    (bytes > memory.accumulator_kib * 1024.0).then(|| Violation {
        code: "guardbit::hw::sram_too_small",
        keys: vec![KeyPath::keys(&["memory", "accumulator_kib"]), KeyPath::keys(&["array", "rows"])],
        message: format!(
            "the sums of one tile take {bytes} bytes, but `memory.accumulator_kib` is {}",
            memory.accumulator_kib
        ),
        help: "use a smaller array or a larger memory for sums".into(),
    })
}

/// Warns of the Ethos-U convention with another kind of array.
fn ethos_u_array(accelerator: &Accelerator) -> Option<Violation> {
    let fits = accelerator.dataflow == Dataflow::Vector && accelerator.array.kind == ArrayKind::Block;
    (accelerator.timing.convention == TimingConvention::EthosU && !fits).then(|| Violation {
        code: "guardbit::hw::ethos_u_array",
        keys: vec![KeyPath::keys(&["timing", "convention"]), KeyPath::keys(&["array", "kind"])],
        message: "`timing.convention` is ethos_u, but the array is not a vector engine of kind block".into(),
        help: "write `dataflow: vector` and `array: {kind: block}`".into(),
    })
}

/// Warns of chains that end within a column and leave rows idle.
fn unfilled_column(accelerator: &Accelerator) -> Option<Violation> {
    if !accelerator.dataflow.moves_sums() {
        return None;
    }
    let Unfilled { level, length, used } = Unfilled::of(accelerator)?;
    let rows = accelerator.array.rows;
    let name = &accelerator.datapath.levels[level].name;
    Some(Violation {
        code: "guardbit::hw::chain_leaves_rows_idle",
        keys: vec![level_key(&accelerator.datapath, level).join("terms"), KeyPath::keys(&["array", "rows"])],
        message: format!(
            "chains of `{name}` have {length} products and end within a column: only {used} of {rows} rows \
             can work{}",
            if length > rows * accelerator.array.dot_width { " in the last pass of a chain" } else { "" }
        ),
        help: "write `terms: rows`, or choose a number of rows that the chains fill".into(),
    })
}

/// Warns of runs that leave multipliers idle, because a cycle takes only whole runs.
fn idle_multipliers(accelerator: &Accelerator) -> Option<Violation> {
    let (used, width) = (products_per_step(accelerator), accelerator.array.dot_width);
    let level = accelerator.datapath.levels.first()?;
    (used < width).then(|| Violation {
        code: "guardbit::hw::runs_leave_multipliers_idle",
        keys: vec![level_key(&accelerator.datapath, 0).join("terms"), KeyPath::keys(&["array", "dot_width"])],
        message: format!(
            "the runs of `{}` do not fill `dot_width`: in each cycle, only {used} of the {width} multipliers \
             of a processing element work",
            level.name
        ),
        help: format!(
            "write `terms: dot_width` for `{}`, or choose a `dot_width` that its runs fill",
            level.name
        ),
    })
}

/// Warns of floating-point additions that follow one another within a cycle.
fn several_float_additions(accelerator: &Accelerator) -> Option<Violation> {
    let (terms, width) = (accelerator.float.as_ref()?.terms, accelerator.array.dot_width);
    (terms < width).then(|| Violation {
        code: "guardbit::hw::several_float_additions_per_cycle",
        keys: vec![KeyPath::keys(&["float_accumulation", "terms"]), KeyPath::keys(&["array", "dot_width"])],
        message: format!(
            "a floating-point addition takes {terms} products, but a processing element takes {width} per cycle: \
             cycles are those of {} additions, one after another, in a cycle",
            width.div_ceil(terms)
        ),
        help: format!("write `array: {{dot_width: {terms}}}`, unless the unit adds several times per cycle"),
    })
}

/// Warns of a width for a bias adder that does not exist.
fn bias_bits_of_preload(accelerator: &Accelerator, file: &AcceleratorFile) -> Option<Violation> {
    let given = file.bias.as_ref().and_then(|bias| bias.bits).filter(|bits| *bits != BiasBits::FromModel);
    let level = accelerator.datapath.levels.last()?;
    (accelerator.datapath.bias.at == BiasPlace::Preload && given.is_some()).then(|| Violation {
        code: "guardbit::hw::bias_bits_unused",
        keys: vec![KeyPath::keys(&["bias", "bits"])],
        message: format!(
            "`bias.bits` has no effect: a preloaded bias is fitted to the last level, `{}`",
            level.name
        ),
        help: format!(
            "leave out `bias.bits`, write `bias: {{at: post}}`, or set the width of `{}`",
            level.name
        ),
    })
}

/// Warns of an operand port that cannot feed the array.
fn slow_operands(accelerator: &Accelerator, file: &AcceleratorFile) -> Option<Violation> {
    let Feed { operands, operand, .. } = Feed::new(accelerator);
    let given = file.memory.as_ref().is_some_and(|memory| memory.sram_bytes_per_cycle.is_some());
    let rate = accelerator.memory.sram_bytes_per_cycle;
    let what = format!("int8 {operand} per cycle");
    slow_port(accelerator, "sram_bytes_per_cycle", given, rate, operands, &what)
}

/// Warns of a sum port that cannot take the array's results.
fn slow_sums(accelerator: &Accelerator, file: &AcceleratorFile) -> Option<Violation> {
    let sums = Feed::new(accelerator).sums;
    let given = file.memory.as_ref().is_some_and(|memory| memory.accumulator_bytes_per_cycle.is_some());
    let rate = accelerator.memory.accumulator_bytes_per_cycle;
    let what = "sums per cycle, reads plus writes";
    slow_port(accelerator, "accumulator_bytes_per_cycle", given, rate, sums, what)
}

/// Warns of a port with fewer bytes per cycle than an unstalled array needs. Only `overlapped` includes its
/// stalls.
fn slow_port(
    accelerator: &Accelerator,
    key: &str,
    given: bool,
    rate: f64,
    needed: f64,
    what: &str,
) -> Option<Violation> {
    let counts = accelerator.timing.convention == TimingConvention::Overlapped;
    (counts && needed > rate).then(|| Violation {
        code: "guardbit::hw::port_too_slow",
        keys: [["memory", key], ["array", "dot_width"], ["array", "rows"], ["array", "cols"]]
            .map(|path| KeyPath::keys(&path))
            .into(),
        message: format!(
            "the array needs {needed} bytes of {what}, but `memory.{key}` is {rate}{}: layers that fill the \
             array stall",
            if given { "" } else { " by default" }
        ),
        help: format!("write `memory: {{{key}: {needed}}}`, unless the port of the device is this narrow"),
    })
}
