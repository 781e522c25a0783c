//! Progress on stderr: a bar on a terminal, and with `GUARDBIT_PROGRESS` a line now and then elsewhere.

use std::env;
use std::fmt::Write;
use std::io::{IsTerminal, stderr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::output::say;
use guardbit_study::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::printable::{bounded, plain};

/// Interval at which the bar moves, and at which lines are printed.
const TICK: Duration = Duration::from_millis(250);
const LINE: Duration = Duration::from_secs(1);

/// Progress bar; hidden if it would not be seen.
pub struct Bar {
    bar: ProgressBar,
    target: fn() -> ProgressDrawTarget,
    quiet: bool,
    /// Note that is printed once work starts, so that it does not precede errors of inputs.
    first: Mutex<Option<String>>,
    /// Time of the last line, if lines are printed instead of a bar.
    lines: Option<Mutex<Instant>>,
}

impl Bar {
    /// Creates a bar that moves at once. `GUARDBIT_PROGRESS=0` hides it; any other value prints lines where stderr is
    /// not a terminal.
    pub fn new(quiet: bool) -> Self {
        let asked = env::var("GUARDBIT_PROGRESS").ok().filter(|value| !value.is_empty());
        let shows = !quiet && asked.as_deref() != Some("0");
        let seen = shows && stderr().is_terminal();
        let mut bar =
            Self::drawn_on(if seen { ProgressDrawTarget::stderr } else { ProgressDrawTarget::hidden }, quiet);
        if seen {
            bar.step("preparing");
            bar.bar.enable_steady_tick(TICK);
        } else if shows && asked.is_some() {
            bar.lines = Some(Mutex::new(Instant::now()));
        }
        bar
    }

    /// Prints a line, unless one was printed less than [`LINE`] ago.
    fn line(&self, text: impl FnOnce() -> String) {
        let Some(lines) = &self.lines else { return };
        let mut last = lines.lock().unwrap_or_else(PoisonError::into_inner);
        if last.elapsed() >= LINE {
            *last = Instant::now();
            say(&bounded(plain(&text()).into_owned()));
        }
    }

    /// Creates a bar that is drawn only after the amount of work is known.
    fn drawn_on(target: fn() -> ProgressDrawTarget, quiet: bool) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        Self { bar, target, quiet, first: Mutex::default(), lines: None }
    }

    /// Prints a note once work starts.
    pub fn note_at_start(&self, text: String) {
        *self.first.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
    }

    fn set_style(&self, template: &str) {
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style.with_key("pace", pace).progress_chars("=> "));
        }
    }
}

/// Writes speed and remaining time; nothing before the first sample is done.
fn pace(state: &ProgressState, out: &mut dyn Write) {
    let (done, per_second) = (state.pos(), state.per_sec());
    if done == 0 || !per_second.is_finite() || per_second <= 0.0 {
        return;
    }
    let left = state.len().unwrap_or(done).saturating_sub(done) as f64 / per_second;
    let left = indicatif::HumanDuration(std::time::Duration::from_secs_f64(left.clamp(0.0, 1e9)));
    // Writing to the string of the line does not fail.
    let _ = write!(out, ", {per_second:.1}/s, {left:#} left");
}

impl Progress for Bar {
    fn start(&self, what: &str, total: u64) {
        if let Some(text) = self.first.lock().unwrap_or_else(PoisonError::into_inner).take() {
            self.note(&text);
        }
        self.bar.set_draw_target(ProgressDrawTarget::hidden());
        self.set_style("{msg} [{bar:30}] {pos}/{len} samples{pace}");
        self.bar.set_message(plain(what).into_owned());
        self.bar.set_length(total);
        self.bar.set_position(0);
        self.bar.reset_elapsed();
        self.bar.reset_eta();
        if total > 0 {
            self.bar.set_draw_target((self.target)());
            self.bar.tick();
        }
    }

    fn advance(&self, samples: u64) {
        self.bar.inc(samples);
        self.line(|| {
            let (what, done) = (self.bar.message(), self.bar.position());
            let all = self.bar.length().unwrap_or(done);
            let left = self.bar.eta().as_secs();
            format!("{what}: {done} of {all} samples, {left} s left")
        });
    }

    fn step(&self, what: &str) {
        self.line(|| what.to_owned());
        self.set_style("{spinner} {msg} ({elapsed})");
        self.bar.set_message(plain(what).into_owned());
        if self.bar.is_hidden() {
            self.bar.set_draw_target((self.target)());
        }
        self.bar.tick();
    }

    fn note(&self, text: &str) {
        if !self.quiet {
            self.bar.suspend(|| say(&bounded(plain(text).into_owned())));
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use indicatif::TermLike;

    use super::*;

    /// Text drawn since the last query.
    static DRAWN: Mutex<String> = Mutex::new(String::new());

    #[derive(Debug)]
    struct Screen;

    impl TermLike for Screen {
        fn width(&self) -> u16 {
            120
        }

        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn write_line(&self, text: &str) -> io::Result<()> {
            self.write_str(text)
        }

        fn write_str(&self, text: &str) -> io::Result<()> {
            DRAWN.lock().unwrap().push_str(text);
            Ok(())
        }

        fn clear_line(&self) -> io::Result<()> {
            Ok(())
        }

        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_bar_says_what_it_knows() {
        let target = || ProgressDrawTarget::term_like_with_hz(Box::new(Screen), 255);
        let drawn = || std::mem::take(&mut *DRAWN.lock().unwrap());
        let bar = Bar::drawn_on(target, true);
        bar.bar.tick();
        bar.note("a remark");
        bar.start("nothing", 0);
        assert_eq!(drawn(), "", "nothing is drawn while nothing is known");
        bar.start("13 points", 104);
        let begin = drawn();
        assert!(begin.contains("13 points") && begin.contains("0/104 samples"), "{begin:?}");
        assert!(!begin.contains("left"), "{begin:?}");
        std::thread::sleep(std::time::Duration::from_millis(60));
        bar.advance(8);
        bar.bar.tick();
        let going = drawn();
        assert!(going.contains("8/104 samples, ") && going.contains(" left"), "{going:?}");
        assert!(!going.contains("0/0"), "{going:?}");
    }
}
