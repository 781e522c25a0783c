//! Datapath on lanes of one width, prepared once per layer: rails, starts, and proofs from weights alone.

use guardbit_hwmodels::bounds::{Range, level_sums};
use guardbit_hwmodels::{
    Check, Fixup, Level, MacLayer, PACKED_HIGH_BITS, PACKED_LOW_BITS, Packing, Reduce, Register,
    ShiftRounding, Terms, Walk,
};
use guardbit_num::{Format, Overflow, Rounding};

use super::super::basis::Basis;
use super::super::blocks::Block;
use super::super::kernels::{BOUND_PAIRS, Extremes, LANES, Lane, Rails, Vector};
use super::super::span::Span;
use crate::output;

/// Datapath on lanes of type `V`: no value that it can hold approaches their limits.
#[derive(Debug)]
pub(super) struct Plan<V: Lane> {
    pub product: Product<V>,
    pub levels: Vec<Stage<V>>,
    /// Starts of the last level, per block.
    pub starts: Vec<Start<V>>,
    /// Least and greatest value of every level's format, which define persistent and transient overflows, per block.
    pub held: Vec<Vec<Extremes<V>>>,
    /// Masks of the lanes that share an adder with the lane before them, per block; `None` if none does.
    pub high: Vec<Option<Vector<V>>>,
    /// Order of addition, if it depends on the products.
    pub walk: Option<Walk>,
    /// Whether products fit 16 bits.
    pub short_products: bool,
    /// Adders that lanes share.
    pub shared: Option<Shared<V>>,
    /// Number of first stages (the product, then each level) that no dot product of a block can overflow, for
    /// any input; per block.
    pub certain: Vec<usize>,
    /// Whether the innermost of several levels checks every addition of products that fit 16 bits.
    pub short: bool,
    /// Number of pairs of products in a run of the innermost of several levels, if bounds of its prefixes, or
    /// nodes, decide whether it overflows.
    pub run_pairs: Option<usize>,
    /// Rails of the innermost level on 16-bit lanes, if these suffice.
    pub sixteen: Option<Rails<i16>>,
    /// Whether bits are dropped on the way.
    pub drops_bits: bool,
    /// Upper bound of the magnitude of all sums of the last level, exact or not.
    pub reach: i64,
}

/// Adders that two lanes share; the low lane's is that of the innermost level.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shared<V: Lane> {
    /// Rails of the high lane.
    pub rails: Rails<V>,
    /// Width of the low lane.
    pub bits: u32,
    pub fixup: Fixup,
}

impl<V: Lane> Shared<V> {
    fn new(layer: &MacLayer) -> Option<Self> {
        let Packing::Dsp48e2Int8x2(fixup) = layer.packing else { return None };
        let format = Format::signed(PACKED_HIGH_BITS).ok()?;
        Some(Self { rails: Rails::new(format, Overflow::Wrap), bits: PACKED_LOW_BITS, fixup })
    }
}

/// Output of the multiplier.
#[derive(Debug, Clone, Copy)]
pub(super) struct Product<V: Lane> {
    /// Rails; `None` if no value can exceed them.
    pub rails: Option<Rails<V>>,
    pub shift: u32,
    pub round: Rounding,
    /// Seed, if it rounds at random.
    pub random: Option<u64>,
}

/// Kinds of levels that are supported here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    Serial,
    Tree,
}

impl Known {
    /// Returns the kind of a level; `None` if only the reference engine supports it.
    fn of(reduce: Reduce) -> Option<Self> {
        let known = [(Reduce::Serial, Self::Serial), (Reduce::Tree, Self::Tree)];
        known.into_iter().find(|(kind, _)| *kind == reduce).map(|(_, way)| way)
    }
}

/// Accumulation level.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stage<V: Lane> {
    pub known: Known,
    pub terms: Terms,
    pub check: Check,
    /// Rails; `None` if no value can exceed them.
    pub rails: Option<Rails<V>>,
    pub shift: u32,
    pub round: Rounding,
    /// Seed, if it rounds at random.
    pub random: Option<u64>,
}

/// Initial values of a level: 0, or a bias.
#[derive(Debug, Clone, Copy)]
pub(super) struct Start<V: Lane> {
    /// Value with unlimited width.
    pub unbounded: Vector<V>,
    /// Value with unlimited width, in unit 1.
    pub exact: Vector<V>,
    /// Value in the register.
    pub held: Vector<V>,
    /// Mask that is 0 where a sticky register is stuck.
    pub free: Vector<V>,
    /// Whether the bias did not fit.
    pub misfit: [bool; LANES],
}

impl<V: Lane> Start<V> {
    pub const ZERO: Self = Self {
        unbounded: Vector::ZERO,
        exact: Vector::ZERO,
        held: Vector::ZERO,
        free: Vector::ONES,
        misfit: [false; LANES],
    };
}

impl<V: Lane> Plan<V> {
    /// Returns the plan; `None` if lanes are too narrow, or a stage is not supported.
    pub fn new(layer: &MacLayer, basis: &Basis) -> Option<Self> {
        let limit = 1i128 << (V::BITS - 2);
        let datapath = &layer.datapath;
        let terms = layer.order.len();
        let operand = i128::from(basis.operands.magnitude());
        let weight = basis.weights.magnitude();
        let blocks = || basis.blocks.iter();
        let bias = layer.bias.iter().flatten().map(|bias| bias.abs()).max().unwrap_or(0);
        let product_of_operands = operand * i128::from(weight);
        let product = product_of_operands;
        if product * terms as i128 + bias >= limit {
            return None;
        }
        let holds = |shift: u32| shift <= V::BITS - 2;

        // Greatest magnitude of the values at the current stage.
        let mut reach = product;
        let path = datapath.product;
        let rails = meets::<V>(path.register, &mut reach);
        let (round, random) = rounding(path.round, path.shift);
        let product = Product { rails, shift: path.shift, round, random };
        if reach >= limit || !holds(path.shift) {
            return None;
        }
        reach = shifted(reach, path.shift);

        let shared = Shared::new(layer);
        let mut values = terms;
        let mut levels = Vec::new();
        // Greatest magnitude of exact sums.
        let mut greatest = product_of_operands * terms as i128 + bias;
        for (index, level) in datapath.levels.iter().enumerate() {
            let length = level.terms.run_length(values);
            let is_last = index + 1 == datapath.levels.len();
            reach = reach * length.min(values) as i128 + if is_last { bias } else { 0 };
            let rails = meets::<V>(level.register, &mut reach);
            if index == 0 && shared.is_some() {
                // The low lane's carries.
                reach += (reach >> PACKED_LOW_BITS) + 1;
            }
            greatest = greatest.max(reach);
            if reach >= limit || !holds(level.shift) {
                return None;
            }
            reach = shifted(reach, level.shift);
            values = values.div_ceil(length);
            let &Level { reduce, terms, check, shift, round, .. } = level;
            let known = Known::of(reduce)?;
            let (round, random) = rounding(round, shift);
            levels.push(Stage { known, terms, check, rails, shift, round, random });
        }
        let starts = blocks().map(|block| start(layer, block, levels.last()?)).collect::<Option<_>>()?;
        let held = blocks().map(|block| held(layer, block)).collect();
        let high: Vec<_> = blocks().map(high_lanes).collect();
        let certain = blocks().map(|block| certain(layer, block, basis.operands)).collect();
        let plain = product.rails.is_none() && product.shift == 0;
        let walk = Some(&datapath.order.walk).filter(|walk| walk.depends_on_data()).cloned();
        let plain = plain && walk.is_none() && !basis.is_wide();
        let short = plain && shared.is_none() && is_short(&levels, product_of_operands, terms);
        let innermost = layer.datapath.levels[0].register.fixed().filter(|_| short);
        let sixteen = innermost.and_then(|(format, overflow)| Rails::short(format, overflow));
        let run_pairs = if plain { run_pairs(&levels, terms) } else { None };
        let drops_bits = datapath.unit_shift(levels.len()) > 0;
        let reach = greatest.min(1 << 62) as i64;
        Some(Self {
            product,
            levels,
            starts,
            held,
            high,
            walk,
            short_products: product_of_operands <= i128::from(i16::MAX),
            shared,
            certain,
            short,
            run_pairs,
            sixteen,
            drops_bits,
            reach,
        })
    }
}

/// Returns the rails of a register for exact values of magnitude up to `reach`, which is updated to the
/// greatest magnitude it can hold; `None` if none of them exceeds its rails.
fn meets<V: Lane>(register: Register, reach: &mut i128) -> Option<Rails<V>> {
    let Register::Fixed { format, overflow } = register else { return None };
    if register.keeps(Range::new(-*reach, *reach)) {
        return None;
    }
    if !format.is_signed() {
        // Wrapping turns small negative values into large ones; otherwise magnitudes never grow.
        *reach += format.max();
    }
    Some(Rails::new(format, overflow))
}

/// Returns the least and the greatest value of every level's format, for the lanes of a block.
fn held<V: Lane>(layer: &MacLayer, block: &Block) -> Vec<Extremes<V>> {
    let above = 1 << (PACKED_HIGH_BITS - 1);
    let of_level = |(index, level): (usize, &Level)| {
        let format = level.register.fixed().map(|(format, _)| (format.min(), format.max()));
        let mut held = Extremes::ZERO;
        for l in 0..LANES {
            let (least, greatest) = match index == 0 && block.high[l] {
                true => (-above, above - 1),
                false => format.unwrap_or((i128::MIN, i128::MAX)),
            };
            (held.min[l], held.max[l]) = (V::nearest(least), V::nearest(greatest));
        }
        held
    };
    layer.datapath.levels.iter().enumerate().map(of_level).collect()
}

/// Returns the number of additions at every level of a dot product of `terms` products.
pub(super) fn additions(layer: &MacLayer, terms: usize) -> impl Iterator<Item = u64> {
    let mut values = terms;
    layer.datapath.levels.iter().map(move |level| {
        let runs = values.div_ceil(level.terms.run_length(values)).max(1);
        let adds = if level.reduce.takes_run_at_once() { values.saturating_sub(runs) } else { values };
        values = runs;
        adds as u64
    })
}

/// Returns the mask of the lanes that share an adder with the lane before them, if any does.
fn high_lanes<V: Lane>(block: &Block) -> Option<Vector<V>> {
    block.high.contains(&true).then(|| Vector::new(block.high.map(V::mask)))
}

/// Returns the rounding of constants, and the seed of a stage that rounds at random.
fn rounding(round: ShiftRounding, shift: u32) -> (Rounding, Option<u64>) {
    match round {
        ShiftRounding::Stochastic { seed } if shift > 0 => (round.of_constants(), Some(seed)),
        _ => (round.of_constants(), None),
    }
}

fn shifted(reach: i128, shift: u32) -> i128 {
    if shift == 0 { reach } else { (reach >> shift) + 1 }
}

/// Returns the start, fitted in the overflow mode of the level.
fn start<V: Lane>(layer: &MacLayer, block: &Block, last: &Stage<V>) -> Option<Start<V>> {
    let mut start = Start::ZERO;
    let level = layer.datapath.levels.last()?;
    for lane in 0..block.count {
        let initial = output::preload(layer, block.first + lane).unwrap_or(0);
        start.unbounded[lane] = V::low_bits(initial);
        start.exact[lane] = V::low_bits(output::exact_sum(layer, block.first + lane, 0));
        start.held[lane] = V::low_bits(initial);
        if last.rails.is_none() || last.check == Check::HandOver {
            continue;
        }
        if let Register::Fixed { format, overflow } = level.register {
            let fit = overflow.fit(initial, format);
            start.held[lane] = V::low_bits(fit.value);
            start.misfit[lane] = fit.overflow.is_some();
            start.free[lane] = V::mask(fit.overflow.is_none() || !overflow.latches());
        }
    }
    Some(start)
}

/// Returns the number of first stages (the product, then each level) that no dot product of the block can
/// overflow.
///
/// Every product's range contains 0, so every prefix in any order, and every node of a tree, lies within the
/// range of the complete run.
fn certain(layer: &MacLayer, block: &Block, operands: Span) -> usize {
    let of_lane = |lane| certain_of_channel(layer, block.first + lane, operands);
    let certain = (0..block.count).map(of_lane).min().unwrap_or(0);
    // Borrows from high lanes reach the levels above the shared adder.
    if borrows(layer.packing) && block.high.contains(&true) { certain.min(2) } else { certain }
}

/// Returns whether a negative low lane takes 1 from the lane above it.
fn borrows(packing: Packing) -> bool {
    packing == Packing::Dsp48e2Int8x2(Fixup::None)
}

fn certain_of_channel(layer: &MacLayer, channel: usize, operands: Span) -> usize {
    let datapath = &layer.datapath;
    // In 64 bits, which hold these products: every weight of a network passes here.
    let product = |&weight: &i32| {
        let products = operands.times(weight.into());
        Range::new(products.least, products.greatest)
    };
    let products: Vec<Range> = layer.weights.channel(channel).iter().map(product).collect();
    if !products.iter().all(|&product| datapath.product.register.keeps(product)) {
        return 0;
    }
    let initial = Range::point(output::preload(layer, channel).unwrap_or(0));
    let sums = level_sums(datapath, &products, initial);
    let kept = datapath.levels.iter().zip(sums).take_while(|(level, sum)| level.register.keeps(*sum));
    1 + kept.count()
}

/// Returns the value of [`Plan::short`]; `product` is the greatest product.
fn is_short<V: Lane>(levels: &[Stage<V>], product: i128, terms: usize) -> bool {
    let [first, _, ..] = levels else { return false };
    let greatest = i128::from(i16::MAX);
    product <= greatest && terms as i128 <= greatest && first.check == Check::EachAdd && first.rails.is_some()
}

/// Returns the value of [`Plan::run_pairs`].
fn run_pairs<V: Lane>(levels: &[Stage<V>], terms: usize) -> Option<usize> {
    let [first, _, ..] = levels else { return None };
    let length = first.terms.run_length(terms);
    let whole = length.is_multiple_of(2) || length >= terms;
    let pairs = length.min(terms).div_ceil(2);
    // A new bound begins with a sum, which is a prefix but may not be a node of a tree.
    let bounded = first.known == Known::Serial || pairs <= BOUND_PAIRS;
    (V::BITS == 32 && first.check == Check::EachAdd && whole && bounded).then_some(pairs)
}
