//! Accelerators with overrides.

use std::fmt::Display;
use std::path::Path;

use guardbit_hwmodels as hwmodels;

use crate::Error;

/// Accelerator of a preset or a file, with overrides.
///
/// ```
/// use guardbit::Accelerator;
///
/// let accelerator = Accelerator::preset("fpga-int14-os")?.set("accumulation.acc.bits", 12)?;
/// assert_eq!(accelerator.model().name, "fpga-int14-os");
/// # Ok::<(), guardbit::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Accelerator {
    /// Preset's name or file's path.
    source: String,
    sets: Vec<String>,
    model: hwmodels::Accelerator,
}

impl Accelerator {
    /// Returns the preset with this name; [`hwmodels::PRESETS`] lists them.
    ///
    /// # Errors
    /// [`Error::UnknownPreset`] if there is none.
    pub fn preset(name: &str) -> Result<Self, Error> {
        if hwmodels::preset(name).is_none() {
            return Err(Error::UnknownPreset { name: name.into() });
        }
        Self::of_source(name.into())
    }

    /// Loads an accelerator from a YAML file.
    ///
    /// # Errors
    /// [`Error::Accelerator`] with the place of the problem.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        // A relative path is never the name of a preset.
        let path = path.as_ref();
        let plain = path.is_relative() && !path.starts_with(".") && !path.starts_with("..");
        let path = if plain { Path::new(".").join(path) } else { path.into() };
        Self::of_source(path.to_string_lossy().into_owned())
    }

    fn of_source(source: String) -> Result<Self, Error> {
        let model = hwmodels::load(&source, &[])?;
        Ok(Self { source, sets: Vec::new(), model })
    }

    /// Sets a key such as `accumulation.acc.bits`, like `--set KEY=VALUE` of the command.
    ///
    /// # Errors
    /// [`Error::Accelerator`] if the key is unknown, or if the accelerator is invalid with this value.
    pub fn set(mut self, key: &str, value: impl Display) -> Result<Self, Error> {
        self.sets.push(format!("{key}={value}"));
        self.model = hwmodels::load(&self.source, &self.sets)?;
        Ok(self)
    }

    /// Returns the checked model with all overrides.
    pub fn model(&self) -> &hwmodels::Accelerator {
        &self.model
    }
}

impl From<Accelerator> for hwmodels::Accelerator {
    fn from(accelerator: Accelerator) -> Self {
        accelerator.model
    }
}
