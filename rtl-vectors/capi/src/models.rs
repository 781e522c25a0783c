//! Table of open models by number.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

use guardbit_rtl_vectors::GoldenModel;

use crate::error::{Failure, keep};
use crate::exports::{GUARDBIT_E_HANDLE, GUARDBIT_E_INTERNAL};

struct Models {
    open: BTreeMap<i32, GoldenModel>,
    tiles: BTreeMap<i32, Tile>,
    next: i32,
}

/// Units that share their operands: those of a row the activations, those of a column the weights.
#[derive(Debug, Clone)]
pub(crate) struct Tile {
    pub rows: usize,
    pub cols: usize,
    /// Numbers of the units, row by row.
    pub units: Vec<i32>,
}

static MODELS: Mutex<Models> = Mutex::new(Models { open: BTreeMap::new(), tiles: BTreeMap::new(), next: 1 });

fn models() -> MutexGuard<'static, Models> {
    MODELS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `body` and returns its result or error code. A panic becomes an error code too.
pub(crate) fn guarded(body: impl FnOnce() -> Result<i32, Failure>) -> i32 {
    let result = catch_unwind(AssertUnwindSafe(body));
    let result = result.unwrap_or_else(|_| Err(Failure::new(GUARDBIT_E_INTERNAL, "internal error")));
    result.unwrap_or_else(|failure| keep(&failure))
}

impl Models {
    /// Returns a number that was never used before.
    fn number(&mut self) -> Result<i32, Failure> {
        let number = self.next;
        self.next = number
            .checked_add(1)
            .ok_or_else(|| Failure::new(GUARDBIT_E_INTERNAL, "too many models: no number is left"))?;
        Ok(number)
    }
}

/// Stores `model` and returns its number.
pub(crate) fn add(model: GoldenModel) -> Result<i32, Failure> {
    let mut models = models();
    let number = models.number()?;
    models.open.insert(number, model);
    Ok(number)
}

/// Returns a copy of model `number`.
pub(crate) fn copy(number: i32) -> Result<GoldenModel, Failure> {
    models().open.get(&number).cloned().ok_or_else(|| unknown(number))
}

/// Stores a tile of copies of model `number` and returns the tile's number.
pub(crate) fn add_tile(number: i32, rows: usize, cols: usize) -> Result<i32, Failure> {
    let unit = copy(number)?;
    let mut models = models();
    let mut units = Vec::new();
    for _ in 0..rows * cols {
        let number = models.number()?;
        models.open.insert(number, unit.clone());
        units.push(number);
    }
    let number = models.number()?;
    models.tiles.insert(number, Tile { rows, cols, units });
    Ok(number)
}

/// Returns tile `number`.
pub(crate) fn tile(number: i32) -> Result<Tile, Failure> {
    models().tiles.get(&number).cloned().ok_or_else(|| unknown(number))
}

/// Runs `work` on the units of a tile, in the order of their numbers. After a panic they are closed.
pub(crate) fn with_units(
    tile: &Tile,
    work: impl FnOnce(&mut [GoldenModel]) -> Result<i32, Failure>,
) -> Result<i32, Failure> {
    let mut models = models();
    if let Some(&closed) = tile.units.iter().find(|number| !models.open.contains_key(number)) {
        return Err(unknown(closed));
    }
    let mut units: Vec<_> = tile.units.iter().filter_map(|number| models.open.remove(number)).collect();
    let result = work(&mut units);
    models.open.extend(tile.units.iter().copied().zip(units));
    result
}

/// Closes a model, or a tile with its units.
pub(crate) fn remove(number: i32) -> Result<(), Failure> {
    let mut models = models();
    if let Some(tile) = models.tiles.remove(&number) {
        tile.units.iter().for_each(|unit| drop(models.open.remove(unit)));
        return Ok(());
    }
    models.open.remove(&number).map(drop).ok_or_else(|| unknown(number))
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
