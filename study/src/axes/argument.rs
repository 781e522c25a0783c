//! Arguments of a run that an axis can vary.

use std::path::PathBuf;

use guardbit_frontends::Dim;

use crate::arguments::{Arguments, Command, ROWS, Row};
use crate::{AxisError, InputSource, Pick, Settings};

/// Prefix of axis keys that vary a setting of the quantizer.
const QUANTIZE: &str = "quantize:";

/// Prefix of axis keys that vary the length of an open axis.
const DIM: &str = "dim:";

/// Settings of one combination of axis values.
#[derive(Debug, Clone)]
pub(crate) struct Variant {
    pub model: PathBuf,
    pub hw: String,
    pub settings: Settings,
    /// Quantization arguments, if the network is a float network to be quantized.
    pub quantize: Option<Arguments>,
}

/// Returns the names of arguments that are axes without a prefix.
pub(crate) fn argument_names() -> impl Iterator<Item = &'static str> {
    ROWS.iter().filter(|row| row.axis.is_some()).map(|row| row.name)
}

/// Returns all argument keys, for messages.
pub(crate) fn argument_keys() -> String {
    argument_names().chain(["dim:AXIS", "quantize:SETTING"]).collect::<Vec<_>>().join(", ")
}

/// Returns the row of the argument that a key varies; `None` for a key of the accelerator.
pub(crate) fn argument(key: &str) -> Option<&'static Row> {
    if key.len() > DIM.len() && key.starts_with(DIM) {
        return Row::find(Command::Sweep, "dim");
    }
    match key.strip_prefix(QUANTIZE) {
        Some(setting) => Row::find(Command::Quantize, &setting.replace('-', "_")),
        None => ROWS.iter().find(|row| row.axis.is_some() && row.name == key),
    }
}

/// Returns whether the values of a key are files, or may be.
pub(crate) fn may_be_path(key: &str) -> bool {
    key == "hw" || argument(key).is_some_and(Row::is_path)
}

impl Variant {
    /// Sets an argument or a key of the accelerator.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), AxisError> {
        self.put(key, value).map_err(|problem| AxisError::Argument { key: key.into(), problem })
    }

    fn put(&mut self, key: &str, value: &str) -> Result<(), String> {
        if let Some(setting) = key.strip_prefix(QUANTIZE) {
            let quantizes = || ROWS.iter().filter(|row| row.quantizes);
            let row = quantizes().find(|row| row.option() == setting).ok_or_else(|| {
                let names = quantizes().map(Row::option).collect::<Vec<_>>().join(", ");
                format!("`{setting}` is not a setting of the quantizer: expected one of {names}")
            })?;
            return row.put(self.quantize.get_or_insert_default(), value);
        }
        match argument(key).map(|row| row.axis) {
            Some(Some(set)) => set(self, value),
            Some(None) => {
                let axis = key.strip_prefix(DIM).unwrap_or(key);
                self.settings.cut.dims.set(Dim::new(axis, value)?);
                Ok(())
            }
            None => {
                self.settings.sets.push(format!("{key}={value}"));
                Ok(())
            }
        }
    }
}

/// Sets the file of samples.
pub(crate) fn with_input(settings: &mut Settings, path: &str) {
    let pick = match &settings.input {
        InputSource::File { pick, .. } => *pick,
        InputSource::Random { .. } => Pick::All,
    };
    settings.input = InputSource::File { path: path.into(), pick };
}

/// Sets `count` random samples.
pub(crate) fn with_random(settings: &mut Settings, count: usize) {
    let seed = match settings.input {
        InputSource::Random { seed, .. } => seed,
        InputSource::File { .. } => 0,
    };
    settings.input = InputSource::Random { count, seed };
}

/// Sets the seed of random codes, or of a random selection of samples.
pub(crate) fn pick_seed(settings: &mut Settings, new: u64) -> Result<(), String> {
    match &mut settings.input {
        InputSource::Random { seed, .. } => *seed = new,
        InputSource::File { pick, .. } => {
            *pick = Pick::new(pick.count(), Some(new))
                .ok_or("a seed with an input draws samples: set their number with `samples`")?;
        }
    }
    Ok(())
}

/// Selects `count` samples of a file.
pub(crate) fn picked(settings: &mut Settings, count: usize) -> Result<(), String> {
    match &mut settings.input {
        InputSource::Random { .. } => {
            Err("is valid only with an input file; for random codes use `random`".into())
        }
        InputSource::File { pick, .. } => {
            *pick = match *pick {
                Pick::Random { seed, .. } => Pick::Random { count, seed },
                Pick::All | Pick::First { .. } => Pick::First { first: count },
            };
            Ok(())
        }
    }
}
