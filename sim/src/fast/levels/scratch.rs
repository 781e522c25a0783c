//! Values of one block at one pixel on their way through the levels, and their results.

use super::super::kernels::{Counts, Extremes, LANES, Lane, Row, Vector, Walked};
use super::super::places::{Bits, Events};
use super::plan::Plan;

/// Results of one level for the dot products of one block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen<V: Lane> {
    pub counts: Counts<V>,
    /// Extremes of all unbounded prefixes and 0, if requested.
    pub prefixes: Extremes<V>,
    /// Extremes of all unbounded final sums and 0.
    pub finals: Extremes<V>,
}

/// Values on their way through the levels, and their results.
#[derive(Debug)]
pub(super) struct Scratch<V: Lane> {
    /// Results of a level, run by run: unbounded, and in the hardware.
    pub unbounded: Vec<Vector<V>>,
    pub narrow: Vec<Vector<V>>,
    /// Number of runs.
    pub runs: usize,
    /// Products of one run.
    pub run_exact: Vec<Vector<V>>,
    pub run_unbounded: Vec<Vector<V>>,
    pub run_narrow: Vec<Vector<V>>,
    pub run_sixteen: Vec<Vector<i16>>,
    /// Exact sums of the innermost runs, with bounds of their prefixes.
    pub bounds: Vec<Walked>,
    /// Whether the hardware's value differs from the unbounded one in some lane.
    pub lost: bool,
    /// Whether some run was stepped.
    pub stepped: bool,
    pub product_events: Vector<V>,
    /// Exact sums at unit 1 without a preloaded bias; only if bits are dropped.
    pub products: Vector<V>,
    pub levels: Vec<Seen<V>>,
    /// Log of events per level, if requested.
    pub logs: Vec<Log>,
}

/// Events of one level by value of the level below: those of the additions that end with it.
#[derive(Debug, Default)]
pub(super) struct Log {
    rows: Vec<Row>,
    asked: bool,
    written: bool,
    /// Number of values of the level below.
    values: usize,
    /// Number of values of a run, if rows are [`Bits`].
    bits: Option<usize>,
}

/// Part of a log that belongs to one run.
pub(super) struct RunLog<'a> {
    log: &'a mut Log,
    first: usize,
    count: usize,
}

impl Log {
    /// Returns the events of the current dot products; no rows if there are none.
    pub fn events(&self) -> Events<'_> {
        match self.bits {
            _ if !self.written => Events::Rows(&[]),
            None => Events::Rows(&self.rows),
            Some(length) => Events::Bits(Bits::new(&self.rows, self.values, length)),
        }
    }

    pub fn clear(&mut self, asked: bool, values: usize) {
        (self.asked, self.written, self.values, self.bits) = (asked, false, values, None);
    }

    /// Returns `rows` rows, all of which must be written: as [`Bits`] of runs of `bits` values, if that is
    /// given. Empty if events are not requested.
    pub fn rows_to_write(&mut self, rows: usize, bits: Option<usize>) -> &mut [Row] {
        if !self.asked {
            return &mut [];
        }
        (self.written, self.bits) = (true, bits);
        self.rows.resize(rows, [0; LANES]);
        &mut self.rows
    }

    /// Returns the part of the values from `first` on.
    pub fn run(&mut self, first: usize, count: usize) -> RunLog<'_> {
        RunLog { log: self, first, count }
    }

    /// Returns one row per value, to be added to; empty if not requested.
    #[inline(always)]
    pub fn all(&mut self) -> &mut [Row] {
        if !self.asked {
            return &mut [];
        }
        if !self.written {
            self.written = true;
            self.rows.clear();
            self.rows.resize(self.values, [0; LANES]);
        }
        &mut self.rows
    }
}

impl RunLog<'_> {
    /// Returns this part of the log once more.
    pub fn again(&mut self) -> RunLog<'_> {
        RunLog { log: self.log, first: self.first, count: self.count }
    }

    /// Returns the rows of the run's values; empty if not requested.
    #[inline(always)]
    pub fn rows(&mut self) -> &mut [Row] {
        match self.log.all() {
            [] => &mut [],
            rows => &mut rows[self.first..self.first + self.count],
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
            runs: 0,
            run_exact: Vec::new(),
            run_unbounded: Vec::new(),
            run_narrow: Vec::new(),
            run_sixteen: Vec::new(),
            bounds: Vec::new(),
            lost: false,
            stepped: false,
            product_events: Vector::ZERO,
            products: Vector::ZERO,
            levels: vec![Seen::NONE; plan.levels.len()],
            logs: plan.levels.iter().map(|_| Log::default()).collect(),
        }
    }

    /// Clears all results.
    pub fn clear(&mut self) {
        self.lost = false;
        self.stepped = false;
        self.product_events = Vector::ZERO;
        self.products = Vector::ZERO;
        self.levels.fill(Seen::NONE);
        self.logs.iter_mut().for_each(|log| log.clear(false, 0));
    }

    /// Makes room for the results of `runs` runs.
    pub fn resize(&mut self, runs: usize) {
        self.runs = runs;
        if self.unbounded.len() < runs {
            self.unbounded.resize(runs, Vector::ZERO);
            self.narrow.resize(runs, Vector::ZERO);
        }
    }

    /// Returns whether the hardware's value differs from the unbounded one in some lane.
    #[inline(always)]
    pub fn differs(&self) -> bool {
        let mut any = V::ZERO;
        for (unbounded, narrow) in self.unbounded[..self.runs].iter().zip(&self.narrow) {
            for l in 0..LANES {
                any = any.or(V::mask(unbounded[l] != narrow[l]));
            }
        }
        any != V::ZERO
    }

    /// Returns whether a level overflowed in a lane.
    pub fn touched(&self, lane: usize) -> bool {
        let of_level = |seen: &Seen<V>| seen.counts.high[lane].or(seen.counts.low[lane]) != V::ZERO;
        self.stepped && self.levels.iter().any(of_level)
    }

    /// Returns whether a product or, as `biased` says, the bias did not fit in a lane.
    pub fn narrowed(&self, lane: usize, biased: &[bool; LANES]) -> bool {
        biased[lane] || self.product_events[lane] != V::ZERO
    }

    /// Sets the results of dot products whose sums no level can overflow.
    pub fn settle(&mut self, exact: &[i32; LANES]) {
        self.clear();
        let mut sums = Vector::ZERO;
        sums.iter_mut().zip(exact).for_each(|(sum, &exact)| *sum = V::low_bits(exact.into()));
        self.resize(1);
        (self.unbounded[0], self.narrow[0]) = (sums, sums);
    }

    /// Returns the sums that the last level delivered.
    pub fn delivered(&self) -> &Vector<V> {
        &self.narrow[0]
    }

    /// Returns the sums of the last level with unlimited widths.
    pub fn unbounded(&self) -> &Vector<V> {
        &self.unbounded[0]
    }
}
