//! Exact sums of runs: one body for AVX2 and AVX-512. Numbers of 32 bits are in two parts: the first eight
//! lanes and the others of one window (AVX2), or all lanes of two windows (AVX-512).

/// Defines `Finals`, `Extremes`, `store_run` and `store_counts` on instructions `$features`. In scope must be
/// `WINDOWS`, the number of windows; `widen`, which returns both parts of a register of 16-bit lanes; `load`
/// and `store` of a part; and instructions under other names.
#[cfg(target_arch = "x86_64")]
macro_rules! exact_sums {
    ($features:literal) => {
        /// Final sums alone. A sum of few products follows from its low 16 bits and the sum of their upper
        /// bytes, because the lower bytes add less than 2^15 to the latter.
        #[derive(Clone, Copy)]
        pub(super) struct Finals {
            low: Register,
            upper: Register,
            sum: [Register; 2],
        }

        impl Finals {
            /// Greatest number of products before a flush.
            pub const PRODUCTS: usize = 128;

            #[inline]
            #[target_feature(enable = $features)]
            pub fn new() -> Self {
                Self { low: zero(), upper: zero(), sum: [zero(); 2] }
            }

            #[inline]
            #[target_feature(enable = $features)]
            pub fn add(&mut self, product: Register) {
                self.low = add_16(self.low, product);
                self.upper = add_16(self.upper, srai_16::<8>(product));
            }

            #[inline]
            #[target_feature(enable = $features)]
            pub fn flush(&mut self) {
                let rest = widen(sub_16(self.low, slli_16::<8>(self.upper)));
                let upper = widen(self.upper);
                for part in 0..2 {
                    let sum = add_32(slli_32::<8>(upper[part]), rest[part]);
                    self.sum[part] = add_32(self.sum[part], sum);
                }
                (self.low, self.upper) = (zero(), zero());
            }

            /// Returns the sum since the previous run. Everything must have been flushed.
            #[inline]
            #[target_feature(enable = $features)]
            pub fn end(&mut self) -> [Register; 2] {
                std::mem::replace(&mut self.sum, [zero(); 2])
            }
        }

        /// Least and greatest of 0 and some exact sums.
        #[derive(Clone, Copy)]
        pub(super) struct Extremes {
            min: [Register; 2],
            max: [Register; 2],
        }

        impl Extremes {
            #[inline]
            #[target_feature(enable = $features)]
            pub fn new() -> Self {
                Self { min: [zero(); 2], max: [zero(); 2] }
            }

            #[inline]
            #[target_feature(enable = $features)]
            pub fn note(&mut self, sum: [Register; 2]) {
                for part in 0..2 {
                    self.min[part] = min_32(self.min[part], sum[part]);
                    self.max[part] = max_32(self.max[part], sum[part]);
                }
            }

            #[inline]
            #[target_feature(enable = $features)]
            pub fn store(&self, out: &mut [RunsOut<'_>; WINDOWS]) {
                for part in 0..2 {
                    if let Some([min, max]) = &mut out[part % out.len()].prefixes {
                        store(min, part, self.min[part]);
                        store(max, part, self.max[part]);
                    }
                }
            }
        }

        /// Stores the results of run `run`.
        #[inline]
        #[target_feature(enable = $features)]
        pub(super) fn store_run(
            run: usize,
            held: [Register; 2],
            exact: [Register; 2],
            out: &mut [RunsOut<'_>; WINDOWS],
        ) {
            for part in 0..2 {
                let out = &mut out[part % out.len()];
                store(&mut out.exact[run], part, exact[part]);
                store(&mut out.held[run], part, held[part]);
            }
        }

        /// Adds 16-bit overflow counts, above and below, to the totals.
        #[inline]
        #[target_feature(enable = $features)]
        pub(super) fn store_counts(counts: [Register; 2], out: &mut [RunsOut<'_>; WINDOWS]) {
            for (side, counts) in counts.into_iter().enumerate() {
                for (part, counts) in widen(counts).into_iter().enumerate() {
                    let counted = &mut *out[part % out.len()].counts[side];
                    let sum = add_32(load(counted, part), counts);
                    store(counted, part, sum);
                }
            }
        }
    };
}
