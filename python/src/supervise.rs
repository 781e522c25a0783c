//! Runs work on a separate thread, while the calling thread shows progress and handles Ctrl-C.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use guardbit_study::{MOST_THREADS, Progress};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::error::{Ended, Failure};

/// Interval at which signals are checked and progress is shown.
const TICK: Duration = Duration::from_millis(50);

/// Message from the work.
enum Event {
    Start(String, u64),
    Advance(u64),
    Note(String),
}

/// Progress that another thread shows.
pub struct Remote {
    events: Sender<Event>,
    cancelled: Arc<AtomicBool>,
}

impl Progress for Remote {
    // Errors of sending are ignored: the receiver is gone.
    fn start(&self, what: &str, total: u64) {
        let _ = self.events.send(Event::Start(what.into(), total));
    }

    fn advance(&self, samples: u64) {
        let _ = self.events.send(Event::Advance(samples));
    }

    fn note(&self, text: &str) {
        let _ = self.events.send(Event::Note(text.into()));
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

/// Runs `work` without the interpreter's lock, on `threads` threads (default: all cores). `watcher` has the
/// methods `start`, `advance` and `note`. The work ends when `cancelled` is set, which a signal also does.
///
/// # Errors
/// An exception of a signal handler or of `watcher`, otherwise the error of `work`.
pub fn supervised<T: Send>(
    py: Python<'_>,
    watcher: &Bound<'_, PyAny>,
    threads: Option<usize>,
    cancelled: Arc<AtomicBool>,
    work: impl FnOnce(&Remote) -> Result<T, Ended> + Send,
) -> PyResult<T> {
    if let Some(asked) = threads.filter(|&threads| !(1..=MOST_THREADS).contains(&threads)) {
        return Err(
            Failure::usage(format!("threads: {asked} is not a number from 1 to {MOST_THREADS}")).into()
        );
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build();
    let pool = pool.map_err(|error| Failure::usage(format!("threads: {error}")))?;
    let watcher = watcher.clone().unbind();
    let (events, received) = channel();
    let remote = Remote { events, cancelled: Arc::clone(&cancelled) };
    let (raised, done) = py.detach(move || {
        thread::scope(|scope| {
            let worker = scope.spawn(move || pool.install(move || work(&remote)));
            let raised = watch(&received, &watcher, &cancelled);
            (raised, worker.join())
        })
    });
    match (raised, done) {
        (Some(error), _) => Err(error),
        (None, Ok(Ok(result))) => Ok(result),
        (None, Ok(Err(Ended::Failed(failure)))) => Err(failure.into()),
        (None, Ok(Err(Ended::Cancelled))) => Err(PyRuntimeError::new_err("cancelled")),
        (None, Err(_)) => Err(PyRuntimeError::new_err("internal error in guardbit: please report it")),
    }
}

/// Shows messages until the work is done. After an exception, which ends the work, nothing more is shown.
fn watch(received: &Receiver<Event>, watcher: &Py<PyAny>, cancelled: &AtomicBool) -> Option<PyErr> {
    let mut raised = None;
    let mut advanced = 0;
    let mut shown = Instant::now();
    loop {
        let event = match received.recv_timeout(TICK) {
            Ok(Event::Advance(samples)) => {
                advanced += samples;
                None
            }
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => break,
        };
        if event.is_none() && shown.elapsed() < TICK {
            continue;
        }
        shown = Instant::now();
        let samples = std::mem::take(&mut advanced);
        if raised.is_none() {
            raised = Python::attach(|py| show(py, watcher.bind(py), samples, event)).err();
            cancelled.fetch_or(raised.is_some(), Ordering::Relaxed);
        }
    }
    if raised.is_none() {
        raised = Python::attach(|py| show(py, watcher.bind(py), advanced, None)).err();
    }
    raised
}

fn show(py: Python<'_>, watcher: &Bound<'_, PyAny>, samples: u64, event: Option<Event>) -> PyResult<()> {
    py.check_signals()?;
    if samples > 0 {
        watcher.call_method1("advance", (samples,))?;
    }
    match event {
        Some(Event::Start(what, total)) => drop(watcher.call_method1("start", (what, total))?),
        Some(Event::Note(text)) => drop(watcher.call_method1("note", (text,))?),
        Some(Event::Advance(_)) | None => {}
    }
    Ok(())
}
