//! Counts the time and place of a tile's events.

use std::arch::x86_64::*;

use super::super::super::kernels::{Aligned, LANES, Lanes, Stepped};
use super::super::super::places::log::Log;
use super::super::super::places::schedule::{Places, Schedule};
use super::{load, store};

/// Counts the events of some pixels, given by their sites: see [`Schedule::count`].
///
/// # Panics
/// If `log` does not contain a pixel, or `places` does not contain a place.
#[target_feature(enable = "avx512bw,avx512vl")]
pub(in super::super) fn count_places(
    schedule: &Schedule,
    sites: &[usize],
    stepped: &[Stepped],
    log: &Log,
    places: &mut Places<'_>,
) {
    for (slot, (&index, stepped)) in sites.iter().zip(stepped).enumerate() {
        let total = _mm512_add_epi32(load(&stepped.high), load(&stepped.low));
        if _mm512_test_epi32_mask(total, total) == 0 {
            continue;
        }
        let site = schedule.site(index);
        let mut before = _mm512_setzero_si512();
        let (mut parts, mut together) = (&site.begin, site.together);
        for (turn, until) in schedule.turns(index).iter().zip(log.of(slot)) {
            let until = load(until);
            count_part(places.timeline, parts, together, _mm512_sub_epi32(until, before));
            before = until;
            (parts, together) = (&turn.parts, turn.together);
        }
        count_part(places.timeline, parts, together, _mm512_sub_epi32(total, before));
        add(&mut places.elements[site.elements as usize], total);
    }
}

/// Adds events to the intervals of the layer's time that the lanes are in. With `together`, all lanes are in
/// one interval. Lanes without a dot product have no events.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
fn count_part(timeline: &mut [Aligned<Lanes>], parts: &[u8; LANES], together: bool, events: __m512i) {
    if together {
        return add(&mut timeline[usize::from(parts[0])], events);
    }
    // SAFETY: sixteen bytes; the load takes any alignment.
    let each = unsafe { _mm_loadu_si128(parts.as_ptr().cast()) };
    // Usually few lanes have events, and adjacent ones are in one interval.
    let mut left = _mm512_test_epi32_mask(events, events);
    while left != 0 {
        let part = parts[left.trailing_zeros() as usize];
        let here = _mm_mask_cmpeq_epi8_mask(left, each, _mm_set1_epi8(part as i8));
        add(&mut timeline[usize::from(part)], _mm512_maskz_mov_epi32(here, events));
        left &= !here;
    }
}

#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
fn add(all: &mut Lanes, events: __m512i) {
    store(all, _mm512_add_epi32(load(all), events));
}
