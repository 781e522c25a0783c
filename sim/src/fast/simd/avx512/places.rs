//! When and where the events of a tile happen.

use std::arch::x86_64::*;

use super::super::super::kernels::{Aligned, LANES, Lanes, Stepped};
use super::super::super::log::Log;
use super::super::super::schedule::{Elements, Places, Schedule, Site};
use super::{load, store};

/// Counts the events of some pixels, given by their sites: see [`Schedule::count`].
///
/// # Panics
/// If `log` has no such pixel, or `places` no such place.
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
        let lanes = first_lanes(site.count.into());
        let (mut before, mut parts) = (_mm512_setzero_si512(), &site.begin);
        for (turn, until) in schedule.turns(index).iter().zip(log.of(slot)) {
            let until = load(until);
            count_part(places.timeline, parts, lanes, _mm512_sub_epi32(until, before));
            (before, parts) = (until, &turn.parts);
        }
        count_part(places.timeline, parts, lanes, _mm512_sub_epi32(total, before));
        count_elements(schedule, site, total, places.heat_map);
    }
}

/// The lowest `count` bits, of sixteen.
fn first_lanes(count: usize) -> __mmask16 {
    ((1u32 << count) - 1) as __mmask16
}

/// Adds the events of `lanes` to the parts of the layer's time that each is in.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
fn count_part(timeline: &mut [Aligned<Lanes>], parts: &[u8; LANES], lanes: __mmask16, events: __m512i) {
    // SAFETY: sixteen bytes; the load takes any alignment.
    let each = unsafe { _mm_loadu_si128(parts.as_ptr().cast()) };
    // Mostly few lanes have any, and those next to each other are in the same part.
    let mut left = _mm512_mask_test_epi32_mask(lanes, events, events);
    while left != 0 {
        let part = parts[left.trailing_zeros() as usize];
        let here = _mm_mask_cmpeq_epi8_mask(left, each, _mm_set1_epi8(part as i8));
        let all = &mut timeline[usize::from(part)];
        let before = load(all);
        store(all, _mm512_mask_add_epi32(before, here, before, events));
        left &= !here;
    }
}

/// Adds the events of a site to its processing elements.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
fn count_elements(schedule: &Schedule, site: &Site, events: __m512i, heat_map: &mut [u64]) {
    let count = usize::from(site.count);
    match site.elements {
        Elements::From(first) => {
            let elements = heat_map[first as usize..][..count].as_mut_ptr();
            let lanes = first_lanes(count);
            let halves = [_mm512_castsi512_si256(events), _mm512_extracti64x4_epi64::<1>(events)];
            for (half, events) in halves.into_iter().enumerate() {
                let lanes = (lanes >> (half * LANES / 2)) as __mmask8;
                // SAFETY: lanes that are not there are neither read nor written.
                unsafe {
                    let elements = elements.wrapping_add(half * LANES / 2).cast();
                    let before = _mm512_maskz_loadu_epi64(lanes, elements);
                    let after = _mm512_add_epi64(before, _mm512_cvtepu32_epi64(events));
                    _mm512_mask_storeu_epi64(elements, lanes, after);
                }
            }
        }
        Elements::Listed(list) => {
            let mut lanes = [0; LANES];
            store(&mut lanes, events);
            let elements = &schedule.listed(list)[..count];
            let mut left = _mm512_mask_test_epi32_mask(first_lanes(count), events, events);
            while left != 0 {
                let lane = left.trailing_zeros() as usize;
                heat_map[elements[lane] as usize] += lanes[lane] as u64;
                left &= left - 1;
            }
        }
    }
}
