//! Progress on stderr, on a terminal only.

use std::io::{IsTerminal, stderr};

use guardbit_study::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar, or nothing where nobody would see it.
pub struct Bar {
    bar: ProgressBar,
    quiet: bool,
}

impl Bar {
    pub fn new(quiet: bool) -> Self {
        let bar = ProgressBar::new(0);
        if quiet || !stderr().is_terminal() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        if let Ok(style) =
            ProgressStyle::with_template("{msg} [{bar:30}] {pos}/{len} samples, {per_sec}, {eta} left")
        {
            bar.set_style(style.progress_chars("=> "));
        }
        Self { bar, quiet }
    }
}

impl Progress for Bar {
    fn start(&self, what: &str, total: u64) {
        self.bar.set_message(what.to_owned());
        self.bar.set_length(total);
        self.bar.set_position(0);
        self.bar.reset_elapsed();
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
