//! The arguments of a run that an axis can vary.

use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;

use guardbit_frontends::Dim;

use crate::quantize::Quantizing;
use crate::raw_settings::scheme_override;
use crate::{AxisError, InputSource, Pick, Settings};

/// An argument of a run. Any other key is one of the accelerator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Argument {
    Model,
    Hw,
    Mode,
    Requantize,
    Seed,
    Random,
    Samples,
    Input,
    Labels,
    Task,
    Output,
    Profile,
    /// The length of an axis that the network's file leaves open.
    Dim,
    /// A setting by which a float network is quantized.
    Quantize,
    /// The samples that it is quantized with.
    Calibration,
}

/// What stands before the name of a setting of the quantizer.
const QUANTIZE: &str = "quantize:";

/// What stands before the name of an axis in the key of its length.
const DIM: &str = "dim:";

const ARGUMENTS: [(&str, Argument); 12] = [
    ("model", Argument::Model),
    ("hw", Argument::Hw),
    ("mode", Argument::Mode),
    ("requantize", Argument::Requantize),
    ("seed", Argument::Seed),
    ("random", Argument::Random),
    ("samples", Argument::Samples),
    ("input", Argument::Input),
    ("labels", Argument::Labels),
    ("task", Argument::Task),
    ("output", Argument::Output),
    ("profile", Argument::Profile),
];

/// What one combination of values runs.
#[derive(Debug, Clone)]
pub(crate) struct Variant {
    pub model: PathBuf,
    pub hw: String,
    pub settings: Settings,
    /// How the network is quantized, if it is a float one that is.
    pub quantize: Option<Quantizing>,
}

/// The names of all of them.
pub(crate) fn argument_names() -> impl Iterator<Item = &'static str> {
    ARGUMENTS.iter().map(|(name, _)| *name)
}

/// All keys of arguments, for messages.
pub(crate) fn argument_keys() -> String {
    argument_names().chain(["dim:AXIS", "quantize:SETTING"]).collect::<Vec<_>>().join(", ")
}

impl Argument {
    /// The argument of that name.
    pub fn find(key: &str) -> Option<Self> {
        if key.len() > DIM.len() && key.starts_with(DIM) {
            return Some(Self::Dim);
        }
        if let Some(setting) = key.strip_prefix(QUANTIZE) {
            return Some(if setting == "calibration" { Self::Calibration } else { Self::Quantize });
        }
        ARGUMENTS.iter().find(|(name, _)| *name == key).map(|&(_, argument)| argument)
    }

    /// Whether its values are paths, which in a study file are relative to it.
    pub fn is_path(self) -> bool {
        matches!(self, Self::Model | Self::Input | Self::Labels | Self::Calibration)
    }

    /// Whether its values are files, or may be.
    pub fn may_be_path(self) -> bool {
        self.is_path() || self == Self::Hw
    }

    /// Gives `variant` a value under the argument's key.
    fn set(self, variant: &mut Variant, key: &str, value: &str) -> Result<(), String> {
        let settings = &mut variant.settings;
        match self {
            Self::Model => variant.model = value.into(),
            Self::Hw => variant.hw = value.into(),
            Self::Mode => settings.mode = parsed(value)?,
            Self::Requantize => settings.sets.push(scheme_override(value)),
            Self::Dim => settings.cut.dims.set(Dim::new(key.strip_prefix(DIM).unwrap_or(key), value)?),
            Self::Quantize | Self::Calibration => {
                let setting = key.strip_prefix(QUANTIZE).unwrap_or(key);
                variant.quantize.get_or_insert_default().set(setting, value)?;
            }
            Self::Labels => settings.labels = Some(value.into()),
            Self::Task => settings.task = Some(parsed(value)?),
            Self::Output => settings.output = Some(value.into()),
            Self::Profile => settings.profile = Some(parsed(value)?),
            Self::Input => {
                let pick = match &settings.input {
                    InputSource::File { pick, .. } => *pick,
                    InputSource::Random { .. } => Pick::All,
                };
                settings.input = InputSource::File { path: value.into(), pick };
            }
            Self::Random => {
                let seed = match settings.input {
                    InputSource::Random { seed, .. } => seed,
                    InputSource::File { .. } => 0,
                };
                settings.input = InputSource::Random { count: whole(value)?, seed };
            }
            Self::Seed => settings.input = seeded(&settings.input, whole(value)?)?,
            Self::Samples => settings.input = picked(&settings.input, whole(value)?)?,
        }
        Ok(())
    }
}

impl Variant {
    /// Gives an argument or a key of the accelerator a value.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), AxisError> {
        match Argument::find(key) {
            Some(argument) => argument
                .set(self, key, value)
                .map_err(|problem| AxisError::Values { key: key.into(), problem }),
            None => {
                self.settings.sets.push(format!("{key}={value}"));
                Ok(())
            }
        }
    }
}

fn parsed<T: FromStr<Err: Display>>(value: &str) -> Result<T, String> {
    value.parse().map_err(|error| format!("{value}: {error}"))
}

fn whole<T: FromStr>(value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("{value}: expected a whole number that is not negative"))
}

fn seeded(input: &InputSource, seed: u64) -> Result<InputSource, String> {
    match input {
        InputSource::Random { count, .. } => Ok(InputSource::Random { count: *count, seed }),
        InputSource::File { path, pick } => {
            let pick = Pick::new(pick.count(), Some(seed));
            let pick = pick.ok_or("a seed with an input draws samples: say how many with `samples`")?;
            Ok(InputSource::File { path: path.clone(), pick })
        }
    }
}

fn picked(input: &InputSource, count: usize) -> Result<InputSource, String> {
    match input {
        InputSource::Random { .. } => Err("goes with an input file; random codes have `random`".into()),
        InputSource::File { path, pick } => {
            let pick = match *pick {
                Pick::Random { seed, .. } => Pick::Random { count, seed },
                Pick::All | Pick::First { .. } => Pick::First { first: count },
            };
            Ok(InputSource::File { path: path.clone(), pick })
        }
    }
}
