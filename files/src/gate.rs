//! The end by a signal: operations on files stop between one and the next, and what is unfinished is removed.

use std::cell::Cell;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard};

use crate::{ops, unfinished};

/// Closed for ever by [`interrupt`].
static GATE: RwLock<()> = RwLock::new(());
/// What has to be tidied up, oldest first.
static OPEN: Mutex<Vec<(u64, Open)>> = Mutex::new(Vec::new());

thread_local! {
    /// Whether this thread tidies up behind the closed gate.
    static TIDYING: Cell<bool> = const { Cell::new(false) };
}

/// Something that is to be tidied up at the end.
#[derive(Debug, Clone)]
pub(crate) enum Open {
    /// A claimed target: its lock, and what is kept of it.
    Target { lock: PathBuf, kept: String },
    /// A folder that was made for a target below it, which stays if anything is in it.
    Above(PathBuf),
    /// A staging folder and its target.
    Staging { folder: PathBuf, target: PathBuf },
    /// A folder to work in.
    Scratch(PathBuf),
    /// Something else, known by a number.
    Other { act: fn(u32), id: u32 },
}

/// What is to be done when the process is interrupted, as long as this lives.
#[derive(Debug)]
pub struct Registered(u64);

/// Holds the gate open for one operation.
pub(crate) fn enter() -> Option<RwLockReadGuard<'static, ()>> {
    (!TIDYING.get()).then(|| GATE.read().unwrap_or_else(PoisonError::into_inner))
}

/// To be tidied up if the process is interrupted before the result is dropped.
pub(crate) fn register(open: Open) -> Registered {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let id = NEXT.fetch_add(1, Ordering::Relaxed);
    OPEN.lock().unwrap_or_else(PoisonError::into_inner).push((id, open));
    Registered(id)
}

/// Does `act` to `id`, a process that was started, say, if the process is interrupted before the result is dropped.
pub fn at_interrupt(act: fn(u32), id: u32) -> Registered {
    register(Open::Other { act, id })
}

impl Registered {
    /// Changes what is kept of a target.
    pub(crate) fn keeps(&self, text: String) {
        let mut all = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        let own = all.iter_mut().find(|(id, _)| *id == self.0);
        if let Some((_, Open::Target { kept, .. })) = own {
            *kept = text;
        }
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        OPEN.lock().unwrap_or_else(PoisonError::into_inner).retain(|(id, _)| *id != self.0);
    }
}

/// Ends all writing and removes what is unfinished: to be called once, before the process exits. No other thread does
/// anything to files afterwards. Returns what is kept, in words, per target.
pub fn interrupt() -> Vec<String> {
    std::mem::forget(GATE.write().unwrap_or_else(PoisonError::into_inner));
    TIDYING.set(true);
    let mut open = std::mem::take(&mut *OPEN.lock().unwrap_or_else(PoisonError::into_inner));
    let mut kept = Vec::new();
    while let Some((_, last)) = open.pop() {
        // What cannot be removed is left to the next run.
        match last {
            Open::Target { lock, kept: text } => {
                let _ = ops::remove_file(&lock);
                kept.push(text);
            }
            Open::Above(folder) => {
                let _ = ops::remove_dir(&folder);
            }
            Open::Staging { folder, target } => {
                let _ = unfinished::tidy(&folder, &target);
            }
            Open::Other { act, id } => act(id),
            Open::Scratch(folder) => {
                let _ = ops::remove_tree(&folder);
            }
        }
    }
    kept
}
