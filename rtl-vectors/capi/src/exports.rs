//! C functions of the golden model. cbindgen generates `include/guardbit.h` from this file.
#![allow(unsafe_code)]

use std::ffi::c_char;
use std::path::Path;

use guardbit_rtl_vectors::{GoldenModel, LayerParameters, LevelState};

use crate::error::{Failure, last};
use crate::models::{add, add_tile, copy, guarded, remove, tile, with, with_units};
use crate::pointers::{slice, text, write};

/// Version of this interface; it changes whenever a function does.
pub const GUARDBIT_ABI: i32 = 2;
/// Maximum number of products of a tile: those of a dot product, times the units.
pub const GUARDBIT_MAX_TILE: i32 = 4194304;

/// Success.
pub const GUARDBIT_OK: i32 = 0;
/// A pointer is null.
pub const GUARDBIT_E_NULL: i32 = -1;
/// The model does not exist: it was never opened, or was closed.
pub const GUARDBIT_E_HANDLE: i32 = -2;
/// A value is not allowed.
pub const GUARDBIT_E_PARAMETER: i32 = -3;
/// The bundle is not usable, or bundles do not support this datapath.
pub const GUARDBIT_E_BUNDLE: i32 = -4;
/// The accelerator does not exist, or cannot run the layer.
pub const GUARDBIT_E_ACCELERATOR: i32 = -5;
/// The interface does not allow this beat; the model has not moved.
pub const GUARDBIT_E_BEAT: i32 = -6;
/// Another call is required before.
pub const GUARDBIT_E_STATE: i32 = -7;
/// Internal error of guardbit; the model is closed.
pub const GUARDBIT_E_INTERNAL: i32 = -8;

/// Flag of a level: an exact result did not fit.
pub const GUARDBIT_OVERFLOW: i32 = 1;
/// Flag of a level: the result was above the range.
pub const GUARDBIT_HIGH: i32 = 2;
/// Flag of a level: the result was below the range.
pub const GUARDBIT_LOW: i32 = 4;
/// Flag of a level: this run had an overflow.
pub const GUARDBIT_STICKY: i32 = 8;

/// Returns the version of the library's interface, to be compared with GUARDBIT_ABI.
#[unsafe(no_mangle)]
pub extern "C" fn guardbit_abi() -> i32 {
    GUARDBIT_ABI
}

/// Returns the message of this thread's last error. The text is valid until the next call that fails.
#[unsafe(no_mangle)]
pub extern "C" fn guardbit_error() -> *const c_char {
    last(|text| text.as_ptr())
}

/// Opens the MAC unit of a bundle, the folder that `guardbit vectors` wrote.
///
/// Returns the model's number, above 0, or an error code.
///
/// # Safety
/// `dir` is null or a string that ends with NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn guardbit_open_bundle(dir: *const c_char) -> i32 {
    guarded(|| {
        // SAFETY: see above.
        let dir = unsafe { text("dir", dir) }?;
        add(GoldenModel::from_bundle(Path::new(dir))?)
    })
}

/// Opens the MAC unit of an accelerator for dot products of `terms` products.
///
/// `accelerator` is a preset's name, the path of a YAML file, or its text (with at least one line break).
/// Types of codes are "int4", "uint4", "int8", "uint8", "int16" (activations) and so on. Returns the model's
/// number, above 0, or an error code.
///
/// # Safety
/// Every pointer is null or a string that ends with NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn guardbit_open_accelerator(
    accelerator: *const c_char,
    terms: i32,
    activation_type: *const c_char,
    activation_zero_point: i32,
    weight_type: *const c_char,
    weight_zero_point: i32,
) -> i32 {
    guarded(|| {
        // SAFETY: see above.
        let [accelerator, activation, weight] = unsafe {
            [
                text("accelerator", accelerator)?,
                text("activation_type", activation_type)?,
                text("weight_type", weight_type)?,
            ]
        };
        let dtype = |name: &str| name.parse().map_err(|e| Failure::new(GUARDBIT_E_PARAMETER, format!("{e}")));
        let parameters = LayerParameters {
            terms: usize::try_from(terms).unwrap_or(0),
            activation: dtype(activation)?,
            activation_zero_point,
            weight: dtype(weight)?,
            weight_zero_point,
        };
        add(GoldenModel::from_accelerator(accelerator, &parameters)?)
    })
}

/// Opens a copy of a model with its current state: registers, and the dot product in progress. Returns the copy's
/// number, above 0, or an error code.
#[unsafe(no_mangle)]
pub extern "C" fn guardbit_copy(model: i32) -> i32 {
    guarded(|| add(copy(model)?))
}

/// Gives a model the state and the settings of another one, for example of an earlier copy, which stays open.
#[unsafe(no_mangle)]
pub extern "C" fn guardbit_restore(model: i32, from: i32) -> i32 {
    guarded(|| {
        let saved = copy(from)?;
        Ok(with(model, |m| {
            *m = saved;
            Ok(GUARDBIT_OK)
        }))
    })
}

/// Opens a tile of an array: `rows` times `cols` copies of a model, with its state and settings. Units of one row share
/// their activations, units of one column their weights. Returns the tile's number, above 0, or an error code. guardbit_close
/// closes a tile with its units.
#[unsafe(no_mangle)]
pub extern "C" fn guardbit_open_tile(model: i32, rows: i32, cols: i32) -> i32 {
    guarded(|| {
        let sizes = [rows, cols].map(|size| usize::try_from(size).unwrap_or(0));
        let products = sizes.iter().try_fold(copy(model)?.terms(), |all, &size| all.checked_mul(size));
        if products.is_none_or(|products| products == 0 || products > GUARDBIT_MAX_TILE as usize) {
            let problem = format!(
                "a tile of {rows} x {cols} units; expected at least 1 x 1, and at most {GUARDBIT_MAX_TILE} products in \
                 all dot products"
            );
            return Err(Failure::new(GUARDBIT_E_PARAMETER, problem));
        }
        add_tile(model, sizes[0], sizes[1])
    })
}

/// Returns the number of a tile's unit. It is a model as any other: its bias can be set, and its registers read.
#[unsafe(no_mangle)]
pub extern "C" fn guardbit_tile_unit(tile_number: i32, row: i32, col: i32) -> i32 {
    guarded(|| {
        let tile = tile(tile_number)?;
        let [row, col] = [row, col].map(|index| usize::try_from(index).unwrap_or(usize::MAX));
        match row < tile.rows && col < tile.cols {
            true => Ok(tile.units[row * tile.cols + col]),
            false => {
                let problem = format!("the tile has {} x {} units", tile.rows, tile.cols);
                Err(Failure::new(GUARDBIT_E_PARAMETER, problem))
            }
        }
    })
}

/// Runs one beat of every unit of a tile. `activations` holds `count` values per row, and `weights` `count` values per
/// column, one row or column after the other; `count` is as for guardbit_step. The tile has no skew: after step k, every unit
/// holds its sum of k beats. If a unit does not accept the beat, none moves.
///
/// # Safety
/// `activations` is null or points to `count` values per row, `weights` to `count` values per column.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn guardbit_tile_step(
    tile_number: i32,
    activations: *const i32,
    weights: *const i32,
    count: i32,
) -> i32 {
    guarded(|| {
        let tile = tile(tile_number)?;
        with_units(&tile, |units| {
            let mut length = 0;
            for unit in &*units {
                length = unit.check_count(count.into())?;
            }
            // SAFETY: see above.
            let [activations, weights] = unsafe {
                [
                    slice("activations", activations, length * tile.rows)?,
                    slice("weights", weights, length * tile.cols)?,
                ]
            };
            let wide = |values: &[i32]| values.iter().map(|&value| value.into()).collect::<Vec<i64>>();
            let [activations, weights] = [wide(activations), wide(weights)];
            let operands = |index: usize| {
                let [row, col] = [index / tile.cols, index % tile.cols].map(|at| at * length);
                (&activations[row..row + length], &weights[col..col + length])
            };
            for (index, unit) in units.iter().enumerate() {
                let (a, w) = operands(index);
                unit.check_operands(a, w)?;
            }
            for (index, unit) in units.iter_mut().enumerate() {
                let (a, w) = operands(index);
                unit.step(a, w)?;
            }
            Ok(GUARDBIT_OK)
        })
    })
}

/// Closes a model. Its number is not used again.
#[unsafe(no_mangle)]
pub extern "C" fn guardbit_close(model: i32) -> i32 {
    guarded(|| remove(model).map(|()| GUARDBIT_OK))
}

/// Returns the number of accumulation levels.
#[unsafe(no_mangle)]
pub extern "C" fn guardbit_levels(model: i32) -> i32 {
    with(model, |m| count(m.arithmetic().levels.len()))
}

/// Returns the number of products per beat.
#[unsafe(no_mangle)]
pub extern "C" fn guardbit_lanes(model: i32) -> i32 {
    with(model, |m| count(m.interface().lanes))
}

/// Returns the number of products per dot product.
#[unsafe(no_mangle)]
pub extern "C" fn guardbit_terms(model: i32) -> i32 {
    with(model, |m| count(m.terms()))
}

/// Resets the model: registers are 0, no dot product is in progress. Bias, multiplier and output settings are
/// kept.
#[unsafe(no_mangle)]
pub extern "C" fn guardbit_reset(model: i32) -> i32 {
    with(model, |m| {
        m.reset();
        Ok(GUARDBIT_OK)
    })
}

/// Makes the next guardbit_step begin a dot product, even if the previous one is unfinished. Registers hold.
#[unsafe(no_mangle)]
pub extern "C" fn guardbit_clear(model: i32) -> i32 {
    with(model, |m| {
        m.restart();
        Ok(GUARDBIT_OK)
    })
}

/// Sets the bias, in the unit of the place where it is added, as on in_bias. A preloaded bias takes effect
/// when its level starts a run, any other when the dot product ends. A bias that does not fit the port is an error.
#[unsafe(no_mangle)]
pub extern "C" fn guardbit_set_bias(model: i32, bias: i64) -> i32 {
    with(model, |m| Ok(m.set_bias(bias).map(|()| GUARDBIT_OK)?))
}

/// Sets the real multiplier of the requantization, for sums at unit 1.
#[unsafe(no_mangle)]
pub extern "C" fn guardbit_set_multiplier(model: i32, multiplier: f64) -> i32 {
    with(model, |m| Ok(m.set_multiplier(multiplier).map(|()| GUARDBIT_OK)?))
}

/// Sets the multiplier in the form of the ports in_mult and in_exp.
#[unsafe(no_mangle)]
pub extern "C" fn guardbit_set_multiplier_ports(model: i32, mult: i64, exponent: i32) -> i32 {
    with(model, |m| Ok(m.set_multiplier_ports(mult, exponent).map(|()| GUARDBIT_OK)?))
}

/// Sets zero point and clamp of the output code. A bundle defines them already.
#[unsafe(no_mangle)]
pub extern "C" fn guardbit_set_output(model: i32, zero_point: i32, min: i32, max: i32) -> i32 {
    with(model, |m| Ok(m.set_output(zero_point, min, max).map(|()| GUARDBIT_OK)?))
}

/// Runs one beat of plain integers: `count` products, equal to the number of lanes (in the last beat of a dot
/// product: the remaining products). Operands are those at the multiplier. Runs and dot products end as the
/// datapath defines.
///
/// # Safety
/// `activations` and `weights` are null or point to `count` values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn guardbit_step(
    model: i32,
    activations: *const i32,
    weights: *const i32,
    count: i32,
) -> i32 {
    with(model, |m| {
        // Check the count before any value is read: an unacceptable count is an error, whatever the pointers
        // hold.
        let length = m.check_count(count.into())?;
        // SAFETY: see above.
        let operands =
            unsafe { [slice("activations", activations, length)?, slice("weights", weights, length)?] };
        let [activations, weights] = operands.map(|o| o.iter().map(|&v| v.into()).collect::<Vec<i64>>());
        Ok(m.step(&activations, &weights).map(|()| GUARDBIT_OK)?)
    })
}

/// Runs one clock cycle of packed words in the format of ctrl, stim_a and stim_w and of `bit` vectors in
/// DPI-C: 32 bits per limb, the least significant first. Without the valid bit of the control word nothing
/// happens. Bits above a word are ignored, and limbs above it are not read.
///
/// # Safety
/// Every pointer is null or points to the stated number of limbs, or to the limbs of the word if more are
/// stated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn guardbit_step_words(
    model: i32,
    ctrl: *const u32,
    ctrl_limbs: i32,
    activations: *const u32,
    activation_limbs: i32,
    weights: *const u32,
    weight_limbs: i32,
) -> i32 {
    with(model, |m| {
        let counts = [ctrl_limbs, activation_limbs, weight_limbs];
        let [for_ctrl, for_activations, for_weights] = m.check_limbs(counts.map(i64::from))?;
        // SAFETY: see above; nothing after the word is read.
        let [ctrl, activations, weights] = unsafe {
            [
                slice("ctrl", ctrl, for_ctrl)?,
                slice("activations", activations, for_activations)?,
                slice("weights", weights, for_weights)?,
            ]
        };
        Ok(m.step_words(ctrl, activations, weights).map(|()| GUARDBIT_OK)?)
    })
}

/// Writes the visible value of level `level` (0: innermost): its register, or for a tree the value handed
/// over.
///
/// # Safety
/// `acc` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn guardbit_get_acc(model: i32, level: i32, acc: *mut i64) -> i32 {
    with(model, |m| {
        let state = state(m, level)?;
        // SAFETY: see above.
        unsafe { write("acc", acc, state.acc) }.map(|()| GUARDBIT_OK)
    })
}

/// Writes the visible value of level `level` with unlimited widths, in its own unit.
///
/// # Safety
/// `exact` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn guardbit_get_exact_acc(model: i32, level: i32, exact: *mut i64) -> i32 {
    with(model, |m| {
        let state = state(m, level)?;
        // SAFETY: see above.
        unsafe { write("exact", exact, state.exact) }.map(|()| GUARDBIT_OK)
    })
}

/// Returns the flags of the last addition of level `level`: GUARDBIT_OVERFLOW, _HIGH, _LOW, _STICKY, or an
/// error code.
#[unsafe(no_mangle)]
pub extern "C" fn guardbit_get_flags(model: i32, level: i32) -> i32 {
    with(model, |m| {
        let s = state(m, level)?;
        let flag = |on: bool, bit: i32| if on { bit } else { 0 };
        Ok(flag(s.high || s.low, GUARDBIT_OVERFLOW)
            | flag(s.high, GUARDBIT_HIGH)
            | flag(s.low, GUARDBIT_LOW)
            | flag(s.sticky, GUARDBIT_STICKY))
    })
}

/// Returns 1 if level `level` added in the last beat, 0 if it held, or an error code.
#[unsafe(no_mangle)]
pub extern "C" fn guardbit_get_updated(model: i32, level: i32) -> i32 {
    with(model, |m| Ok(state(m, level)?.updated.into()))
}

/// Writes the exact sum of the dot product so far, at unit 1, including a preloaded bias.
///
/// # Safety
/// `exact` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn guardbit_get_exact(model: i32, exact: *mut i64) -> i32 {
    with(model, |m| {
        let value = i64::try_from(m.exact())
            .map_err(|_| Failure::new(GUARDBIT_E_STATE, "the exact sum does not fit 64 bits"))?;
        // SAFETY: see above.
        unsafe { write("exact", exact, value) }.map(|()| GUARDBIT_OK)
    })
}

/// Returns 1 if the last beat ended a dot product, and writes the sum that the last level delivered;
/// otherwise returns 0.
///
/// # Safety
/// `sum` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn guardbit_get_sum(model: i32, sum: *mut i64) -> i32 {
    with(model, |m| match m.sum() {
        None => Ok(0),
        // SAFETY: see above.
        Some(value) => unsafe { write("sum", sum, value) }.map(|()| 1),
    })
}

/// Returns 1 if the last beat ended a dot product, and writes the output code; otherwise returns 0.
///
/// # Safety
/// `code` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn guardbit_get_code(model: i32, code: *mut i32) -> i32 {
    with(model, |m| match m.code()? {
        None => Ok(0),
        // SAFETY: see above.
        Some(value) => unsafe { write("code", code, value) }.map(|()| 1),
    })
}

fn state(model: &GoldenModel, level: i32) -> Result<LevelState, Failure> {
    let found = usize::try_from(level).ok().and_then(|index| model.level(index));
    let levels = model.arithmetic().levels.len();
    found.ok_or_else(|| {
        Failure::new(GUARDBIT_E_PARAMETER, format!("unknown level {level}: the unit has {levels} levels"))
    })
}

fn count(value: usize) -> Result<i32, Failure> {
    i32::try_from(value).map_err(|_| Failure::new(GUARDBIT_E_INTERNAL, "more than 31 bits"))
}
