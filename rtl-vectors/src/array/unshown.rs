//! Faults of an array's registers that none of its tiles shows, and dot products that show them.
//!
//! Of an array, nothing is seen but its sums: a fault may need values after the one that overflows.

use guardbit_hwmodels::{Check, MacLayer};
use guardbit_num::{Overflow, Rounding};
use guardbit_sim::trace::TraceOperand;
use rand_pcg::Pcg64Mcg;

use crate::corners::{at_product_rails, random};
use crate::fit::Fit;
use crate::manifest::{Arithmetic, LevelInfo, RegisterInfo};

/// Greatest numbers of dot products, and of their products, that are tried for one fault.
const TRIED: usize = 1 << 12;
const TRIED_PRODUCTS: usize = 1 << 17;
/// Greatest number of products of the array's own tiles that are compared for one fault.
const COMPARED_PRODUCTS: usize = 1 << 18;

/// Fits of all registers: the multiplier's, then those of the levels.
type Fits = Vec<Option<Fit>>;

/// Returns the fits of an array with each fault: of one register, then of all.
fn faulty(own: &Fits) -> Vec<Fits> {
    let of_one: [fn(Fit) -> Fit; 5] = [
        |fit| Fit { mode: Overflow::Wrap, ..fit },
        |fit| Fit { mode: Overflow::Saturate, ..fit },
        |fit| Fit { mode: Overflow::SaturateSymmetric, ..fit },
        |fit| Fit { bits: fit.bits - 1, ..fit },
        |fit| Fit { bits: fit.bits + 1, ..fit },
    ];
    let of_all: [fn(Fit) -> Fit; 4] = [
        |fit| Fit { off_by_one: true, ..fit },
        |fit| Fit { swapped: true, ..fit },
        |fit| Fit { rail_wraps: fit.mode.hdl().contains("rail"), ..fit },
        |fit| Fit { bits: fit.bits - 1, ..fit },
    ];
    let one = |index: usize, change: fn(Fit) -> Fit| {
        let mut fits = own.clone();
        fits[index] = fits[index].map(change);
        fits
    };
    // A register that keeps exact values has no mode to get wrong.
    let is_plain = |index: &usize| own[*index].is_some_and(|fit| !fit.mode.keeps_exact() && fit.bits > 2);
    let each = (0..own.len()).filter(is_plain).flat_map(|index| of_one.map(|change| one(index, change)));
    let all = of_all.map(|change| own.iter().map(|fit| fit.map(change)).collect());
    each.chain(all).filter(|fits| fits != own).collect()
}

/// Returns the sums of dot products, which show every fault that `tiles` do not show and a search finds.
pub(super) fn unshown(
    layer: &MacLayer,
    arithmetic: &Arithmetic,
    tiles: &mut dyn Iterator<Item = Vec<TraceOperand>>,
    source: &mut Pcg64Mcg,
) -> Vec<Vec<TraceOperand>> {
    let levels = arithmetic.levels.iter().map(|level| &level.register);
    let own: Fits = [&arithmetic.product].into_iter().chain(levels).map(Fit::of).collect();
    let mut left = faulty(&own);
    let differs = |fits: &Fits, operands: &[TraceOperand]| {
        sum(arithmetic, fits, operands) != sum(arithmetic, &own, operands)
    };
    let mut products = 0;
    for operands in tiles.take_while(|operands| {
        products += operands.len();
        products <= COMPARED_PRODUCTS
    }) {
        left.retain(|fits| !differs(fits, &operands));
    }
    // Random operands rarely have a product at a rail.
    let at_rails = at_product_rails(layer, arithmetic);
    let mut found = Vec::new();
    while let Some(fits) = left.pop() {
        let tried = TRIED.min(TRIED_PRODUCTS / layer.order.len().max(1));
        let drawn = (0..tried).map(|_| random(layer, arithmetic, source));
        let mut drawn = at_rails.iter().cloned().chain(drawn);
        if let Some(operands) = drawn.find(|operands| differs(&fits, operands)) {
            left.retain(|fits| !differs(fits, &operands));
            found.push(operands);
        }
    }
    found
}

/// Sum that a level holds, and whether it overflowed.
#[derive(Debug, Clone, Copy, Default)]
struct Held {
    sum: i128,
    stuck: bool,
}

/// Returns the sum that leaves an array whose registers hold values as `fits` say.
fn sum(arithmetic: &Arithmetic, fits: &Fits, operands: &[TraceOperand]) -> i128 {
    let mut held = vec![Held::default(); arithmetic.levels.len()];
    let mut delivered = 0;
    for (k, operand) in operands.iter().enumerate() {
        let product = operand.activation * operand.weight;
        let mut value = leaving(fits[0].map_or(product, |fit| fit.apply(product).0), &arithmetic.product);
        for (index, level) in arithmetic.levels.iter().enumerate() {
            let now = &mut held[index];
            add(level, fits[index + 1], value, now);
            // Only the innermost level of an array has shorter runs than a dot product.
            let ends_here = level.terms.is_some_and(|terms| (k + 1).is_multiple_of(terms));
            if !ends_here && k + 1 < operands.len() {
                break;
            }
            let sum = std::mem::take(now).sum;
            let fit = fits[index + 1].filter(|_| level.check == Check::HandOver);
            value = leaving(fit.map_or(sum, |fit| fit.apply(sum).0), &level.register);
            delivered = value;
        }
    }
    delivered
}

/// Adds a value to what a level holds.
fn add(level: &LevelInfo, fit: Option<Fit>, value: i128, now: &mut Held) {
    let fit = fit.filter(|_| level.check == Check::EachAdd);
    let exact = now.sum + value;
    let (sum, (high, low)) = fit.map_or((exact, (false, false)), |fit| fit.apply(exact));
    let latches = fit.is_some_and(|fit| fit.mode.latches());
    if !(latches && now.stuck) {
        now.sum = low_bits(sum, level.acc_bits + u32::from(!level.acc_signed));
        now.stuck |= high || low;
    }
}

/// Returns what leaves a register: without the dropped bits, as wide as its port.
fn leaving(value: i128, info: &RegisterInfo) -> i128 {
    let round: Rounding = info.round;
    low_bits(round.shift_right(value, info.shift), info.port_bits)
}

/// Returns the low `bits` of a value as a signed number.
fn low_bits(value: i128, bits: u32) -> i128 {
    value << (128 - bits) >> (128 - bits)
}
