//! Trees of an innermost level: one body for AVX2, one window per vector, and AVX-512, two windows per lane.
//! Nodes are computed as soon as both values are available, so that few values must be held. They are the
//! nodes of the hardware's rounds, in another order.

use super::super::kernels::{NOTED, PAIR_TREE};

/// Number of leaves of a subtree whose nodes are computed without a loop; most trees have this size. Also the
/// number of leaves after which exact sums must be flushed.
pub(super) const UNROLLED: usize = NOTED;

/// Number of subtrees of each power of two leaves, up to the greatest tree.
pub(super) const LEVELS: usize = PAIR_TREE.ilog2() as usize + 1;

/// Defines `reduce` on instructions `$features`; `$one` is 1 in lanes of 16 bits. In scope must be
/// [`UNROLLED`], [`LEVELS`], what `exact_sums` defines and needs, and:
///
/// - `Window` and `Weights`, whose `product` is a register of 16-bit lanes;
/// - `count`, which returns a tree's counters after a node, and the lanes that overflow;
/// - `note`, which adds 1 in these lanes;
/// - `by_side`, which returns the overflows above and below from a tree's counters;
/// - `log`, which moves the overflows by product to the log.
#[cfg(target_arch = "x86_64")]
macro_rules! trees {
    ($features:literal, $one:expr) => {
        /// Reduces all trees of `length` products; the last one has the remaining products. Both rails lie
        /// within 16 bits. Computes what `out` has room for.
        #[inline]
        #[target_feature(enable = $features)]
        fn reduce<const WRAPS: bool, const OWN: bool>(
            (window, weights): (Window<'_, OWN>, &[Weights]),
            rails: Rails,
            length: usize,
            out: &mut [RunsOut<'_>; WINDOWS],
        ) {
            match (out[0].prefixes.is_some(), out[0].log.is_empty()) {
                (false, _) => Tree::<WRAPS, OWN, false, false>::new(window, weights, rails).run(length, out),
                (true, true) => Tree::<WRAPS, OWN, true, false>::new(window, weights, rails).run(length, out),
                (true, false) => Tree::<WRAPS, OWN, true, true>::new(window, weights, rails).run(length, out),
            }
        }

        /// Value of the hardware, and the exact one if `FULL`.
        type Value = (Register, [Register; 2]);

        /// Reduces one tree after the other. `FULL` requests extremes of exact nodes, `LOG` overflows by
        /// product.
        struct Tree<'r, const WRAPS: bool, const OWN: bool, const FULL: bool, const LOG: bool> {
            window: Window<'r, OWN>,
            weights: &'r [Weights],
            /// First product.
            begin: usize,
            least: Register,
            most: Register,
            /// The constant 1.
            one: Register,
            finals: Finals,
            extremes: Extremes,
            /// Overflows of a tree, in one byte each.
            counts: Register,
            /// Overflows above and below.
            totals: [Register; 2],
            /// Overflows, per product, of the nodes that end with it.
            noted: [Register; PAIR_TREE],
        }

        impl<'r, const WRAPS: bool, const OWN: bool, const FULL: bool, const LOG: bool>
            Tree<'r, WRAPS, OWN, FULL, LOG>
        {
            #[inline]
            #[target_feature(enable = $features)]
            fn new(window: Window<'r, OWN>, weights: &'r [Weights], rails: Rails) -> Self {
                let [least, most] = [rails.low, rails.high].map(|rail| set_16(rail as i16));
                Self {
                    window,
                    weights,
                    begin: 0,
                    least,
                    most,
                    one: $one,
                    finals: Finals::new(),
                    extremes: Extremes::new(),
                    counts: zero(),
                    totals: [zero(); 2],
                    noted: [zero(); PAIR_TREE],
                }
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn run(mut self, length: usize, out: &mut [RunsOut<'_>; WINDOWS]) {
                let steps = self.weights.len();
                for (run, begin) in (0..steps).step_by(length).enumerate() {
                    let count = length.min(steps - begin);
                    self.begin = begin;
                    let (held, mut exact) = self.tree(count);
                    if !FULL {
                        exact = self.finals.end();
                    }
                    store_run(run, widen(held), exact, out);
                    if LOG {
                        log(&mut self.noted[..count], begin, out);
                    }
                    const { assert!(PAIR_TREE <= 256, "a byte counts the nodes of a tree") };
                    let counts = by_side(std::mem::replace(&mut self.counts, zero()));
                    self.totals = [0, 1].map(|side| add_16(self.totals[side], counts[side]));
                }
                self.extremes.store(out);
                store_counts(self.totals, out);
            }

            /// Returns the tree of the next `count` products: subtrees of powers of two, which are then
            /// combined from the last to the first.
            #[inline]
            #[target_feature(enable = $features)]
            fn tree(&mut self, count: usize) -> Value {
                if count == UNROLLED {
                    return self.unrolled(0);
                }
                let nothing = (zero(), [zero(); 2]);
                let mut waiting = [nothing; LEVELS];
                let mut done = 0;
                while done < count {
                    let (mut value, mut level) = match count - done >= UNROLLED {
                        true => (self.unrolled(done), UNROLLED.ilog2() as usize),
                        false => (self.leaf(done), 0),
                    };
                    let next = done + (1 << level);
                    while next & (1 << level) == 0 {
                        value = self.node(waiting[level], value, next - 1);
                        level += 1;
                    }
                    waiting[level] = value;
                    done = next;
                }
                self.flush();
                let mut left = (0..LEVELS).filter(|level| count & (1 << level) != 0);
                let first = left.next().map_or(nothing, |level| waiting[level]);
                left.fold(first, |value, level| self.node(waiting[level], value, count - 1))
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn unrolled(&mut self, first: usize) -> Value {
                const { assert!(UNROLLED == 16) };
                let left = self.eight(first);
                let right = self.eight(first + 8);
                self.flush();
                self.node(left, right, first + 15)
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn eight(&mut self, first: usize) -> Value {
                let left = self.four(first);
                let right = self.four(first + 4);
                self.node(left, right, first + 7)
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn four(&mut self, first: usize) -> Value {
                let left = self.two(first);
                let right = self.two(first + 2);
                self.node(left, right, first + 3)
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn two(&mut self, first: usize) -> Value {
                let left = self.leaf(first);
                let right = self.leaf(first + 1);
                self.node(left, right, first + 1)
            }

            /// Returns product `i` of the tree.
            #[inline]
            #[target_feature(enable = $features)]
            fn leaf(&mut self, i: usize) -> Value {
                // SAFETY: the product exists, and its weights do.
                let product = unsafe { product(self.window, self.weights, self.begin + i) };
                if FULL {
                    return (product, widen(product));
                }
                self.finals.add(product);
                (product, [zero(); 2])
            }

            /// Returns the sum of two values and records its overflow; `last` is the last product in it.
            #[inline]
            #[target_feature(enable = $features)]
            fn node(&mut self, left: Value, right: Value, last: usize) -> Value {
                // Copies for both uses: for the compiler, counts may overlap the fields.
                let rails @ [least, most] = [self.least, self.most];
                let sum = adds_16(left.0, right.0);
                let (counts, overflows) = count(self.counts, sum, rails);
                self.counts = counts;
                if LOG {
                    self.noted[last] = note(self.noted[last], overflows, self.one);
                }
                let mut exact = left.1;
                if FULL {
                    exact = [0, 1].map(|part| add_32(left.1[part], right.1[part]));
                    self.extremes.note(exact);
                }
                if !WRAPS {
                    return (max_16(min_16(sum, most), least), exact);
                }
                let span = sub_16(self.most, self.least);
                let beyond = sub_16(add_16(left.0, right.0), self.least);
                (add_16(and(beyond, span), self.least), exact)
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn flush(&mut self) {
                const { assert!(UNROLLED <= Finals::PRODUCTS, "sums are flushed in time") };
                if !FULL {
                    self.finals.flush();
                }
            }
        }
    };
}
