//! Table of open models by number.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

use guardbit_rtl_vectors::GoldenModel;

use crate::error::{Failure, keep};
use crate::exports::{GUARDBIT_E_HANDLE, GUARDBIT_E_INTERNAL};

struct Models {
    open: BTreeMap<i32, GoldenModel>,
    next: i32,
}

static MODELS: Mutex<Models> = Mutex::new(Models { open: BTreeMap::new(), next: 1 });

fn models() -> MutexGuard<'static, Models> {
    MODELS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `body` and returns its result or error code. A panic becomes an error code too.
pub(crate) fn guarded(body: impl FnOnce() -> Result<i32, Failure>) -> i32 {
    let result = catch_unwind(AssertUnwindSafe(body));
    let result = result.unwrap_or_else(|_| Err(Failure::new(GUARDBIT_E_INTERNAL, "internal error")));
    result.unwrap_or_else(|failure| keep(&failure))
}

/// Stores `model` and returns its number, which was never used before.
pub(crate) fn add(model: GoldenModel) -> Result<i32, Failure> {
    let mut models = models();
    let number = models.next;
    models.next = number
        .checked_add(1)
        .ok_or_else(|| Failure::new(GUARDBIT_E_INTERNAL, "too many models: no number is left"))?;
    models.open.insert(number, model);
    Ok(number)
}

/// Closes model `number`.
pub(crate) fn remove(number: i32) -> Result<(), Failure> {
    models().open.remove(&number).map(drop).ok_or_else(|| unknown(number))
}

/// Runs `work` on model `number`. After a panic the model is closed, because its state cannot be trusted.
pub(crate) fn with(number: i32, work: impl FnOnce(&mut GoldenModel) -> Result<i32, Failure>) -> i32 {
    guarded(|| {
        let mut models = models();
        let mut model = models.open.remove(&number).ok_or_else(|| unknown(number))?;
        let result = work(&mut model);
        models.open.insert(number, model);
        result
    })
}

fn unknown(number: i32) -> Failure {
    Failure::new(GUARDBIT_E_HANDLE, format!("model {number} is not open"))
}
