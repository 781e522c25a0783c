//! Bodies of the kernels: safe code that is compiled for several vector instruction sets, one of which is
//! chosen at run time. All `unsafe` code of the crate is here; it calls functions whose instructions the CPU
//! is known to support.

#![allow(unsafe_code)]
// See `kernels` for the reason.
#![allow(clippy::needless_range_loop)]

use super::bytes::{ByteBlock, ByteSums, QuadLayout};
#[cfg(target_arch = "x86_64")]
use super::bytes::{Gather, QuadCells, Shared};
use super::kernels::{
    self, Activations, Code, Lane, Lanes, Pair, Rails, Row, SATURATE, Stepped, Trail, Vector, Walked,
};
use super::plane::Plane;
use crate::options::Isa;

/// Instruction set of the kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kernels {
    /// Instruction set; [`available`] has confirmed it.
    isa: Isa,
    /// Whether registers of 16 bits are stepped two windows per vector; [`has_pairs`] has confirmed it.
    pairs: bool,
}

/// Returns whether this CPU supports the instructions.
pub(crate) fn available(isa: Isa) -> bool {
    match isa {
        Isa::Portable => true,
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => is_x86_feature_detected!("avx2"),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => {
            is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512cd")
                && is_x86_feature_detected!("popcnt")
        }
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512Vnni => available(Isa::Avx512) && is_x86_feature_detected!("avx512vnni"),
        #[cfg(not(target_arch = "x86_64"))]
        _ => false,
    }
}

/// Returns whether this CPU can step two windows per vector in addition to `isa`.
fn has_pairs(isa: Isa) -> bool {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 | Isa::Avx512Vnni => {
            is_x86_feature_detected!("avx512vbmi2")
                && is_x86_feature_detected!("avx512bitalg")
                && is_x86_feature_detected!("avx512vpopcntdq")
        }
        _ => false,
    }
}

/// Plain safe code that is compiled for each body; `run` must always be inlined.
pub(crate) trait Vectorized {
    /// Whether vector instructions can help; otherwise there is one body for all CPUs.
    const IN_VECTORS: bool = true;

    fn run(self);
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
            #[target_feature(enable = "avx512bw,avx512vl,avx512cd")]
            fn avx512<$($parameters)*>($($argument: $ty),*) {
                $work
            }
            match self.isa {
                #[cfg(target_arch = "x86_64")]
                // SAFETY: `Kernels` holds this only if the CPU has AVX2.
                Isa::Avx2 => unsafe { avx2::<$($generics)*>($($argument),*) },
                #[cfg(target_arch = "x86_64")]
                // SAFETY: `Kernels` holds these only if the CPU has AVX-512BW, VL and CD.
                Isa::Avx512 | Isa::Avx512Vnni => unsafe { avx512::<$($generics)*>($($argument),*) },
                _ => portable::<$($generics)*>($($argument),*),
            }
        }
    };
}

/// Runs a kernel on the first given number of pixels at a time, on the rest with the next number, and so on;
/// the last number must be 1.
macro_rules! in_chunks {
    ($x:ident, $out:ident, [$($pixels:literal),+], |$some:ident, $results:ident| $work:expr) => {{
        let (rest, out_rest) = (&$x[..], &mut $out[..]);
        $(
            let (chunks, rest) = rest.as_chunks::<$pixels>();
            let (out_chunks, out_rest) = out_rest.as_chunks_mut::<$pixels>();
            for ($some, $results) in chunks.iter().zip(out_chunks) {
                $work
            }
        )+
        debug_assert!(rest.is_empty() && out_rest.is_empty());
    }};
}

#[macro_use]
mod short;
#[cfg(target_arch = "x86_64")]
#[macro_use]
mod exact;
#[cfg(target_arch = "x86_64")]
#[macro_use]
mod trees;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod codes;
mod in_place;
mod runs;
mod statistics;
mod windows;

pub(crate) use short::ShortMode;

impl Kernels {
    /// Runs `work` in the body for the chosen instructions.
    pub fn run<W: Vectorized>(self, work: W) {
        #[inline(never)]
        fn run<W: Vectorized>(work: W) {
            work.run();
        }
        match W::IN_VECTORS {
            true => self.run_in_vectors(work),
            false => run(work),
        }
    }

    /// Returns the forced instructions if the CPU supports them, otherwise the best available ones.
    pub fn choose(forced: Option<Isa>) -> Self {
        let mut wanted = forced.into_iter().chain([Isa::Avx512Vnni, Isa::Avx512, Isa::Avx2]);
        let isa = wanted.find(|&isa| available(isa)).unwrap_or(Isa::Portable);
        Self { isa, pairs: has_pairs(isa) }
    }

    /// Returns whether sums can be computed from bytes.
    pub fn sums_bytes(self) -> bool {
        self.isa == Isa::Avx512Vnni
    }

    /// Returns whether registers of 16 bits are stepped two windows per vector.
    pub fn steps_pairs(self) -> bool {
        self.pairs
    }

    /// Returns whether registers of 16 bits are stepped one window per vector.
    pub fn steps_singles(self) -> bool {
        !self.pairs && matches!(self.isa, Isa::Avx2 | Isa::Avx512 | Isa::Avx512Vnni)
    }

    kernel! {
        /// Runs `work` on vector instructions, if there are any.
        run_in_vectors [W: Vectorized] [W] (work: W) work.run()
    }

    kernel! {
        /// Runs [`kernels::walk`] for every pixel of a tile, two at a time, so that the sums and extremes of
        /// both fit the registers of AVX2.
        walk [X: Activations, const SHORT: bool] [X, SHORT]
        (x: &[X], weights: &[Row], start: &Lanes, out: &mut [Walked])
        in_chunks!(x, out, [2, 1], |x, out| kernels::walk::<_, _, SHORT>(x, weights, start, out))
    }

    kernel! {
        /// Runs [`kernels::first_outside`].
        first_outside [X: Activations] [X]
        (x: X, weights: &[Row], start: &Lanes, rails: Rails, out: &mut Lanes)
        kernels::first_outside(x, weights, start, rails, out)
    }

    /// Runs [`kernels::step`] for every pixel of a tile.
    pub fn step<V: Lane, X: VectorActivations, const MODE: u8>(
        self,
        x: &[X],
        weights: &[Row],
        start: &Lanes,
        rails: Rails<V>,
        out: &mut [Stepped],
    ) {
        match self.isa {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Kernels` holds these only if the CPU has AVX2, which AVX-512 implies.
            Isa::Avx2 | Isa::Avx512 | Isa::Avx512Vnni if V::BITS == 16 && MODE == SATURATE => unsafe {
                avx2::saturate_tile(x, weights, start, [rails.low.short(), rails.high.short()], out);
            },
            _ => self.step_any::<V, X, MODE>(x, weights, start, rails, out),
        }
    }

    kernel! {
        /// Runs [`kernels::step`] for every pixel of a tile, in any mode.
        step_any [V: Lane, X: Activations, const MODE: u8] [V, X, MODE]
        (x: &[X], weights: &[Row], start: &Lanes, rails: Rails<V>, out: &mut [Stepped])
        in_chunks!(x, out, [2, 1], |x, out| {
            kernels::step::<V, _, _, MODE, true>(x, weights, start, rails, Trail::none(), out)
        })
    }

    kernel! {
        /// Runs [`kernels::step`] for one pixel, with a trail.
        step_with_trail [V: Lane, X: Activations, const MODE: u8] [V, X, MODE]
        (
            x: X,
            weights: &[Row],
            start: &Lanes,
            rails: Rails<V>,
            trail: Trail<'_>,
            out: &mut [Stepped; 1]
        )
        kernels::step::<V, _, _, MODE, true>(&[x], weights, start, rails, trail, out)
    }

    kernel! {
        /// Runs a saturating [`kernels::step`] for every pixel of a tile, without counts.
        clamp [V: Lane, X: Activations] [V, X]
        (x: &[X], weights: &[Row], start: &Lanes, rails: Rails<V>, out: &mut [Stepped])
        in_chunks!(x, out, [4, 2, 1], |x, out| {
            kernels::step::<V, _, _, SATURATE, false>(x, weights, start, rails, Trail::none(), out)
        })
    }

    /// Computes exact sums of a block at the windows from `corners` on, with information about their prefixes
    /// as requested. Requires [`Self::sums_bytes`].
    pub fn sum_bytes(
        self,
        how: ByteSums<'_>,
        (bytes, corners): (&[u8], &[usize]),
        layout: &QuadLayout,
        block: &ByteBlock,
        out: &mut [Walked],
    ) {
        #[cfg(target_arch = "x86_64")]
        if self.isa == Isa::Avx512Vnni {
            let reach = layout.reach;
            let windows = (bytes, corners);
            // SAFETY: `Kernels` holds this only if the CPU has AVX-512BW, VL and VNNI.
            return unsafe {
                match &layout.cells {
                    QuadCells::Shared(offsets) => {
                        avx512::sums(how, windows, Shared { offsets, reach }, block, out);
                    }
                    QuadCells::Gather(offsets) => match (&layout.columns, how) {
                        (Some(columns), ByteSums::Only | ByteSums::Bounded(_)) => {
                            avx512::column_sums(how, windows, columns, block, out);
                        }
                        _ => avx512::sums(how, windows, Gather { offsets, reach }, block, out),
                    },
                }
            };
        }
        unreachable!("sums of bytes are requested only with vector instructions for them")
    }

    /// Computes exact sums of two blocks at the same windows, in which all lanes read shared cells. Requires
    /// [`Self::sums_bytes`].
    pub fn sum_bytes_of_two(
        self,
        windows: (&[u8], &[usize]),
        layout: &QuadLayout,
        blocks: [&ByteBlock; 2],
        out: [&mut [Walked]; 2],
    ) {
        #[cfg(target_arch = "x86_64")]
        if let (Isa::Avx512Vnni, QuadCells::Shared(offsets)) = (self.isa, &layout.cells) {
            let source = Shared { offsets, reach: layout.reach };
            // SAFETY: `Kernels` holds this only if the CPU has AVX-512BW, VL and VNNI.
            return unsafe { avx512::sums_of_two(windows, source, blocks, out) };
        }
        unreachable!("sums of bytes are requested only with vector instructions for them")
    }

    /// Sorts every lane in ascending order.
    pub fn sort(self, rows: &mut [Vector<i16>]) {
        match self.isa {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Kernels` holds these only if the CPU has AVX2, which AVX-512 implies.
            Isa::Avx2 | Isa::Avx512 | Isa::Avx512Vnni => unsafe { avx2::sort(rows) },
            _ => kernels::sort(rows),
        }
    }

    kernel! {
        /// Runs [`kernels::operands`].
        operands [] []
        (bytes: &[u8], origin: i32, out: &mut Vec<i16>)
        kernels::operands(bytes, origin, out)
    }

    kernel! {
        /// Runs [`kernels::magnitudes`].
        magnitudes [] []
        (bytes: &[u8], origin: i32, out: &mut Vec<u8>)
        kernels::magnitudes(bytes, origin, out)
    }

    kernel! {
        /// Runs [`kernels::squares`].
        squares [] []
        (bytes: &[u8], origin: i32, channels: usize, out: &mut Vec<u32>)
        kernels::squares(bytes, origin, channels, out)
    }

    kernel! {
        /// Runs [`kernels::pairs`].
        pairs [] []
        (bytes: &[u8], distance: usize, origin: i32, out: &mut Vec<u32>)
        kernels::pairs(bytes, distance, origin, out)
    }

    kernel! {
        /// Runs [`Plane::codes`].
        plane [] []
        (plane: Plane, a: &[u8], b: &[u8], out: &mut [u8])
        plane.codes(a, b, out)
    }

    kernel! {
        /// Runs [`kernels::compare`].
        compare [C: Code] [C]
        (exact: &[C], simulated: &[C], mismatches: &mut [u32], noise: &mut u64)
        kernels::compare(exact, simulated, mismatches, noise)
    }

    kernel! {
        /// Runs [`kernels::signal`].
        signal [C: Code] [C]
        (codes: &[C], zero_point: C, signal: &mut u64)
        kernels::signal(codes, zero_point, signal)
    }

    /// Runs [`kernels::sum_runs`].
    pub fn sum_runs<X: VectorActivations>(self, x: X, weights: &[Pair], pairs: usize, out: &mut [Walked]) {
        match self.isa {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Kernels` holds these only if the CPU has AVX2, which AVX-512 implies.
            Isa::Avx2 | Isa::Avx512 | Isa::Avx512Vnni => unsafe { avx2::sum_runs(x, weights, pairs, out) },
            _ => kernels::sum_runs(x, weights, pairs, out),
        }
    }

    /// Runs [`kernels::sum`] for every pixel of a tile.
    pub fn sum<X: VectorActivations, const BOUNDED: bool>(
        self,
        x: &[X],
        weights: &[Pair],
        start: &Lanes,
        out: &mut [Walked],
    ) {
        match self.isa {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Kernels` holds these only if the CPU has AVX2, which AVX-512 implies.
            Isa::Avx2 | Isa::Avx512 | Isa::Avx512Vnni => unsafe {
                avx2::sum_tile::<X, BOUNDED>(x, weights, start, out)
            },
            _ => in_chunks!(x, out, [2, 1], |x, out| kernels::sum::<_, _, BOUNDED>(x, weights, start, out)),
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) use Activations as VectorActivations;
#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::VectorActivations;
