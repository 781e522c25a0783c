//! Inputs that reach the rails of registers in few products, and random ones.

use std::collections::{BTreeMap, HashSet};

use guardbit_graph::{CodeRange, DType};
use guardbit_hwmodels::{Datapath, Register};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

use super::search::{Search, TestInput};

/// Maximum number of codes of an operand of which every one is used.
const ALL_CODES: i64 = 256;
/// Number of random inputs per length.
const RANDOM_INPUTS: usize = 12;

/// Products of two codes.
struct Products {
    /// A pair of codes per value of a product.
    pairs: BTreeMap<i64, [i32; 2]>,
}

impl Products {
    /// Returns the products of all codes minus zero points: those of activations and weights.
    fn new(search: &Search, zero_points: [i32; 2]) -> Self {
        let layer = &search.layer;
        let activations = codes(layer.activation, layer.activation_zero_point);
        let weights = codes(layer.weight, layer.weight_zero_point);
        let mut pairs = BTreeMap::new();
        for &a in &activations {
            for &w in &weights {
                pairs.entry(i64::from(a - zero_points[0]) * i64::from(w - zero_points[1])).or_insert([a, w]);
            }
        }
        Self { pairs }
    }

    /// Returns the product of greatest magnitude with the sign of `target`.
    fn most(&self, target: i64) -> Option<i64> {
        let end = if target > 0 { self.pairs.last_key_value() } else { self.pairs.first_key_value() };
        end.map(|(&value, _)| value).filter(|value| value.signum() == target.signum())
    }

    /// Returns values of at most `room` products whose sum is `target`, nearly as few as possible, greatest first.
    fn sum(&self, target: i64, room: usize) -> Option<Vec<i64>> {
        if target == 0 {
            return Some(Vec::new());
        }
        let most = self.most(target)?;
        let (full, rest) = (usize::try_from(target / most).ok()?, target % most);
        if full > room {
            return None;
        }
        let mut values = vec![most; full];
        if rest != 0
            && !self.pairs.contains_key(&rest)
            && let Some(pair) = (full > 0).then(|| self.pair(rest + most)).flatten()
        {
            values.pop();
            values.extend(pair);
        } else {
            let mut rest = rest;
            while rest != 0 {
                let next = self.towards(rest)?;
                values.push(next);
                rest -= next;
            }
        }
        (values.len() <= room).then_some(values)
    }

    /// Returns two products with the sum `target`.
    fn pair(&self, target: i64) -> Option<[i64; 2]> {
        let other = |&first: &i64| self.pairs.contains_key(&(target - first));
        self.pairs
            .keys()
            .copied()
            .find(other)
            .map(|first| [first.max(target - first), first.min(target - first)])
    }

    /// Returns the product nearest to `target` between it and 0.
    fn towards(&self, target: i64) -> Option<i64> {
        if target == 0 {
            return None;
        }
        let mut between =
            if target > 0 { self.pairs.range(1..=target) } else { self.pairs.range(target..=-1) };
        let found = if target > 0 { between.next_back() } else { between.next() };
        found.map(|(&value, _)| value)
    }

    /// Returns an input with products of these values.
    fn input(&self, values: &[i64], bias: i64) -> Option<TestInput> {
        let products = values.iter().map(|value| self.pairs.get(value).copied()).collect::<Option<_>>()?;
        Some(TestInput { products, bias: i32::try_from(bias).ok()? })
    }
}

/// Returns the codes of an operand that inputs use: all of them, or of wide types the ends, and distances of powers of
/// two from the zero point.
fn codes(dtype: DType, zero_point: i32) -> Vec<i32> {
    let range = CodeRange::of(dtype);
    let (min, max) = (i64::from(range.min()), i64::from(range.max()));
    if max - min < ALL_CODES {
        return (range.min()..=range.max()).collect();
    }
    let zero = i64::from(zero_point);
    let powers = (0..31).flat_map(|bit| [zero + (1 << bit), zero - (1 << bit)]);
    let ends = [min, min + 1, max - 1, max, zero];
    let mut all: Vec<i64> = powers.chain(ends).filter(|code| (min..=max).contains(code)).collect();
    all.sort_unstable();
    all.dedup();
    all.into_iter().filter_map(|code| i32::try_from(code).ok()).collect()
}

/// Returns inputs for datapaths, those with the fewest products first.
pub(super) fn pool(datapaths: &[&Datapath], search: &Search) -> Vec<TestInput> {
    let zero_points = [search.layer.activation_zero_point, search.layer.weight_zero_point];
    let products = Products::new(search, zero_points);
    let raw = (zero_points != [0, 0]).then(|| Products::new(search, [0, 0]));
    let mut pool = Vec::new();
    for rail in rails(datapaths) {
        at_rail(&products, rail, search, &mut pool);
        // Under `fold`, registers hold sums of raw codes.
        raw.iter().for_each(|raw| at_rail(raw, rail, search, &mut pool));
    }
    small(&products, search, &mut pool);
    at_zero_points(&products, search, &mut pool);
    random(&products, search, &mut pool);
    pool.retain(|input| input.products.len() <= search.layer.terms && fits(input.bias, search.bias_bits));
    // Equal lengths: without a bias first.
    pool.sort_by_key(|input| (input.products.len(), input.bias != 0));
    let mut seen = HashSet::new();
    pool.retain(|input| seen.insert((input.products.clone(), input.bias)));
    pool
}

fn fits(bias: i32, bits: u32) -> bool {
    let half = (1i64 << bits) / 2;
    bias == 0 || (-half..half).contains(&i64::from(bias))
}

/// Returns the values next to the rails of every register, at unit 1: the last that fits, and the first that does not.
fn rails(datapaths: &[&Datapath]) -> Vec<(i64, i64)> {
    let mut all = Vec::new();
    for datapath in datapaths {
        let levels = datapath.levels.iter().enumerate();
        let registers = levels.map(|(index, level)| (level.register, datapath.unit_shift(index)));
        let end = datapath.unit_shift(datapath.levels.len());
        for (register, shift) in
            registers.chain([(datapath.product.register, 0), (datapath.bias.register, end)])
        {
            all.extend(ends(register, shift));
        }
    }
    all.sort_unstable_by_key(|&(inside, outside): &(i64, i64)| (inside.abs(), outside));
    all.dedup();
    all
}

fn ends(register: Register, shift: u32) -> Vec<(i64, i64)> {
    let Some(limits) = register.limits() else { return Vec::new() };
    let unit = 1i128 << shift;
    let high = (limits.max * unit, (limits.max + 1) * unit);
    let low = (limits.min * unit, (limits.min - 1) * unit);
    // Restricted ranges differ from others at the code that they leave out.
    let next = (low.1, low.1 - unit);
    let narrow = |(inside, outside): (i128, i128)| Some((inside.try_into().ok()?, outside.try_into().ok()?));
    [high, low, next].into_iter().filter_map(narrow).collect()
}

/// Adds inputs around one rail, which lies between `inside` and `outside`.
fn at_rail(products: &Products, (inside, outside): (i64, i64), search: &Search, pool: &mut Vec<TestInput>) {
    let room = search.layer.terms;
    let sign = (outside - inside).signum();
    let Some(most) = products.most(sign) else { return };
    let against = products.most(-sign).unwrap_or(0);
    let step = outside - inside;
    let mut add = |parts: &[i64], bias: i64| {
        let mut values = Vec::new();
        for &part in parts {
            match products.sum(part, room - values.len()) {
                Some(more) => values.extend(more),
                None => return,
            }
        }
        pool.extend(products.input(&values, bias));
    };
    // Over the rail in the fewest products.
    let count = usize::try_from(inside / most + 1).ok().filter(|&count| count <= room);
    if let Some(count) = count {
        let over = most * count as i64;
        add(&[over], 0);
        add(&[over, -sign], 0);
        add(&[over, -over], 0);
        add(&[-over, over], 0);
        add(&[over, against], 0);
        add(&[over, -over, -over], 0);
        add(&[over, -over, over], 0);
        add(&[over], -over);
        add(&[-over], over);
    }
    // Next to the rail, on both sides.
    for target in [inside, outside] {
        add(&[target], 0);
        add(&[target, step], 0);
        add(&[target, -step], 0);
        add(&[target, most], 0);
        add(&[target, most, -most], 0);
        add(&[most, target, -most], 0);
        add(&[target, -target], 0);
        add(&[-target, target], 0);
        add(&[target, against, most], 0);
        for bias in [target, target - most, target - step] {
            add(&[], bias);
            add(&[step], bias);
            add(&[-step], bias);
            add(&[most], bias);
            add(&[most, -most], bias);
            add(&[-most, most], bias);
            add(&[step, -3 * step], bias);
            add(&[-step, 2 * step, -step, -step], bias);
        }
        add(&[target], step);
        add(&[target], -step);
        add(&[target], -target);
    }
    // For orders that alternate signs: small products of the other sign between those that reach the rail, and halves of
    // which some remain at the end.
    if let Some(count) = count {
        pool.extend(products.input(&[vec![most; count], vec![-sign; count]].concat(), 0));
        if let Some(half) = products.towards(against / 2) {
            let rest = (2 * most * count as i64 / half).unsigned_abs();
            let rest = usize::try_from(rest).unwrap_or(usize::MAX).min(room);
            pool.extend(products.input(&[vec![most; 2 * count], vec![half; rest]].concat(), 0));
        }
    }
}

/// Adds inputs of one to three small products: they show dropped bits and their rounding.
fn small(products: &Products, search: &Search, pool: &mut Vec<TestInput>) {
    for value in -9..=9 {
        pool.extend(products.input(&[value], 0));
        pool.extend(products.input(&[value, value], 0));
        pool.extend(products.input(&[value, 1, 2], 0));
        pool.extend(products.input(&[], value));
        pool.extend(products.input(&[value], 1));
    }
    for bit in 0..32 {
        for value in [(1i64 << bit) / 2 * 3, -(1i64 << bit) / 2 * 3, (1 << bit) + 1] {
            if let Some(values) = products.sum(value, search.layer.terms) {
                pool.extend(products.input(&values, 0));
            }
        }
    }
}

/// Adds inputs whose products are 0, although their codes are not.
fn at_zero_points(products: &Products, search: &Search, pool: &mut Vec<TestInput>) {
    let layer = &search.layer;
    let [a, w] = [layer.activation, layer.weight].map(CodeRange::of);
    let zeros = [
        [layer.activation_zero_point, w.max()],
        [layer.activation_zero_point, w.min()],
        [a.max(), layer.weight_zero_point],
        [a.min(), layer.weight_zero_point],
    ];
    let ones = [1, -1].into_iter().filter_map(|value| products.pairs.get(&value).copied());
    let ones: Vec<_> = ones.collect();
    let mut length = 1;
    while length <= layer.terms {
        for zero in zeros {
            pool.push(TestInput { products: vec![zero; length], bias: 0 });
            for &one in &ones {
                let mut products = vec![zero; length];
                products[length / 2] = one;
                pool.push(TestInput { products, bias: 0 });
            }
        }
        length = (length * 3).div_ceil(2);
    }
}

/// Adds random inputs of many lengths: of extreme, of any, and of small products.
fn random(products: &Products, search: &Search, pool: &mut Vec<TestInput>) {
    let mut draw = Pcg64Mcg::seed_from_u64(search.seed);
    let values: Vec<[i32; 2]> = products.pairs.values().copied().collect();
    if values.is_empty() {
        return;
    }
    let quarter = (values.len() / 4).max(1);
    let mut length = 2;
    while length <= search.layer.terms {
        for kind in 0..RANDOM_INPUTS {
            let mut product = || {
                let at = (draw.next_u64() % values.len() as u64) as usize;
                match kind % 3 {
                    0 => values[at],
                    1 if at.is_multiple_of(2) => values[at % quarter],
                    1 => values[values.len() - 1 - at % quarter],
                    _ => values[values.len() / 2 - quarter / 2 + at % quarter],
                }
            };
            let products = (0..length).map(|_| product()).collect();
            pool.push(TestInput { products, bias: 0 });
        }
        length = (length * 3).div_ceil(2);
    }
}
