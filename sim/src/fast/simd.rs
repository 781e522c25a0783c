//! The bodies of the kernels: the same safe code, compiled for different vector instructions and chosen at
//! run time. The only `unsafe` of the crate: calls of functions whose instructions the CPU is known to have.

#![allow(unsafe_code)]

use super::kernels::{self, Activations, LANES, Rails, Row, Stepped, Walked};
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

    /// See [`kernels::walk`].
    pub fn walk<X: Activations, const P: usize>(
        self,
        x: [X; P],
        weights: &[Row],
        start: &[i32; LANES],
    ) -> [Walked; P] {
        dispatch!(self, walk_portable, walk_avx2, walk_avx512, (X, P), (x, weights, start))
    }

    /// See [`kernels::step_i16`].
    pub fn step_i16<X: Activations, const P: usize, const MODE: u8>(
        self,
        x: [X; P],
        weights: &[Row],
        start: &[i32; LANES],
        rails: Rails,
    ) -> [Stepped; P] {
        dispatch!(
            self,
            step_i16_portable,
            step_i16_avx2,
            step_i16_avx512,
            (X, P, MODE),
            (x, weights, start, rails)
        )
    }

    /// See [`kernels::step_i32`].
    pub fn step_i32<X: Activations, const P: usize, const MODE: u8>(
        self,
        x: [X; P],
        weights: &[Row],
        start: &[i32; LANES],
        rails: Rails,
    ) -> [Stepped; P] {
        dispatch!(
            self,
            step_i32_portable,
            step_i32_avx2,
            step_i32_avx512,
            (X, P, MODE),
            (x, weights, start, rails)
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
        fn $step_i16<X: Activations, const P: usize, const MODE: u8>(
            x: [X; P],
            weights: &[Row],
            start: &[i32; LANES],
            rails: Rails,
        ) -> [Stepped; P] {
            kernels::step_i16::<X, P, MODE>(x, weights, start, rails)
        }

        $(#[$attribute])*
        fn $step_i32<X: Activations, const P: usize, const MODE: u8>(
            x: [X; P],
            weights: &[Row],
            start: &[i32; LANES],
            rails: Rails,
        ) -> [Stepped; P] {
            kernels::step_i32::<X, P, MODE>(x, weights, start, rails)
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
