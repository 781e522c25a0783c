//! The loops over lanes: from operands to what the last level delivers.
//!
//! Control flow is the same for all lanes: runs are fixed. Beside every narrow value travels its counterpart with
//! unlimited widths. A run whose counterpart fits, and into which nothing wrong came, is not stepped.

use guardbit_hwmodels::{Check, Reduce};

use super::super::kernels::{Activations, LANES, Row};
use super::super::simd::Vectorized;
use super::lane::{
    Counts, Lane, Mode, OBSERVE, Rails, SATURATE, STICKY, Vector, WRAP, ZERO, add, fit, shift_right,
    with_mode,
};
use super::plan::{Plan, Stage, Start};

/// What one level did in the dot products of one block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen<V> {
    pub counts: Counts<V>,
    /// Of all unbounded prefixes and 0; only where they are asked for.
    pub prefixes: Extremes<V>,
    /// Of all unbounded final sums and 0.
    pub finals: Extremes<V>,
}

/// Least and greatest of 0 and some values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extremes<V> {
    pub min: Vector<V>,
    pub max: Vector<V>,
}

/// Values on their way through the levels, and what became of them.
#[derive(Debug)]
pub(super) struct Scratch<V> {
    /// Results of a level, run by run: unbounded, and in the hardware.
    unbounded: Vec<Vector<V>>,
    narrow: Vec<Vector<V>>,
    /// One run of products.
    run_unbounded: Vec<Vector<V>>,
    run_narrow: Vec<Vector<V>>,
    run_sixteen: Vec<Row>,
    /// Whether some lane's hardware holds another value than the counterpart.
    lost: bool,
    /// Whether some run was stepped.
    pub stepped: bool,
    pub product_events: Vector<V>,
    /// The exact sums at unit 1, a preloaded bias not included; only where bits are dropped.
    pub products: Vector<V>,
    pub levels: Vec<Seen<V>>,
    /// Per level, where its events happened; only where that is asked for.
    pub logs: Vec<Log>,
}

/// Events of one level, value by value of the level below: those of the additions that end with it.
#[derive(Debug, Default)]
pub(super) struct Log {
    rows: Vec<Row>,
    asked: bool,
    written: bool,
    /// Values of the level below.
    values: usize,
}

/// The part of a log that belongs to one run.
struct RunLog<'a> {
    log: &'a mut Log,
    first: usize,
    count: usize,
}

impl Log {
    /// The events of the dot products at hand; empty if there are none.
    pub fn rows(&self) -> &[Row] {
        if self.written { &self.rows } else { &[] }
    }

    fn clear(&mut self, asked: bool, values: usize) {
        (self.asked, self.written, self.values) = (asked, false, values);
    }

    fn run(&mut self, first: usize, count: usize) -> RunLog<'_> {
        RunLog { log: self, first, count }
    }
}

impl RunLog<'_> {
    /// One row per value, to be added to; none if nobody asks.
    #[inline(always)]
    fn rows(&mut self) -> &mut [Row] {
        if !self.log.asked {
            return &mut [];
        }
        if !self.log.written {
            self.log.written = true;
            self.log.rows.clear();
            self.log.rows.resize(self.log.values, [0; LANES]);
        }
        &mut self.log.rows[self.first..self.first + self.count]
    }
}

impl<V: Lane> Extremes<V> {
    pub const ZERO: Self = Self { min: [V::ZERO; LANES], max: [V::ZERO; LANES] };

    #[inline(always)]
    fn take(&mut self, value: &Vector<V>) {
        for l in 0..LANES {
            self.min[l] = self.min[l].min(value[l]);
            self.max[l] = self.max[l].max(value[l]);
        }
    }
}

impl<V: Lane> Seen<V> {
    const NONE: Self = Self { counts: Counts::NONE, prefixes: Extremes::ZERO, finals: Extremes::ZERO };
}

impl<V: Lane> Scratch<V> {
    pub fn new(plan: &Plan<V>) -> Self {
        Self {
            unbounded: Vec::new(),
            narrow: Vec::new(),
            run_unbounded: Vec::new(),
            run_narrow: Vec::new(),
            run_sixteen: Vec::new(),
            lost: false,
            stepped: false,
            product_events: [V::ZERO; LANES],
            products: [V::ZERO; LANES],
            levels: vec![Seen::NONE; plan.levels.len()],
            logs: plan.levels.iter().map(|_| Log::default()).collect(),
        }
    }

    fn clear(&mut self) {
        self.unbounded.clear();
        self.narrow.clear();
        self.lost = false;
        self.stepped = false;
        self.product_events = [V::ZERO; LANES];
        self.products = [V::ZERO; LANES];
        self.levels.fill(Seen::NONE);
        self.logs.iter_mut().for_each(|log| log.clear(false, 0));
    }

    /// As after a dot product whose sums no level can overflow.
    pub fn settle(&mut self, exact: &[i32; LANES]) {
        self.clear();
        let mut sums = [V::ZERO; LANES];
        sums.iter_mut().zip(exact).for_each(|(sum, &exact)| *sum = V::low_bits(exact.into()));
        self.unbounded.push(sums);
        self.narrow.push(sums);
    }

    /// What the last level delivered.
    pub fn delivered(&self) -> &Vector<V> {
        &self.narrow[0]
    }

    /// The same with unlimited widths.
    pub fn unbounded(&self) -> &Vector<V> {
        &self.unbounded[0]
    }
}

/// What the stages of one block have in common.
#[derive(Debug, Clone, Copy)]
pub(super) struct Work<'a, V> {
    pub plan: &'a Plan<V>,
    pub start: &'a Start<V>,
    /// First stages that cannot overflow: the product, then each level.
    pub certain: usize,
    /// Whether extremes of prefixes are asked for.
    pub full: bool,
}

impl<'a, V: Lane> Work<'a, V> {
    fn level(&self, index: usize, scratch_lost: bool) -> Reducer<'a, V> {
        let stage = &self.plan.levels[index];
        let is_last = index + 1 == self.plan.levels.len();
        Reducer {
            stage,
            rails: stage.rails.as_ref().filter(|_| index + 1 >= self.certain),
            start: is_last.then_some(self.start),
            full: self.full,
            lost: scratch_lost,
        }
    }
}

/// Products and the innermost level: leaves its results in the scratch.
pub(super) struct Inner<'a, X, V> {
    pub work: Work<'a, V>,
    pub x: X,
    pub weights: &'a [Row],
    pub scratch: &'a mut Scratch<V>,
}

/// The exact sums alone.
pub(super) struct Exact<'a, X, V> {
    pub x: X,
    pub weights: &'a [Row],
    pub sums: &'a mut Vector<V>,
}

/// The levels above the innermost one.
pub(super) struct Outer<'a, V> {
    pub work: Work<'a, V>,
    pub scratch: &'a mut Scratch<V>,
}

impl<X: Activations, V: Lane> Vectorized for Inner<'_, X, V> {
    #[inline(always)]
    fn run(self) {
        let Self { work, x, weights, scratch } = self;
        scratch.clear();
        let plan = work.plan;
        let product_rails = plan.product.rails.as_ref().filter(|_| work.certain == 0);
        let plain = product_rails.is_none() && plan.product.shift == 0;
        let mut level = work.level(0, product_rails.is_some());
        // Values that need 64 bits come from products beyond 16.
        let sixteen = plan.sixteen.as_ref().filter(|_| V::BITS == 32 && level.rails.is_some());
        let length = level.stage.terms.run_length(weights.len());
        let mut counts = Counts::<i16>::NONE;
        scratch.logs[0].clear(work.full, weights.len());
        let x = x.first(weights.len());
        for begin in (0..weights.len()).step_by(length) {
            let run = Products { x, weights, begin, end: weights.len().min(begin + length) };
            let count = run.end - run.begin;
            let seen = &mut scratch.levels[0];
            let short = plain && level.stage.reduce == Reduce::Tree && sixteen.is_none();
            let certified = if short { level.tree_sum(run) } else { None };
            let (unbounded, narrow) = match (sixteen, level.stage.reduce) {
                (Some(rails), Reduce::Serial) => {
                    scratch.stepped = true;
                    serial_sixteen(
                        rails,
                        run,
                        work.full,
                        seen,
                        &mut counts,
                        scratch.logs[0].run(begin, count),
                    )
                }
                (Some(rails), Reduce::Tree) => {
                    scratch.stepped = true;
                    let buffers = (&mut scratch.run_sixteen, &mut scratch.run_unbounded);
                    let log = scratch.logs[0].run(begin, count);
                    tree_sixteen(rails, run, work.full, seen, &mut counts, buffers, log)
                }
                (None, Reduce::Serial) if plain => {
                    let log = scratch.logs[0].run(begin, count);
                    level.serial(run, run, seen, &mut scratch.stepped, log)
                }
                (None, _) => match certified {
                    Some(sum) => (sum, sum),
                    None => {
                        run.fill(work, product_rails, scratch);
                        level.lost = product_rails.is_some();
                        let seen = &mut scratch.levels[0];
                        let unbounded = &mut scratch.run_unbounded[..];
                        let log = scratch.logs[0].run(begin, count);
                        level.run(unbounded, &mut scratch.run_narrow, seen, &mut scratch.stepped, log)
                    }
                },
            };
            if plan.drops_bits && plan.product.shift == 0 {
                let start = level.start.map_or([V::ZERO; LANES], |start| start.unbounded);
                for l in 0..LANES {
                    scratch.products[l] = scratch.products[l].plus(unbounded[l]).minus(start[l]);
                }
            }
            let seen = &mut scratch.levels[0];
            let log = scratch.logs[0].run(begin, count);
            let (unbounded, narrow) = level.leave(unbounded, narrow, seen, &mut scratch.stepped, log);
            scratch.lost |= unbounded != narrow;
            scratch.unbounded.push(unbounded);
            scratch.narrow.push(narrow);
        }
        let seen = &mut scratch.levels[0].counts;
        for l in 0..LANES {
            seen.high[l] = seen.high[l].plus(V::of_product(counts.high[l]));
            seen.low[l] = seen.low[l].plus(V::of_product(counts.low[l]));
        }
    }
}

impl<X: Activations, V: Lane> Vectorized for Exact<'_, X, V> {
    #[inline(always)]
    fn run(self) {
        let Self { x, weights, sums } = self;
        let products = Products { x: x.first(weights.len()), weights, begin: 0, end: weights.len() };
        *sums = add_up(products, [V::ZERO; LANES]);
    }
}

impl<V: Lane> Vectorized for Outer<'_, V> {
    #[inline(always)]
    fn run(self) {
        let Self { work, scratch } = self;
        for index in 1..work.plan.levels.len() {
            let level = work.level(index, scratch.lost);
            let seen = &mut scratch.levels[index];
            let values = scratch.unbounded.len();
            let length = level.stage.terms.run_length(values);
            let log = &mut scratch.logs[index];
            log.clear(work.full, values);
            let mut runs = 0;
            for begin in (0..values).step_by(length) {
                let run = begin..values.min(begin + length);
                let count = run.len();
                let (unbounded, narrow) = (&mut scratch.unbounded[run.clone()], &mut scratch.narrow[run]);
                let stepped = &mut scratch.stepped;
                let (unbounded, narrow) = level.run(unbounded, narrow, seen, stepped, log.run(begin, count));
                let (unbounded, narrow) =
                    level.leave(unbounded, narrow, seen, stepped, log.run(begin, count));
                scratch.lost |= unbounded != narrow;
                scratch.unbounded[runs] = unbounded;
                scratch.narrow[runs] = narrow;
                runs += 1;
            }
            scratch.unbounded.truncate(runs);
            scratch.narrow.truncate(runs);
        }
    }
}

/// Values that are reduced one after the other.
trait Values<V>: Copy {
    fn count(self) -> usize;
    fn at(self, i: usize) -> Vector<V>;
}

/// The products of one run.
#[derive(Clone, Copy)]
struct Products<'a, X> {
    x: X,
    weights: &'a [Row],
    begin: usize,
    end: usize,
}

impl<X: Activations, V: Lane> Values<V> for Products<'_, X> {
    #[inline(always)]
    fn count(self) -> usize {
        self.end - self.begin
    }

    #[inline(always)]
    fn at(self, i: usize) -> Vector<V> {
        let a = self.x.lanes(self.begin + i);
        let w = &self.weights[self.begin + i];
        let mut products = [V::ZERO; LANES];
        for l in 0..LANES {
            products[l] = V::product(a[l], w[l]);
        }
        products
    }
}

impl<V: Lane> Values<V> for &[Vector<V>] {
    #[inline(always)]
    fn count(self) -> usize {
        self.len()
    }

    #[inline(always)]
    fn at(self, i: usize) -> Vector<V> {
        self[i]
    }
}

impl<X: Activations> Products<'_, X> {
    /// Fits and shifts the products of the run into the scratch; adds up the exact ones where bits of theirs are
    /// dropped.
    #[inline(always)]
    fn fill<V: Lane>(self, work: Work<'_, V>, rails: Option<&Rails<V>>, scratch: &mut Scratch<V>) {
        let product = &work.plan.product;
        let count = Values::<V>::count(self);
        scratch.run_unbounded.resize(count, [V::ZERO; LANES]);
        scratch.run_narrow.resize(count, [V::ZERO; LANES]);
        let mut counts = Counts::NONE;
        for i in 0..count {
            let i = step_index(i);
            let exact: Vector<V> = self.at(i);
            if product.shift > 0 {
                for l in 0..LANES {
                    scratch.products[l] = scratch.products[l].plus(exact[l]);
                }
            }
            scratch.run_unbounded[i] = shift_right(&exact, product.shift, product.round);
            if let Some(rails) = rails {
                let (fitted, _) = fit(rails, &exact, &mut counts);
                scratch.run_narrow[i] = shift_right(&fitted, product.shift, product.round);
            }
        }
        for l in 0..LANES {
            scratch.product_events[l] = scratch.product_events[l].plus(counts.high[l]).plus(counts.low[l]);
        }
    }
}

/// One level at work.
#[derive(Clone, Copy)]
struct Reducer<'a, V> {
    stage: &'a Stage<V>,
    /// `None` if nothing that arrives can overflow.
    rails: Option<&'a Rails<V>>,
    start: Option<&'a Start<V>>,
    full: bool,
    /// Whether the narrow values may be others than the unbounded ones.
    lost: bool,
}

impl<V: Lane> Reducer<'_, V> {
    /// Reduces one run; overwrites its values. Gives the unbounded and the narrow result. The narrow values are
    /// read only where something is lost.
    #[inline(always)]
    fn run(
        self,
        unbounded: &mut [Vector<V>],
        narrow: &mut [Vector<V>],
        seen: &mut Seen<V>,
        stepped: &mut bool,
        log: RunLog<'_>,
    ) -> (Vector<V>, Vector<V>) {
        match self.stage.reduce {
            Reduce::Serial => {
                let narrow = if self.lost { &*narrow } else { &*unbounded };
                self.serial(&*unbounded, narrow, seen, stepped, log)
            }
            Reduce::Tree => self.tree(unbounded, narrow, seen, stepped, log),
        }
    }

    /// The rails, if every addition is checked against them.
    #[inline(always)]
    fn at_each_add(&self) -> Option<&Rails<V>> {
        self.rails.filter(|_| self.stage.check == Check::EachAdd)
    }

    #[inline(always)]
    fn serial(
        self,
        unbounded: impl Values<V>,
        narrow: impl Values<V>,
        seen: &mut Seen<V>,
        stepped: &mut bool,
        mut log: RunLog<'_>,
    ) -> (Vector<V>, Vector<V>) {
        let zero = Start::ZERO;
        let start = self.start.unwrap_or(&zero);
        let rails = self.at_each_add();
        let wants_prefixes = self.full && self.stage.check == Check::EachAdd;
        let mut prefixes = Extremes::ZERO;
        prefixes.take(&start.unbounded);
        let sum = if wants_prefixes || rails.is_some() {
            walk(unbounded, start.unbounded, &mut prefixes)
        } else {
            add_up(unbounded, start.unbounded)
        };
        if wants_prefixes {
            seen.prefixes.take(&prefixes.min);
            seen.prefixes.take(&prefixes.max);
        }
        let held = match rails {
            Some(rails) if self.lost || !rails.keep(&prefixes.min, &prefixes.max) => {
                *stepped = true;
                with_mode!(rails.mode, step::<V, _>(rails, narrow, start, &mut seen.counts, log.rows()))
            }
            None if self.lost => add_up(narrow, start.held),
            _ => sum,
        };
        (sum, held)
    }

    #[inline(always)]
    fn tree(
        self,
        unbounded: &mut [Vector<V>],
        narrow: &mut [Vector<V>],
        seen: &mut Seen<V>,
        stepped: &mut bool,
        mut log: RunLog<'_>,
    ) -> (Vector<V>, Vector<V>) {
        let rails = self.at_each_add();
        let wants_prefixes = self.full && self.stage.check == Check::EachAdd;
        let held = match rails {
            Some(rails) if self.lost || !self.keeps(rails, &*unbounded) => {
                if !self.lost {
                    narrow.copy_from_slice(unbounded);
                }
                *stepped = true;
                Some(with_mode!(rails.mode, tree::<V>(rails, narrow, &mut seen.counts, log.rows())))
            }
            None if self.lost => Some(add_up(&*narrow, [V::ZERO; LANES])),
            _ => None,
        };
        let sum = if wants_prefixes {
            tree_extremes(unbounded, &mut seen.prefixes)
        } else {
            add_up(&*unbounded, [V::ZERO; LANES])
        };
        (sum, held.unwrap_or(sum))
    }

    /// Whether no node of a tree overflows.
    #[inline(always)]
    fn keeps(self, rails: &Rails<V>, values: impl Values<V>) -> bool {
        let bounds = bounds(values);
        rails.keep(&bounds.min, &bounds.max)
    }

    /// The sum of a run of a tree whose nodes do not overflow, where nobody asks for their values.
    #[inline(always)]
    fn tree_sum(self, values: impl Values<V>) -> Option<Vector<V>> {
        if self.full && self.stage.check == Check::EachAdd {
            return None;
        }
        let Some(rails) = self.at_each_add() else { return Some(add_up(values, [V::ZERO; LANES])) };
        let bounds = bounds(values);
        let mut sum = [V::ZERO; LANES];
        for l in 0..LANES {
            sum[l] = bounds.min[l].plus(bounds.max[l]);
        }
        rails.keep(&bounds.min, &bounds.max).then_some(sum)
    }

    /// The end of a run: its final sum, the fit where overflow is checked at the hand-over, the shift.
    #[inline(always)]
    fn leave(
        self,
        unbounded: Vector<V>,
        narrow: Vector<V>,
        seen: &mut Seen<V>,
        stepped: &mut bool,
        mut log: RunLog<'_>,
    ) -> (Vector<V>, Vector<V>) {
        seen.finals.take(&unbounded);
        if self.full {
            seen.prefixes.take(&unbounded);
        }
        let mut narrow = narrow;
        if let Some(rails) = self.rails.filter(|_| self.stage.check == Check::HandOver)
            && !rails.keep(&narrow, &narrow)
        {
            *stepped = true;
            let misfit;
            (narrow, misfit) = fit(rails, &narrow, &mut seen.counts);
            if let Some(row) = log.rows().last_mut() {
                note(row, &misfit);
            }
        }
        let shift = |value: &Vector<V>| shift_right(value, self.stage.shift, self.stage.round);
        (shift(&unbounded), shift(&narrow))
    }
}

/// `i`, of which the compiler knows nothing: it shall make vectors of the lanes of one step, not of several steps.
#[inline(always)]
fn step_index(i: usize) -> usize {
    std::hint::black_box(i)
}

/// The exact sum.
#[inline(always)]
fn add_up<V: Lane>(values: impl Values<V>, start: Vector<V>) -> Vector<V> {
    let mut sum = start;
    for i in 0..values.count() {
        let value = values.at(step_index(i));
        for l in 0..LANES {
            sum[l] = sum[l].plus(value[l]);
        }
    }
    sum
}

/// Sums of what is negative and of what is positive: every prefix in any order, and every node of any tree, lies
/// between the two.
#[inline(always)]
fn bounds<V: Lane>(values: impl Values<V>) -> Extremes<V> {
    let mut sums = Extremes::<V>::ZERO;
    for i in 0..values.count() {
        let value = values.at(step_index(i));
        for l in 0..LANES {
            sums.max[l] = sums.max[l].plus(value[l].max(V::ZERO));
            sums.min[l] = sums.min[l].plus(value[l].min(V::ZERO));
        }
    }
    sums
}

/// The exact sum and the extremes of its prefixes.
#[inline(always)]
fn walk<V: Lane>(values: impl Values<V>, start: Vector<V>, prefixes: &mut Extremes<V>) -> Vector<V> {
    let mut sum = start;
    let mut extremes = *prefixes;
    for i in 0..values.count() {
        let value = values.at(i);
        for l in 0..LANES {
            sum[l] = sum[l].plus(value[l]);
            extremes.min[l] = extremes.min[l].min(sum[l]);
            extremes.max[l] = extremes.max[l].max(sum[l]);
        }
    }
    *prefixes = extremes;
    sum
}

/// Adds overflows to a row of a log.
#[inline(always)]
fn note<V: Lane>(row: &mut Row, misfit: &Vector<V>) {
    for l in 0..LANES {
        row[l] = row[l].wrapping_sub(misfit[l].short());
    }
}

/// The narrow register, addition by addition.
#[inline(always)]
fn step<V: Lane, S: Values<V>, const MODE: u8>(
    rails: &Rails<V>,
    values: S,
    start: &Start<V>,
    counts: &mut Counts<V>,
    log: &mut [Row],
) -> Vector<V> {
    match log {
        [] => step_logged::<V, S, MODE, false>(rails, values, start, counts, log),
        log => step_logged::<V, S, MODE, true>(rails, values, start, counts, log),
    }
}

#[inline(always)]
fn step_logged<V: Lane, S: Values<V>, const MODE: u8, const LOG: bool>(
    rails: &Rails<V>,
    values: S,
    start: &Start<V>,
    counts: &mut Counts<V>,
    log: &mut [Row],
) -> Vector<V> {
    let (mut held, mut free, mut counted) = (start.held, start.free, *counts);
    for i in 0..values.count() {
        let misfit;
        (held, misfit) = add::<V, MODE>(rails, &held, &values.at(i), &mut free, &mut counted);
        if LOG {
            note(&mut log[i], &misfit);
        }
    }
    *counts = counted;
    held
}

/// The nodes of a tree, round by round.
#[inline(always)]
fn tree<V: Lane, const MODE: u8>(
    rails: &Rails<V>,
    values: &mut [Vector<V>],
    counts: &mut Counts<V>,
    log: &mut [Row],
) -> Vector<V> {
    match log {
        [] => tree_logged::<V, MODE, false>(rails, values, counts, log),
        log => tree_logged::<V, MODE, true>(rails, values, counts, log),
    }
}

#[inline(always)]
fn tree_logged<V: Lane, const MODE: u8, const LOG: bool>(
    rails: &Rails<V>,
    values: &mut [Vector<V>],
    counts: &mut Counts<V>,
    log: &mut [Row],
) -> Vector<V> {
    let mut counted = *counts;
    let held = rounds(values, |left, right, last| {
        // Nothing is remembered from one node to the next.
        let (node, misfit) = add::<V, MODE>(rails, left, right, &mut [V::ONES; LANES], &mut counted);
        if LOG {
            note(&mut log[last], &misfit);
        }
        node
    });
    *counts = counted;
    held
}

#[inline(always)]
fn tree_extremes<V: Lane>(values: &mut [Vector<V>], prefixes: &mut Extremes<V>) -> Vector<V> {
    let mut extremes = *prefixes;
    let sum = rounds(values, |left, right, _| {
        let mut node = [V::ZERO; LANES];
        for l in 0..LANES {
            node[l] = left[l].plus(right[l]);
        }
        extremes.take(&node);
        node
    });
    *prefixes = extremes;
    sum
}

/// Adjacent pairs, round after round; an odd last value passes up unchanged. `node` also gets the index of the last
/// value that it contains.
#[inline(always)]
fn rounds<V: Lane>(
    values: &mut [Vector<V>],
    mut node: impl FnMut(&Vector<V>, &Vector<V>, usize) -> Vector<V>,
) -> Vector<V> {
    let mut left = values.len();
    // Values in one value of this round.
    let mut width = 1;
    while left > 1 {
        let pairs = left / 2;
        for pair in 0..pairs {
            let pair = step_index(pair);
            let last = ((2 * pair + 2) * width).min(values.len()) - 1;
            values[pair] = node(&values[2 * pair], &values[2 * pair + 1], last);
        }
        if left % 2 == 1 {
            values[pairs] = values[2 * pairs];
        }
        left = left.div_ceil(2);
        width *= 2;
    }
    values[0]
}

#[inline(always)]
fn widen<V: Lane>(row: &Row) -> Vector<V> {
    let mut wide = [V::ZERO; LANES];
    for l in 0..LANES {
        wide[l] = V::of_product(row[l]);
    }
    wide
}

/// A run of a serial level on 16-bit lanes, its counterpart on wider ones.
#[inline(always)]
fn serial_sixteen<X: Activations, V: Lane>(
    rails: &Rails<i16>,
    run: Products<'_, X>,
    full: bool,
    seen: &mut Seen<V>,
    counts: &mut Counts<i16>,
    mut log: RunLog<'_>,
) -> (Vector<V>, Vector<V>) {
    if full {
        with_mode!(rails.mode, serial_sixteen_full::<X, V>(rails, run, seen, counts, log.rows()))
    } else {
        with_mode!(rails.mode, serial_sixteen_events::<X, V>(rails, run, counts))
    }
}

#[inline(always)]
fn serial_sixteen_events<X: Activations, V: Lane, const MODE: u8>(
    rails: &Rails<i16>,
    run: Products<'_, X>,
    counts: &mut Counts<i16>,
) -> (Vector<V>, Vector<V>) {
    let (mut held, mut free, mut counted) = ([0; LANES], [-1; LANES], *counts);
    let mut sum = [V::ZERO; LANES];
    for i in 0..run.end - run.begin {
        let product: Row = run.at(i);
        (held, _) = add::<i16, MODE>(rails, &held, &product, &mut free, &mut counted);
        for l in 0..LANES {
            sum[l] = sum[l].plus(V::of_product(product[l]));
        }
    }
    *counts = counted;
    (sum, widen(&held))
}

#[inline(always)]
fn serial_sixteen_full<X: Activations, V: Lane, const MODE: u8>(
    rails: &Rails<i16>,
    run: Products<'_, X>,
    seen: &mut Seen<V>,
    counts: &mut Counts<i16>,
    log: &mut [Row],
) -> (Vector<V>, Vector<V>) {
    let (mut held, mut free, mut counted) = ([0; LANES], [-1; LANES], *counts);
    let mut sum = [V::ZERO; LANES];
    let mut extremes = seen.prefixes;
    for i in 0..run.end - run.begin {
        let product: Row = run.at(i);
        let misfit;
        (held, misfit) = add::<i16, MODE>(rails, &held, &product, &mut free, &mut counted);
        note(&mut log[i], &misfit);
        for l in 0..LANES {
            sum[l] = sum[l].plus(V::of_product(product[l]));
            extremes.min[l] = extremes.min[l].min(sum[l]);
            extremes.max[l] = extremes.max[l].max(sum[l]);
        }
    }
    seen.prefixes = extremes;
    *counts = counted;
    (sum, widen(&held))
}

/// A run of a tree on 16-bit lanes, its counterpart on wider ones.
#[inline(always)]
fn tree_sixteen<X: Activations, V: Lane>(
    rails: &Rails<i16>,
    run: Products<'_, X>,
    full: bool,
    seen: &mut Seen<V>,
    counts: &mut Counts<i16>,
    (narrow, unbounded): (&mut Vec<Row>, &mut Vec<Vector<V>>),
    mut log: RunLog<'_>,
) -> (Vector<V>, Vector<V>) {
    let count = run.end - run.begin;
    narrow.resize(count, [0; LANES]);
    let mut sum = [V::ZERO; LANES];
    for i in 0..count {
        let i = step_index(i);
        let product: Row = run.at(i);
        narrow[i] = product;
        for l in 0..LANES {
            sum[l] = sum[l].plus(V::of_product(product[l]));
        }
    }
    if full {
        unbounded.clear();
        for row in &*narrow {
            unbounded.push(widen(row));
        }
        tree_extremes(unbounded, &mut seen.prefixes);
    }
    // A lone value is not a node.
    let held = with_mode!(rails.mode, tree::<i16>(rails, narrow, counts, log.rows()));
    (sum, widen(&held))
}
