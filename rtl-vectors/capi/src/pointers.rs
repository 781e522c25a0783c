//! Access through the caller's pointers. This is the only module that dereferences them.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char};

use crate::error::Failure;
use crate::exports::{GUARDBIT_E_NULL, GUARDBIT_E_PARAMETER};

/// Returns the string at `text`.
///
/// # Safety
/// `text` is null, or points to bytes that end with a NUL and live as long as the result.
pub(crate) unsafe fn text<'a>(name: &str, text: *const c_char) -> Result<&'a str, Failure> {
    if text.is_null() {
        return Err(null(name));
    }
    // SAFETY: not null; the caller guarantees the rest.
    let bytes = unsafe { CStr::from_ptr(text) };
    bytes.to_str().map_err(|_| Failure::new(GUARDBIT_E_PARAMETER, format!("`{name}` is not UTF-8")))
}

/// Returns the `count` values at `values`.
///
/// # Safety
/// `values` is null, or points to `count` values that live as long as the result and are not written
/// meanwhile. The caller has checked `count`.
pub(crate) unsafe fn slice<'a, T>(name: &str, values: *const T, count: usize) -> Result<&'a [T], Failure> {
    if values.is_null() {
        return Err(null(name));
    }
    if !values.is_aligned() {
        return Err(Failure::new(GUARDBIT_E_PARAMETER, format!("`{name}` is not aligned")));
    }
    // SAFETY: not null and aligned; the caller guarantees the rest.
    Ok(unsafe { std::slice::from_raw_parts(values, count) })
}

/// Writes a result to `to`.
///
/// # Safety
/// `to` is null, or points to a value that may be written.
pub(crate) unsafe fn write<T>(name: &str, to: *mut T, value: T) -> Result<(), Failure> {
    if to.is_null() {
        return Err(null(name));
    }
    if !to.is_aligned() {
        return Err(Failure::new(GUARDBIT_E_PARAMETER, format!("`{name}` is not aligned")));
    }
    // SAFETY: not null and aligned; the caller guarantees the rest.
    unsafe { to.write(value) };
    Ok(())
}

fn null(name: &str) -> Failure {
    Failure::new(GUARDBIT_E_NULL, format!("`{name}` is null"))
}
