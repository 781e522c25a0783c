//! What runs and sweeps have in common as it is asked for: on a command line, in a study file, by another program.

use std::path::PathBuf;

use guardbit_frontends::{Cut, Profile};
use guardbit_reports::{Pages, Task};
use guardbit_sim::{Mode, StatsLevel};

use crate::{DEFAULT_EVENTS, DEFAULT_RANDOM_SAMPLES, InputSource, Pick, Settings, TableFormat};

/// Settings before they are checked; what is `None` has its default.
#[derive(Debug, Clone, Default)]
pub struct RawSettings {
    /// File of samples.
    pub input: Option<PathBuf>,
    /// Number of samples of random codes, in place of a file.
    pub random: Option<usize>,
    /// How many samples of the file are run.
    pub samples: Option<usize>,
    /// Seed of the random codes, or of the draw of `samples`.
    pub seed: Option<u64>,
    /// As in [`Settings`].
    pub labels: Option<PathBuf>,
    /// As in [`Settings`].
    pub task: Option<Task>,
    /// As in [`Settings`].
    pub output: Option<String>,
    /// As in [`Settings`].
    pub mode: Option<Mode>,
    /// As in [`Settings`].
    pub stats: Option<StatsLevel>,
    /// As in [`Settings`].
    pub sets: Vec<String>,
    /// Requantization scheme in place of the model's own.
    pub requantize: Option<String>,
    /// As in [`Settings`].
    pub events: Option<usize>,
    /// As in [`Settings`].
    pub profile: Option<Profile>,
    /// As in [`Settings`].
    pub cut: Cut,
}

/// Arguments that do not go together, by their names in a study file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InputConflict {
    /// A file and random codes.
    #[error("`input` and `random` exclude each other")]
    FileAndRandom,
    /// A number of samples, but no file.
    #[error("`samples` goes with `input`")]
    SamplesWithoutFile,
    /// A file and a seed, but no number of samples.
    #[error("`seed` with `input` draws samples, but `samples` does not say how many")]
    SeedWithoutSamples,
}

impl RawSettings {
    /// The checked form. `default_stats` is what is counted in a mode where nothing is said.
    ///
    /// # Errors
    /// [`InputConflict`]
    pub fn check(self, default_stats: fn(Mode) -> StatsLevel) -> Result<Settings, InputConflict> {
        let input = self.input_source()?;
        let mode = self.mode.unwrap_or_default();
        let mut sets = self.sets;
        sets.extend(self.requantize.as_deref().map(scheme_override));
        Ok(Settings {
            input,
            labels: self.labels,
            task: self.task,
            output: self.output,
            mode,
            stats: self.stats.unwrap_or_else(|| default_stats(mode)),
            sets,
            events: self.events.unwrap_or(DEFAULT_EVENTS),
            profile: self.profile,
            cut: self.cut,
            format: TableFormat::default(),
            pages: Pages::default(),
        })
    }

    fn input_source(&self) -> Result<InputSource, InputConflict> {
        let Some(path) = &self.input else {
            if self.samples.is_some() {
                return Err(InputConflict::SamplesWithoutFile);
            }
            let (count, seed) = (self.random.unwrap_or(DEFAULT_RANDOM_SAMPLES), self.seed.unwrap_or(0));
            return Ok(InputSource::Random { count, seed });
        };
        if self.random.is_some() {
            return Err(InputConflict::FileAndRandom);
        }
        let pick = Pick::new(self.samples, self.seed).ok_or(InputConflict::SeedWithoutSamples)?;
        Ok(InputSource::File { path: path.clone(), pick })
    }
}

/// The accelerator's key of the requantization scheme.
pub(crate) const SCHEME_KEY: &str = "requantize.scheme";

/// The override of the accelerator that is another requantization scheme.
pub(crate) fn scheme_override(scheme: &str) -> String {
    format!("{SCHEME_KEY}={scheme}")
}
