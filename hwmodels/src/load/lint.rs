//! What can be simulated but is likely not meant.

use guardbit_num::MIN_BITS;

use super::check::{Violation, check, level_key};
use super::key::KeyPath;
use super::problem::{HwError, Problem};
use super::set::Set;
use super::sources::Sources;
use super::{apply, blame};
use crate::file::{AcceleratorFile, Bits, WalkKind};
use crate::{Accelerator, Datapath, Reduce, Register, Terms};

/// Bits of one product of two int8 codes: -128 * -128 = 2^14.
const INT8_PRODUCT_BITS: u32 = 16;

/// What is doubtful about a file whose accelerator can be had.
pub(super) fn lint(sources: &Sources, sets: &[Set]) -> Result<Vec<Problem>, HwError> {
    let common: Vec<Set> = sets.iter().filter(|set| set.layer().is_none()).cloned().collect();
    let (file, overridden) = apply(sources, &sources.merged(), &common)?;
    let accelerator = check(&file).map_err(|violation| blame(violation, sources, &overridden))?;
    let found = [
        wide_product(&accelerator.datapath),
        narrow_tree(&accelerator.datapath),
        inner_all(&accelerator.datapath),
        overflow_without_bits(&file),
        unused_stride(&file),
        nothing_offloaded(&accelerator),
    ];
    Ok(found.into_iter().flatten().map(|violation| blame(violation, sources, &overridden)).collect())
}

/// A single product may already overflow.
fn wide_product(datapath: &Datapath) -> Option<Violation> {
    let level = datapath.levels.first()?;
    let bits = fixed_bits(level.register)?;
    let (product, what) = match datapath.product.register {
        Register::Fixed { format, .. } => (format.bits(), "a product"),
        Register::Auto => (INT8_PRODUCT_BITS, "a product of int8 codes"),
    };
    let product = product.saturating_sub(datapath.product.shift).max(MIN_BITS);
    (product > bits).then(|| Violation {
        code: "guardbit::hw::product_wider_than_accumulator",
        keys: vec![level_key(datapath, 0).join("bits")],
        message: format!(
            "{what} has {product} bits, `{}` only {bits}: one product may overflow it",
            level.name
        ),
        help: "narrower operands, a `product.shift` or a wider accumulator avoid it".into(),
    })
}

/// A tree that its terms can overflow even where each of them fits.
fn narrow_tree(datapath: &Datapath) -> Option<Violation> {
    let tree = datapath.levels.first().filter(|level| level.reduce == Reduce::Tree)?;
    let (bits, Terms::Count(terms)) = (fixed_bits(tree.register)?, tree.terms) else { return None };
    let product = fixed_bits(datapath.product.register).unwrap_or(INT8_PRODUCT_BITS);
    let needed = product.saturating_sub(datapath.product.shift) + terms.next_power_of_two().ilog2();
    (needed > bits).then(|| Violation {
        code: "guardbit::hw::tree_too_narrow",
        keys: vec![level_key(datapath, 0).join("bits")],
        message: format!(
            "the sum of {terms} products of {product} bits needs {needed} bits, `{}` has {bits}",
            tree.name
        ),
        help: "an adder tree is usually as wide as its sum: `bits: auto`".into(),
    })
}

/// A level that takes all in front of another one.
fn inner_all(datapath: &Datapath) -> Option<Violation> {
    let last = datapath.levels.len() - 1;
    let index = datapath.levels[..last].iter().position(|level| level.terms == Terms::All)?;
    let key = level_key(datapath, index);
    let name = &datapath.levels[index].name;
    Some(Violation {
        code: "guardbit::hw::inner_all",
        message: format!("`{name}` takes all, so that every level behind it has a single term"),
        help: "give the length of its runs, as `terms: rows`".into(),
        keys: vec![key.join("terms"), key],
    })
}

/// An overflow mode of something that never overflows.
fn overflow_without_bits(file: &AcceleratorFile) -> Option<Violation> {
    let levels = file.accumulation.iter().flatten().enumerate();
    let levels =
        levels.map(|(i, level)| (KeyPath::level(i, level.name.as_deref()), level.bits, level.overflow));
    let product = file.product.iter().map(|p| (KeyPath::keys(&["product"]), p.bits, p.overflow));
    let never = |bits: Option<Bits>| bits.is_none_or(|bits| bits == Bits::Auto);
    let (key, ..) = levels.chain(product).find(|&(_, bits, overflow)| overflow.is_some() && never(bits))?;
    Some(Violation {
        code: "guardbit::hw::overflow_without_bits",
        message: format!("`{key}` has an overflow mode, but its width is auto: it never overflows"),
        help: "give a width, as `bits: 14`".into(),
        keys: vec![key.join("overflow")],
    })
}

/// A stride of a walk that is none.
fn unused_stride(file: &AcceleratorFile) -> Option<Violation> {
    let order = file.reduction_order.as_ref()?;
    let strided = order.walk.is_some_and(|walk| walk.0 == WalkKind::Stride);
    (order.stride.is_some() && !strided).then(|| Violation {
        code: "guardbit::hw::unused_stride",
        keys: vec![KeyPath::keys(&["reduction_order", "stride"])],
        message: "`reduction_order.stride` is given, but the walk is not stride".into(),
        help: "write `walk: stride`, or leave the stride out".into(),
    })
}

/// An accelerator that runs nothing.
fn nothing_offloaded(accelerator: &Accelerator) -> Option<Violation> {
    accelerator.offload.is_empty().then(|| Violation {
        code: "guardbit::hw::nothing_offloaded",
        keys: vec![KeyPath::keys(&["offload"])],
        message: "`offload` is empty: everything runs on the host".into(),
        help: "leave `offload` out for the multiply-accumulate operations".into(),
    })
}

fn fixed_bits(register: Register) -> Option<u32> {
    match register {
        Register::Auto => None,
        Register::Fixed { format, .. } => Some(format.bits()),
    }
}
