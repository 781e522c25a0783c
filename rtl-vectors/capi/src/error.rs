//! Error codes, and the message of the thread's last error.

use std::cell::RefCell;
use std::ffi::{CStr, CString};

use guardbit_rtl_vectors::GoldenError;

use crate::exports::{
    GUARDBIT_E_ACCELERATOR, GUARDBIT_E_BEAT, GUARDBIT_E_BUNDLE, GUARDBIT_E_PARAMETER, GUARDBIT_E_STATE,
};

/// Error code of `guardbit.h` with its message.
#[derive(Debug)]
pub(crate) struct Failure {
    pub code: i32,
    pub message: String,
}

impl Failure {
    pub fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

impl From<GoldenError> for Failure {
    fn from(error: GoldenError) -> Self {
        let code = match &error {
            GoldenError::Vectors(_) => GUARDBIT_E_BUNDLE,
            GoldenError::Accelerator(_) | GoldenError::Lower(_) => GUARDBIT_E_ACCELERATOR,
            GoldenError::Beat(_) => GUARDBIT_E_BEAT,
            GoldenError::NoMultiplier => GUARDBIT_E_STATE,
            _ => GUARDBIT_E_PARAMETER,
        };
        Self { code, message: error.to_string() }
    }
}

/// Greatest length of a message in bytes. A message may quote a path or name of any length from the caller.
const MOST_BYTES: usize = 2000;

thread_local! {
    static LAST: RefCell<CString> = RefCell::new(CString::default());
}

/// Stores the message as the thread's last error and returns the code.
pub(crate) fn keep(failure: &Failure) -> i32 {
    // A message may quote what the caller passed. Removing NUL bytes makes it a valid C string.
    let whole = failure.message.as_str();
    let shown = &whole[..whole.floor_char_boundary(MOST_BYTES)];
    let end = if shown.len() < whole.len() { "..." } else { "" };
    let text = CString::new(format!("{}{end}", shown.replace('\0', " "))).unwrap_or_default();
    LAST.with(|last| *last.borrow_mut() = text);
    failure.code
}

/// Calls `show` with the message of the thread's last error; empty if there was none.
pub(crate) fn last<R>(show: impl FnOnce(&CStr) -> R) -> R {
    LAST.with(|last| show(&last.borrow()))
}
