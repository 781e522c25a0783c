//! Kernels that count the results of tiles.

use super::super::kernels::{
    self, ErrorCounters, LANES, Lanes, LevelCounters, Rails, Stepped, Walked, WidthCounts,
};
use super::super::places::log::Log;
use super::super::places::schedule::{Places, Schedule};
use super::Kernels;
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};
use crate::options::Isa;

/// Stores the named counts of a local copy. The compiler keeps them in registers in a loop over pixels, and
/// copies no others.
macro_rules! keep {
    ($counts:ident in $counters:ident: $($field:ident),+) => {
        LevelCounters { $($field: $counters.$field,)+ .. } = $counts
    };
}

impl Kernels {
    /// Runs [`kernels::misfits`] for every pixel of a tile.
    pub fn misfits(self, walked: &[Walked], rails: Rails, out: &mut [usize]) {
        match self.isa {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Kernels` holds these only if the CPU has AVX-512BW and VL, and POPCNT.
            Isa::Avx512 | Isa::Avx512Vnni => unsafe { avx512::misfits(walked, rails, out) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Kernels` holds this only if the CPU has AVX2.
            Isa::Avx2 => unsafe { avx2::misfits(walked, rails, out) },
            _ => self.misfits_on_lanes(walked, rails, out),
        }
    }

    kernel! {
        /// Runs [`kernels::misfits`] for every pixel of a tile.
        misfits_on_lanes [] []
        (walked: &[Walked], rails: Rails, out: &mut [usize])
        for (walked, out) in walked.iter().zip(out) {
            *out = kernels::misfits(walked, rails);
        }
    }

    kernel! {
        /// Runs [`kernels::count_errors`] for some pixels of a tile.
        count_errors [] []
        (counters: &mut ErrorCounters, pixels: &[usize], stepped: &[Stepped], walked: &[Walked], codes: [&[Lanes]; 2])
        {
            let mut counts = counters.clone();
            for ((&at, stepped), code) in pixels.iter().zip(stepped).zip(codes[0]) {
                kernels::count_errors(&mut counts, &stepped.value, &walked[at].sum, code, &codes[1][at]);
            }
            *counters = counts;
        }
    }

    kernel! {
        /// Runs [`kernels::count_events`] for some pixels of a tile.
        count_events [] []
        (counters: &mut LevelCounters, pixels: &[usize], stepped: &[Stepped], walked: &[Walked], held: (i32, i32))
        {
            let mut counts = *counters;
            for (&at, stepped) in pixels.iter().zip(stepped) {
                kernels::count_events(&mut counts, stepped, &walked[at].sum, held.0, held.1);
            }
            keep!(counts in counters: events_high, events_low, touched, persistent);
        }
    }

    kernel! {
        /// Runs [`kernels::count_transient`] for some pixels of a tile.
        count_transient [] []
        (counters: &mut LevelCounters, pixels: &[usize], walked: &[Walked], held: (i32, i32))
        {
            let mut counts = *counters;
            for &at in pixels {
                kernels::count_transient(&mut counts, &walked[at], held.0, held.1);
            }
            keep!(counts in counters: transient);
        }
    }

    /// Runs [`kernels::take_extremes`] for every pixel of a tile.
    pub fn take_extremes(self, counters: &mut LevelCounters, walked: &[Walked]) {
        match self.isa {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Kernels` holds these only if the CPU has AVX-512BW and VL.
            Isa::Avx512 | Isa::Avx512Vnni => unsafe { avx512::take_extremes(counters, walked) },
            _ => self.take_extremes_on_lanes(counters, walked),
        }
    }

    kernel! {
        /// Runs [`kernels::take_extremes`] for every pixel of a tile.
        take_extremes_on_lanes [] []
        (counters: &mut LevelCounters, walked: &[Walked])
        walked.iter().for_each(|walked| kernels::take_extremes(counters, walked))
    }

    kernel! {
        /// Runs [`kernels::required`].
        required [] []
        (extremes: [(&Lanes, &Lanes); 2], widths: &mut [[u8; LANES]; 2])
        kernels::required(extremes, widths)
    }

    kernel! {
        /// Runs [`kernels::count_widths`].
        count_widths [] []
        (counts: &mut [WidthCounts; 2], walked: &[Walked], lanes: usize)
        kernels::count_widths(counts, walked, lanes)
    }

    /// Runs [`Schedule::count`] for some pixels of a tile, given by their sites.
    pub fn count_places(
        self,
        schedule: &Schedule,
        sites: &[usize],
        stepped: &[Stepped],
        log: &Log,
        places: &mut Places<'_>,
    ) {
        match self.isa {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Kernels` holds these only if the CPU has AVX-512BW and VL.
            Isa::Avx512 | Isa::Avx512Vnni => unsafe {
                avx512::count_places(schedule, sites, stepped, log, places)
            },
            _ => self.count_places_on_lanes(schedule, sites, stepped, log, places),
        }
    }

    kernel! {
        /// Runs [`Schedule::count`] for some pixels of a tile, given by their sites.
        count_places_on_lanes [] []
        (schedule: &Schedule, sites: &[usize], stepped: &[Stepped], log: &Log, places: &mut Places<'_>)
        for (slot, (&site, stepped)) in sites.iter().zip(stepped).enumerate() {
            schedule.count(site, stepped, log.of(slot), places);
        }
    }
}
