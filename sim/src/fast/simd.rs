//! The bodies of the kernels: the same safe code, compiled for different vector instructions and chosen at
//! run time. The only `unsafe` of the crate: calls of functions whose instructions the CPU is known to have.

#![allow(unsafe_code)]

use super::kernels::{
    self, Activations, Compared, Delivered, Lanes, Pair, Rails, Row, Scaling, Stepped, Tally, Walked,
};
use crate::options::Body;

/// A body that this CPU can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kernels {
    /// Only ever a body for which [`available`] has answered yes.
    body: Body,
}

/// Whether this CPU can run `body`.
pub(crate) fn available(body: Body) -> bool {
    match body {
        Body::Portable => true,
        #[cfg(target_arch = "x86_64")]
        Body::Avx2 => is_x86_feature_detected!("avx2"),
        #[cfg(target_arch = "x86_64")]
        Body::Avx512 => is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512vl"),
        #[cfg(not(target_arch = "x86_64"))]
        _ => false,
    }
}

/// Defines a method of [`Kernels`] that runs its expression in the chosen body.
macro_rules! kernel {
    (
        $(#[$doc:meta])*
        $name:ident [$($parameters:tt)*] [$($generics:tt)*]
        ($($argument:ident: $ty:ty),*) $work:expr
    ) => {
        $(#[$doc])*
        pub fn $name<$($parameters)*>(self, $($argument: $ty),*) {
            #[inline(never)]
            fn portable<$($parameters)*>($($argument: $ty),*) {
                $work
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2")]
            fn avx2<$($parameters)*>($($argument: $ty),*) {
                $work
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512bw,avx512vl")]
            fn avx512<$($parameters)*>($($argument: $ty),*) {
                $work
            }
            match self.body {
                #[cfg(target_arch = "x86_64")]
                // SAFETY: `Kernels` holds this body only if the CPU has AVX2.
                Body::Avx2 => unsafe { avx2::<$($generics)*>($($argument),*) },
                #[cfg(target_arch = "x86_64")]
                // SAFETY: `Kernels` holds this body only if the CPU has AVX-512BW and VL.
                Body::Avx512 => unsafe { avx512::<$($generics)*>($($argument),*) },
                _ => portable::<$($generics)*>($($argument),*),
            }
        }
    };
}

impl Kernels {
    /// The forced body where the CPU has it, else the best one that it has.
    pub fn choose(forced: Option<Body>) -> Self {
        let mut wanted = forced.into_iter().chain([Body::Avx512, Body::Avx2]);
        Self { body: wanted.find(|&body| available(body)).unwrap_or(Body::Portable) }
    }

    kernel! {
        /// [`kernels::walk`] for every pixel of a tile.
        walk [X: Activations, const SHORT: bool] [X, SHORT]
        (x: &[X], weights: &[Row], start: &Lanes, out: &mut [Walked])
        in_chunks::<_, _, _, 2>(
            x,
            out,
            &mut (),
            |_, _, x| kernels::walk::<X, 2, SHORT>(x, weights, start),
            |_, _, x| kernels::walk::<X, 1, SHORT>(x, weights, start),
        )
    }

    kernel! {
        /// [`kernels::step_i16`] for every pixel of a tile.
        step_i16 [X: Activations, const MODE: u8, const LOG: bool] [X, MODE, LOG]
        (x: &[X], weights: &[Row], start: &Lanes, rails: Rails, log: &mut [Row], out: &mut [Stepped])
        in_chunks::<_, _, _, 2>(
            x,
            out,
            log,
            |log, at, x| kernels::step_i16::<X, 2, MODE, LOG>(x, weights, start, rails, logs(log, at, weights.len())),
            |log, at, x| kernels::step_i16::<X, 1, MODE, LOG>(x, weights, start, rails, logs(log, at, weights.len())),
        )
    }

    kernel! {
        /// [`kernels::step_i32`] for every pixel of a tile.
        step_i32 [X: Activations, const MODE: u8, const LOG: bool] [X, MODE, LOG]
        (x: &[X], weights: &[Row], start: &Lanes, rails: Rails, log: &mut [Row], out: &mut [Stepped])
        in_chunks::<_, _, _, 2>(
            x,
            out,
            log,
            |log, at, x| kernels::step_i32::<X, 2, MODE, LOG>(x, weights, start, rails, logs(log, at, weights.len())),
            |log, at, x| kernels::step_i32::<X, 1, MODE, LOG>(x, weights, start, rails, logs(log, at, weights.len())),
        )
    }

    kernel! {
        /// [`kernels::codes`] for every pixel of a tile.
        codes [D: Delivered, const SCHEME: u8] [D, SCHEME]
        (sums: &[D], scaling: &Scaling, out: &mut [Lanes])
        for (sum, out) in sums.iter().zip(out) {
            *out = kernels::codes::<SCHEME>(sum.delivered(), scaling);
        }
    }

    kernel! {
        /// [`kernels::count_errors`] for a pixel.
        count_errors [] []
        (tally: &mut Tally, delivered: &Lanes, exact: &Lanes, code: &Lanes, right: &Lanes)
        kernels::count_errors(tally, delivered, exact, code, right)
    }

    kernel! {
        /// [`kernels::count_events`] for a pixel.
        count_events [] []
        (tally: &mut Tally, stepped: &Stepped, sum: &Lanes, least: i32, greatest: i32)
        kernels::count_events(tally, stepped, sum, least, greatest)
    }

    kernel! {
        /// [`kernels::count_prefixes`] for every pixel of a tile.
        count_prefixes [] []
        (tally: &mut Tally, walked: &[Walked], least: i32, greatest: i32)
        for walked in walked {
            kernels::count_prefixes(tally, walked, least, greatest);
        }
    }

    kernel! {
        /// [`kernels::compare`].
        compare [] []
        (exact: &[i32], simulated: &[i32], zero_point: i32, mismatches: &mut [u32], compared: &mut Compared)
        kernels::compare(exact, simulated, zero_point, mismatches, compared)
    }

    /// [`kernels::sum`] for every pixel of a tile.
    pub fn sum<X: VectorActivations, const BOUNDED: bool>(
        self,
        x: &[X],
        weights: &[Pair],
        start: &Lanes,
        out: &mut [Walked],
    ) {
        match self.body {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Kernels` holds these bodies only if the CPU has AVX2, which AVX-512 implies.
            Body::Avx2 | Body::Avx512 => unsafe { avx2::sum_tile::<X, BOUNDED>(x, weights, start, out) },
            _ => in_chunks::<_, _, _, 2>(
                x,
                out,
                &mut (),
                |_, _, x| kernels::sum::<X, 2, BOUNDED>(x, weights, start),
                |_, _, x| kernels::sum::<X, 1, BOUNDED>(x, weights, start),
            ),
        }
    }
}

/// Runs a kernel on `P` pixels at a time and on the rest one by one, with `log` and the first pixel.
#[inline(always)]
fn in_chunks<X: Copy, R, L: ?Sized, const P: usize>(
    x: &[X],
    out: &mut [R],
    log: &mut L,
    many: impl Fn(&mut L, usize, [X; P]) -> [R; P],
    one: impl Fn(&mut L, usize, [X; 1]) -> [R; 1],
) {
    let (chunks, rest) = x.as_chunks::<P>();
    let mut out = out.iter_mut();
    for (i, &x) in chunks.iter().enumerate() {
        put(&mut out, many(log, P * i, x));
    }
    for (i, &x) in rest.iter().enumerate() {
        put(&mut out, one(log, P * chunks.len() + i, [x]));
    }
}

#[inline(always)]
fn put<R, const P: usize>(out: &mut std::slice::IterMut<'_, R>, results: [R; P]) {
    results.into_iter().zip(out).for_each(|(result, out)| *out = result);
}

/// The logs of `P` pixels from `first` on, `steps` rows each; empty ones where there is no log.
#[inline(always)]
fn logs<const P: usize>(log: &mut [Row], first: usize, steps: usize) -> [&mut [Row]; P] {
    let mut rest = log.get_mut(first * steps..).unwrap_or_default();
    std::array::from_fn(|_| {
        let (one, others) = std::mem::take(&mut rest).split_at_mut_checked(steps).unwrap_or_default();
        rest = others;
        one
    })
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) use Activations as VectorActivations;
#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::VectorActivations;

/// [`kernels::sum`] with the multiply-add of pairs, which compilers do not find in the plain code.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    use super::super::kernels::{Activations, BOUND_PAIRS, LANES, Lanes, Pair, Row, Walked};
    use super::put;

    /// Activations as vectors.
    pub(crate) trait VectorActivations: Activations {
        /// Steps `2 * k` and `2 * k + 1` side by side for eight lanes: those from `8 * half` on.
        ///
        /// # Safety
        /// The CPU has AVX2, both steps exist, and `half` is 0 or 1.
        unsafe fn pair(self, k: usize, half: usize) -> __m256i;
    }

    impl VectorActivations for &[i16] {
        #[inline]
        #[target_feature(enable = "avx2")]
        unsafe fn pair(self, k: usize, _: usize) -> __m256i {
            // SAFETY: both steps exist; the load takes any alignment.
            _mm256_set1_epi32(unsafe { self.as_ptr().add(2 * k).cast::<i32>().read_unaligned() })
        }
    }

    impl VectorActivations for &[Row] {
        #[inline]
        #[target_feature(enable = "avx2")]
        unsafe fn pair(self, k: usize, half: usize) -> __m256i {
            // SAFETY: both steps exist, and so do eight lanes from `8 * half` on.
            let load = |step: usize| unsafe {
                _mm_loadu_si128(self.get_unchecked(step).as_ptr().add(8 * half).cast())
            };
            let (a, b) = (load(2 * k), load(2 * k + 1));
            _mm256_set_m128i(_mm_unpackhi_epi16(a, b), _mm_unpacklo_epi16(a, b))
        }
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn sum_tile<X: VectorActivations, const BOUNDED: bool>(
        x: &[X],
        weights: &[Pair],
        start: &Lanes,
        out: &mut [Walked],
    ) {
        let (fours, rest) = x.as_chunks::<4>();
        let (twos, ones) = rest.as_chunks::<2>();
        let mut out = out.iter_mut();
        for &x in fours {
            if BOUNDED {
                let [a, b, c, d] = x;
                put(&mut out, sum::<X, 2, BOUNDED>([a, b], weights, start));
                put(&mut out, sum::<X, 2, BOUNDED>([c, d], weights, start));
            } else {
                put(&mut out, sum::<X, 4, BOUNDED>(x, weights, start));
            }
        }
        for &x in twos {
            put(&mut out, sum::<X, 2, BOUNDED>(x, weights, start));
        }
        for &x in ones {
            put(&mut out, sum::<X, 1, BOUNDED>([x], weights, start));
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn sum<X: VectorActivations, const P: usize, const BOUNDED: bool>(
        x: [X; P],
        weights: &[Pair],
        start: &Lanes,
    ) -> [Walked; P] {
        let load = |lanes: &Lanes, half: usize| {
            // SAFETY: eight lanes from `8 * half` on, `half` being 0 or 1; the load takes any alignment.
            unsafe { _mm256_loadu_si256(lanes.as_ptr().add(8 * half).cast()) }
        };
        let store = |lanes: &mut Lanes, half: usize, value: __m256i| {
            // SAFETY: as above.
            unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().add(8 * half).cast(), value) }
        };
        let weight = |pair: &Pair, half: usize| {
            // SAFETY: sixteen weights from `16 * half` on, `half` being 0 or 1; the load takes any alignment.
            unsafe { _mm256_loadu_si256(pair.as_ptr().add(LANES * half).cast()) }
        };
        // The steps that the loop below reads exist.
        let x = x.map(|x| x.first(2 * weights.len()));
        let start = [load(start, 0), load(start, 1)];
        let mut sum = [start; P];
        let mut min = sum;
        let mut max = sum;
        for (stretch, weights) in weights.chunks(BOUND_PAIRS).enumerate() {
            let first = stretch * BOUND_PAIRS;
            let before = sum;
            let mut size = [[_mm256_setzero_si256(); 2]; P];
            for (k, pair) in weights.iter().enumerate() {
                let w = [weight(pair, 0), weight(pair, 1)];
                let w_size = [_mm256_abs_epi16(w[0]), _mm256_abs_epi16(w[1])];
                for p in 0..P {
                    for half in 0..2 {
                        // SAFETY: `first` has checked that these steps exist.
                        let a = unsafe { x[p].pair(first + k, half) };
                        sum[p][half] = _mm256_add_epi32(sum[p][half], _mm256_madd_epi16(a, w[half]));
                        if BOUNDED {
                            let products = _mm256_madd_epi16(_mm256_abs_epi16(a), w_size[half]);
                            size[p][half] = _mm256_add_epi32(size[p][half], products);
                        }
                    }
                }
            }
            if BOUNDED {
                for p in 0..P {
                    for half in 0..2 {
                        let (before, size) = (before[p][half], size[p][half]);
                        let change = _mm256_sub_epi32(sum[p][half], before);
                        let up = _mm256_srai_epi32::<1>(_mm256_add_epi32(size, change));
                        let down = _mm256_srai_epi32::<1>(_mm256_sub_epi32(size, change));
                        max[p][half] = _mm256_max_epi32(max[p][half], _mm256_add_epi32(before, up));
                        min[p][half] = _mm256_min_epi32(min[p][half], _mm256_sub_epi32(before, down));
                    }
                }
            }
        }
        std::array::from_fn(|p| {
            let mut walked = Walked::ZERO;
            for half in 0..2 {
                store(&mut walked.sum, half, sum[p][half]);
                store(&mut walked.min, half, min[p][half]);
                store(&mut walked.max, half, max[p][half]);
            }
            walked
        })
    }
}
