//! Progress on stderr, on a terminal only.

use std::fmt::Write;
use std::io::{IsTerminal, stderr};

use guardbit_study::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

/// A bar, or nothing where nobody would see it.
pub struct Bar {
    bar: ProgressBar,
    target: fn() -> ProgressDrawTarget,
    quiet: bool,
}

impl Bar {
    pub fn new(quiet: bool) -> Self {
        let seen = !quiet && stderr().is_terminal();
        Self::drawn_on(if seen { ProgressDrawTarget::stderr } else { ProgressDrawTarget::hidden }, quiet)
    }

    /// Nothing is drawn until it is known how much there is to do.
    fn drawn_on(target: fn() -> ProgressDrawTarget, quiet: bool) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{msg} [{bar:30}] {pos}/{len} samples{pace}") {
            bar.set_style(style.with_key("pace", pace).progress_chars("=> "));
        }
        Self { bar, target, quiet }
    }
}

/// How fast it goes and how long it will take; nothing before the first sample.
fn pace(state: &ProgressState, out: &mut dyn Write) {
    let (done, per_second) = (state.pos(), state.per_sec());
    if done == 0 || !per_second.is_finite() || per_second <= 0.0 {
        return;
    }
    let left = state.len().unwrap_or(done).saturating_sub(done) as f64 / per_second;
    let left = indicatif::HumanDuration(std::time::Duration::from_secs_f64(left.clamp(0.0, 1e9)));
    // Writing to a terminal's line does not fail.
    let _ = write!(out, ", {per_second:.1}/s, {left:#} left");
}

impl Progress for Bar {
    fn start(&self, what: &str, total: u64) {
        self.bar.set_draw_target(ProgressDrawTarget::hidden());
        self.bar.set_message(what.to_owned());
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
    }

    fn note(&self, text: &str) {
        if !self.quiet {
            self.bar.suspend(|| eprintln!("{text}"));
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
