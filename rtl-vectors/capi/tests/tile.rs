//! Tiles, copies and restored states through the C functions.
#![allow(unsafe_code)]

use std::ffi::CString;

use guardbit_capi::*;
use proptest::prelude::*;

const TERMS: usize = 6;

/// Opens the unit of an accelerator with dot products of [`TERMS`] products.
fn open(hw: &str) -> i32 {
    let [hw, int8] = [hw, "int8"].map(|text| CString::new(text).unwrap());
    // SAFETY: the strings outlive the call.
    let model =
        unsafe { guardbit_open_accelerator(hw.as_ptr(), TERMS as i32, int8.as_ptr(), 0, int8.as_ptr(), 0) };
    assert!(model > 0);
    model
}

fn step(model: i32, a: i32, w: i32) -> i32 {
    // SAFETY: both point to a value.
    unsafe { guardbit_step(model, &a, &w, 1) }
}

fn tile_step(tile: i32, a: &[i32], w: &[i32]) -> i32 {
    // SAFETY: the slices hold a value per row and per column of the tiles of these tests.
    unsafe { guardbit_tile_step(tile, a.as_ptr(), w.as_ptr(), 1) }
}

/// Returns everything that is visible of a unit.
fn seen(model: i32) -> (Vec<i64>, Vec<i32>, i32) {
    let (mut acc, mut exact_acc, mut exact, mut sum) = (0, 0, 0, 0);
    // SAFETY: all point to a value.
    let found = unsafe {
        assert_eq!(guardbit_get_acc(model, 0, &mut acc), GUARDBIT_OK);
        assert_eq!(guardbit_get_exact_acc(model, 0, &mut exact_acc), GUARDBIT_OK);
        assert_eq!(guardbit_get_exact(model, &mut exact), GUARDBIT_OK);
        guardbit_get_sum(model, &mut sum)
    };
    (
        vec![acc, exact_acc, exact, sum],
        vec![guardbit_get_flags(model, 0), guardbit_get_updated(model, 0)],
        found,
    )
}

proptest! {
    /// Every unit of a tile holds what a unit of its own holds, with its own bias.
    #[test]
    fn units_of_a_tile_are_units(
        hw in prop::sample::select(vec!["fpga-int14-os", "fpga-int14-os-wrap"]),
        rows in 1i32..4,
        cols in 1i32..4,
        beats in prop::collection::vec(prop::collection::vec(prop::sample::select(vec![-128, -1, 0, 3, 127]), 6), 1..20),
    ) {
        let base = open(hw);
        let tile = guardbit_open_tile(base, rows, cols);
        prop_assert!(tile > 0);
        let places: Vec<_> = (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col))).collect();
        let units: Vec<_> = places.iter().map(|&(row, col)| (guardbit_tile_unit(tile, row, col), guardbit_copy(base))).collect();
        for (index, &(unit, own)) in units.iter().enumerate() {
            prop_assert_eq!([unit, own].map(|model| guardbit_set_bias(model, index as i64 * 1000)), [GUARDBIT_OK; 2]);
        }
        for beat in &beats {
            let (a, w) = beat.split_at(3);
            prop_assert_eq!(tile_step(tile, a, w), GUARDBIT_OK);
            for (&(row, col), &(unit, own)) in places.iter().zip(&units) {
                prop_assert_eq!(step(own, a[row as usize], w[col as usize]), GUARDBIT_OK);
                prop_assert_eq!(seen(unit), seen(own), "{} {}", row, col);
            }
        }
        units.iter().for_each(|&(_, own)| assert_eq!(guardbit_close(own), GUARDBIT_OK));
        prop_assert_eq!([base, tile].map(|model| guardbit_close(model)), [GUARDBIT_OK; 2]);
        prop_assert_eq!(guardbit_close(units[0].0), GUARDBIT_E_HANDLE, "units are closed with their tile");
    }

    /// A restored model continues as from the copy, whatever it did in between.
    #[test]
    fn a_restored_model_continues_from_the_copy(
        before in prop::collection::vec((-128..=127, -128..=127), 0..10),
        between in prop::collection::vec((-128..=127, -128..=127), 0..10),
        after in prop::collection::vec((-128..=127, -128..=127), 1..10),
    ) {
        let model = open("fpga-int14-os");
        let run = |beats: &[(i32, i32)]| -> Vec<_> {
            let one = |&(a, w): &(i32, i32)| { assert_eq!(step(model, a, w), GUARDBIT_OK); seen(model) };
            beats.iter().map(one).collect()
        };
        run(&before);
        let saved = guardbit_copy(model);
        let first = run(&after);
        run(&between);
        prop_assert_eq!(guardbit_restore(model, saved), GUARDBIT_OK);
        prop_assert_eq!(run(&after), first);
        prop_assert_eq!([model, saved].map(|model| guardbit_close(model)), [GUARDBIT_OK; 2]);
    }
}

/// A step that one unit does not accept moves none; other requests that make no sense are errors.
#[test]
fn refused_steps_move_nothing() {
    let base = open("fpga-int14-os");
    let tile = guardbit_open_tile(base, 2, 2);
    assert_eq!(tile_step(tile, &[100, 100], &[100, 100]), GUARDBIT_OK);
    let units = [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(row, col)| guardbit_tile_unit(tile, row, col));
    let before = units.map(seen);
    assert_eq!(tile_step(tile, &[100, 100], &[100, 1000]), GUARDBIT_E_BEAT, "1000 is no int8");
    assert_eq!(units.map(seen), before);
    for _ in 1..TERMS {
        assert_eq!(step(units[3], 1, 1), GUARDBIT_OK);
    }
    for (rows, cols) in [(0, 1), (1, 0), (-1, 2), (i32::MAX, i32::MAX), (2000, 2000)] {
        assert_eq!(guardbit_open_tile(base, rows, cols), GUARDBIT_E_PARAMETER, "{rows} x {cols}");
    }
    for (row, col) in [(2, 0), (0, 2), (-1, 0)] {
        assert_eq!(guardbit_tile_unit(tile, row, col), GUARDBIT_E_PARAMETER);
    }
    assert_eq!(guardbit_open_tile(tile, 1, 1), GUARDBIT_E_HANDLE, "a tile is no model");
    assert_eq!(guardbit_restore(base, 1 << 20), GUARDBIT_E_HANDLE);
    assert_eq!(guardbit_copy(-1), GUARDBIT_E_HANDLE);
    assert_eq!(guardbit_close(units[0]), GUARDBIT_OK);
    assert_eq!(tile_step(tile, &[1, 1], &[1, 1]), GUARDBIT_E_HANDLE, "a unit is closed");
    // SAFETY: null pointers are refused.
    let null = unsafe { guardbit_tile_step(tile, std::ptr::null(), std::ptr::null(), 1) };
    assert_eq!(null, GUARDBIT_E_HANDLE);
    assert_eq!([tile, base].map(|model| guardbit_close(model)), [GUARDBIT_OK; 2]);
}
