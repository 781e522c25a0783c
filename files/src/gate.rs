//! Signal handling: no file operation starts after an interrupt, and unfinished files are removed.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard};

/// Closed for good by [`interrupt`].
static GATE: RwLock<()> = RwLock::new(());
/// The resources that an interrupt must clean up, oldest first.
static OPEN: Mutex<Vec<(u64, Open)>> = Mutex::new(Vec::new());

thread_local! {
    /// Whether this thread cleans up behind the closed gate.
    static TIDYING: Cell<bool> = const { Cell::new(false) };
}

/// Something that an interrupt must clean up.
pub(crate) struct Open {
    /// Cleans up. What cannot be removed now is removed by the next run.
    tidy: Box<dyn Fn() + Send>,
    /// What is kept of it, in words.
    kept: Option<String>,
}

impl Open {
    pub fn new(tidy: impl Fn() + Send + 'static) -> Self {
        Self { tidy: Box::new(tidy), kept: None }
    }

    /// Adds the description of what is kept.
    pub fn keeping(self, kept: &str) -> Self {
        Self { kept: Some(kept.to_owned()), ..self }
    }
}

/// A registered clean-up, which an interrupt performs as long as this value lives.
#[derive(Debug)]
pub struct Registered(u64);

/// Holds the gate open for one operation. Returns `None` on the thread that cleans up.
pub(crate) fn enter() -> Option<RwLockReadGuard<'static, ()>> {
    (!TIDYING.get()).then(|| GATE.read().unwrap_or_else(PoisonError::into_inner))
}

/// Registers a clean-up, which an interrupt performs until the returned value is dropped.
pub(crate) fn register(open: Open) -> Registered {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let id = NEXT.fetch_add(1, Ordering::Relaxed);
    OPEN.lock().unwrap_or_else(PoisonError::into_inner).push((id, open));
    Registered(id)
}

/// Registers `act`, which an interrupt calls with `id` until the returned value is dropped. `id` can be that of a
/// process.
pub fn at_interrupt(act: fn(u32), id: u32) -> Registered {
    register(Open::new(move || act(id)))
}

impl Registered {
    /// Replaces the description of what is kept of a target.
    pub(crate) fn keeps(&self, text: String) {
        let mut all = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        let own = all.iter_mut().find(|(id, _)| *id == self.0);
        if let Some((_, open)) = own {
            open.kept = Some(text);
        }
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        OPEN.lock().unwrap_or_else(PoisonError::into_inner).retain(|(id, _)| *id != self.0);
    }
}

/// Ends all writing and removes unfinished files. Returns a description of what is kept, one per target.
///
/// Call it once, before the process exits. Afterwards no other thread changes any file.
pub fn interrupt() -> Vec<String> {
    std::mem::forget(GATE.write().unwrap_or_else(PoisonError::into_inner));
    TIDYING.set(true);
    let mut open = std::mem::take(&mut *OPEN.lock().unwrap_or_else(PoisonError::into_inner));
    let mut kept = Vec::new();
    while let Some((_, last)) = open.pop() {
        (last.tidy)();
        kept.extend(last.kept);
    }
    kept
}
