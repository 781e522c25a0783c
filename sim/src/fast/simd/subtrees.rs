//! Trees whose nodes are computed as soon as both values are available, so that few values must be held. They
//! give the nodes of the hardware's rounds, in another order.

use super::super::kernels::{NOTED, PAIR_TREE};

/// Number of leaves of a subtree whose nodes are computed without a loop; most trees have this size. Also the
/// number of leaves after which exact sums must be flushed.
pub(super) const UNROLLED: usize = NOTED;

/// Number of subtrees of each power of two leaves, up to the greatest tree.
pub(super) const LEVELS: usize = PAIR_TREE.ilog2() as usize + 1;

/// Defines the methods that walk a tree, for a type with `leaf`, `node` and `flush`, on instructions
/// `$features`. [`UNROLLED`] and [`LEVELS`] must be in scope.
#[cfg(target_arch = "x86_64")]
macro_rules! subtrees {
    ($features:literal, $value:ty, $nothing:expr) => {
        /// Returns the tree of the next `count` products: subtrees of powers of two, which are then combined
        /// from the last to the first.
        #[inline]
        #[target_feature(enable = $features)]
        fn tree(&mut self, count: usize) -> $value {
            if count == UNROLLED {
                return self.unrolled(0);
            }
            let nothing: $value = $nothing;
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
        fn unrolled(&mut self, first: usize) -> $value {
            const { assert!(UNROLLED == 16) };
            let left = self.eight(first);
            let right = self.eight(first + 8);
            self.flush();
            self.node(left, right, first + 15)
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn eight(&mut self, first: usize) -> $value {
            let left = self.four(first);
            let right = self.four(first + 4);
            self.node(left, right, first + 7)
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn four(&mut self, first: usize) -> $value {
            let left = self.two(first);
            let right = self.two(first + 2);
            self.node(left, right, first + 3)
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn two(&mut self, first: usize) -> $value {
            let left = self.leaf(first);
            let right = self.leaf(first + 1);
            self.node(left, right, first + 1)
        }
    };
}
