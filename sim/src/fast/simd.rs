//! The bodies of the kernels: the same safe code, compiled for different vector instructions and chosen at
//! run time. The only `unsafe` of the crate: calls of functions whose instructions the CPU is known to have.

#![allow(unsafe_code)]

use super::kernels::{self, Activations, LANES, Pair, Rails, Row, Stepped, Walked};
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

/// Plain safe code that is compiled for each body; `run` is to be inlined always.
pub(crate) trait Vectorized {
    fn run(self);
}

/// Runs a kernel in the chosen body.
macro_rules! dispatch {
    ($self:ident, $portable:ident, $avx2:ident, $avx512:ident, $generics:tt, $arguments:tt) => {
        match $self.body {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Kernels` holds this body only if the CPU has AVX2.
            Body::Avx2 => unsafe { call!($avx2, $generics, $arguments) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Kernels` holds this body only if the CPU has AVX-512BW and VL.
            Body::Avx512 => unsafe { call!($avx512, $generics, $arguments) },
            _ => call!($portable, $generics, $arguments),
        }
    };
}

macro_rules! call {
    ($name:ident, ($($generic:tt),*), ($($argument:expr),*)) => { $name::<$($generic),*>($($argument),*) };
}

impl Kernels {
    /// The forced body where the CPU has it, else the best one that it has.
    pub fn choose(forced: Option<Body>) -> Self {
        let mut wanted = forced.into_iter().chain([Body::Avx512, Body::Avx2]);
        Self { body: wanted.find(|&body| available(body)).unwrap_or(Body::Portable) }
    }

    /// Runs `work` in the chosen body.
    pub fn run(self, work: impl Vectorized) {
        match self.body {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Kernels` holds this body only if the CPU has AVX2.
            Body::Avx2 => unsafe { run_avx2(work) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Kernels` holds this body only if the CPU has AVX-512BW and VL.
            Body::Avx512 => unsafe { run_avx512(work) },
            _ => run_portable(work),
        }
    }

    /// See [`kernels::walk`].
    pub fn walk<X: Activations, const P: usize>(
        self,
        x: [X; P],
        weights: &[Row],
        start: &[i32; LANES],
    ) -> [Walked; P] {
        dispatch!(self, walk_portable, walk_avx2, walk_avx512, (X, P), (x, weights, start))
    }

    /// See [`kernels::sum`].
    pub fn sum<const P: usize, const BOUNDED: bool>(
        self,
        x: [&[i16]; P],
        weights: &[Pair],
        start: &[i32; LANES],
    ) -> [Walked; P] {
        match self.body {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Kernels` holds these bodies only if the CPU has AVX2, which AVX-512 implies.
            Body::Avx2 | Body::Avx512 => unsafe { sum_avx2::<P, BOUNDED>(x, weights, start) },
            _ => kernels::sum::<P, BOUNDED>(x, weights, start),
        }
    }

    /// See [`kernels::step_i16`].
    pub fn step_i16<X: Activations, const P: usize, const MODE: u8, const LOG: bool>(
        self,
        x: [X; P],
        weights: &[Row],
        start: &[i32; LANES],
        rails: Rails,
        log: &mut [Row],
    ) -> [Stepped; P] {
        dispatch!(
            self,
            step_i16_portable,
            step_i16_avx2,
            step_i16_avx512,
            (X, P, MODE, LOG),
            (x, weights, start, rails, log)
        )
    }

    /// See [`kernels::step_i32`].
    pub fn step_i32<X: Activations, const P: usize, const MODE: u8, const LOG: bool>(
        self,
        x: [X; P],
        weights: &[Row],
        start: &[i32; LANES],
        rails: Rails,
        log: &mut [Row],
    ) -> [Stepped; P] {
        dispatch!(
            self,
            step_i32_portable,
            step_i32_avx2,
            step_i32_avx512,
            (X, P, MODE, LOG),
            (x, weights, start, rails, log)
        )
    }
}

/// Defines the bodies of the kernels.
macro_rules! bodies {
    ($(#[$attribute:meta])* $walk:ident, $step_i16:ident, $step_i32:ident) => {
        $(#[$attribute])*
        fn $walk<X: Activations, const P: usize>(x: [X; P], weights: &[Row], start: &[i32; LANES]) -> [Walked; P] {
            kernels::walk(x, weights, start)
        }

        $(#[$attribute])*
        fn $step_i16<X: Activations, const P: usize, const MODE: u8, const LOG: bool>(
            x: [X; P],
            weights: &[Row],
            start: &[i32; LANES],
            rails: Rails,
            log: &mut [Row],
        ) -> [Stepped; P] {
            kernels::step_i16::<X, P, MODE, LOG>(x, weights, start, rails, log)
        }

        $(#[$attribute])*
        fn $step_i32<X: Activations, const P: usize, const MODE: u8, const LOG: bool>(
            x: [X; P],
            weights: &[Row],
            start: &[i32; LANES],
            rails: Rails,
            log: &mut [Row],
        ) -> [Stepped; P] {
            kernels::step_i32::<X, P, MODE, LOG>(x, weights, start, rails, log)
        }
    };
}

bodies! { #[inline(never)] walk_portable, step_i16_portable, step_i32_portable }
bodies! {
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    walk_avx2, step_i16_avx2, step_i32_avx2
}
bodies! {
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512bw,avx512vl")]
    walk_avx512, step_i16_avx512, step_i32_avx512
}

#[inline(never)]
fn run_portable(work: impl Vectorized) {
    work.run();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn run_avx2(work: impl Vectorized) {
    work.run();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512bw,avx512vl")]
fn run_avx512(work: impl Vectorized) {
    work.run();
}

/// [`kernels::sum`] on AVX2, with its multiply-add of pairs: compilers do not find it in the plain code.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn sum_avx2<const P: usize, const BOUNDED: bool>(
    x: [&[i16]; P],
    weights: &[Pair],
    start: &[i32; LANES],
) -> [Walked; P] {
    use std::arch::x86_64::*;

    use super::kernels::BOUND_PAIRS;

    let load = |lanes: &[i32; LANES], half: usize| {
        // SAFETY: eight lanes from `8 * half` on, `half` being 0 or 1; the load takes any alignment.
        unsafe { _mm256_loadu_si256(lanes.as_ptr().add(8 * half).cast()) }
    };
    let store = |lanes: &mut [i32; LANES], half: usize, value: __m256i| {
        // SAFETY: as above.
        unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().add(8 * half).cast(), value) }
    };
    let weight = |pair: &Pair, half: usize| {
        // SAFETY: sixteen weights from `16 * half` on, `half` being 0 or 1; the load takes any alignment.
        unsafe { _mm256_loadu_si256(pair.as_ptr().add(LANES * half).cast()) }
    };
    let x = x.map(|x| &x.as_chunks::<2>().0[..weights.len()]);
    let start = [load(start, 0), load(start, 1)];
    let mut sum = [start; P];
    let mut min = sum;
    let mut max = sum;
    let mut first = 0;
    while first < weights.len() {
        let end = weights.len().min(first + BOUND_PAIRS);
        let before = sum;
        let mut size = [[_mm256_setzero_si256(); 2]; P];
        for k in first..end {
            let w = [weight(&weights[k], 0), weight(&weights[k], 1)];
            let w_size = [_mm256_abs_epi16(w[0]), _mm256_abs_epi16(w[1])];
            for p in 0..P {
                let [a, b] = x[p][k];
                let pair = _mm256_set1_epi32((u32::from(a as u16) | u32::from(b as u16) << 16) as i32);
                let pair_size = _mm256_abs_epi16(pair);
                for half in 0..2 {
                    sum[p][half] = _mm256_add_epi32(sum[p][half], _mm256_madd_epi16(pair, w[half]));
                    if BOUNDED {
                        let products = _mm256_madd_epi16(pair_size, w_size[half]);
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
        first = end;
    }
    std::array::from_fn(|p| {
        let mut walked = Walked { sum: [0; LANES], min: [0; LANES], max: [0; LANES] };
        for half in 0..2 {
            store(&mut walked.sum, half, sum[p][half]);
            store(&mut walked.min, half, min[p][half]);
            store(&mut walked.max, half, max[p][half]);
        }
        walked
    })
}
