//! Where a file's values come from: its own text, the preset that it extends, overrides.

use std::sync::Arc;

use serde_yaml::Value;

use super::key::KeyPath;
use super::locate::locate;
use super::parse::parse;
use super::problem::{FilePlace, HwError, Origin, Problem};
use super::set::{Overridden, SetSource, merge};
use super::typed;
use crate::file::AcceleratorFile;
use crate::presets::{PRESETS, preset};

/// What a file does not take from the preset that it extends.
const OWN: [&str; 3] = ["schema", "name", "description"];

/// A file with what it extends.
#[derive(Debug, Clone)]
pub(super) struct Sources {
    name: String,
    text: Arc<str>,
    own: Value,
    /// The preset that it extends.
    base: Option<(String, Value)>,
    /// Whether the file is itself a preset.
    is_preset: bool,
}

impl Sources {
    /// A preset by name.
    pub fn preset(name: &str) -> Option<Result<Self, HwError>> {
        let preset = preset(name)?;
        let sources = Self::file(preset.text, name);
        Some(sources.map(|sources| Self { is_preset: true, ..sources }))
    }

    /// A file of that text.
    pub fn file(text: &str, name: &str) -> Result<Self, HwError> {
        let text: Arc<str> = text.into();
        let file = parse(&text, name)?;
        let mut sources =
            Self { name: name.into(), own: typed::to_value(&file), text, base: None, is_preset: false };
        if let Some(base) = file.extends {
            let found = Self::preset(&base).unwrap_or_else(|| Err(sources.unknown_preset(&base).into()));
            sources.base = Some((base, typed::to_value(&found?.merged())));
        }
        Ok(sources)
    }

    /// Everything that the file says, with what it extends. Its name and description are its own.
    pub fn merged(&self) -> AcceleratorFile {
        let mut value = self.base.as_ref().map_or(Value::Null, |(_, base)| base.clone());
        if let Value::Mapping(map) = &mut value {
            map.retain(|key, _| !key.as_str().is_some_and(|key| OWN.contains(&key)));
        }
        merge(&mut value, self.own.clone());
        let file: AcceleratorFile = typed::from_value(value).unwrap_or_default();
        AcceleratorFile { extends: None, name: file.name.or_else(|| Some(self.stem())), ..file }
    }

    /// Where an override was written.
    pub fn origin_of(&self, source: &SetSource) -> Origin {
        match source {
            SetSource::CommandLine(text) => Origin::Set(text.clone()),
            SetSource::Layer(key) => self.own_origin(key),
        }
    }

    /// Which of `keys` someone wrote, and where: the first one in an override or in the file itself, else the first
    /// one at all. The last override wins.
    pub fn culprit<'a>(
        &self,
        keys: &'a [KeyPath],
        overridden: &[Overridden],
    ) -> Option<(&'a KeyPath, Origin)> {
        let origin = |key| match overridden.iter().rfind(|over| over.key.contains(key)) {
            Some(over) => self.origin_of(&over.by),
            None => self.own_origin(key),
        };
        let written = |(_, origin): &(&KeyPath, Origin)| matches!(origin, Origin::File(_) | Origin::Set(_));
        let mut found = keys.iter().map(|key| (key, origin(key)));
        found.find(written).or_else(|| keys.first().map(|key| (key, origin(key))))
    }

    /// The start of the file, for what is missing in it.
    pub fn start(&self) -> Origin {
        self.place(&KeyPath::default())
    }

    fn own_origin(&self, key: &KeyPath) -> Origin {
        if key.find(&self.own).is_some() {
            return self.place(key);
        }
        match &self.base {
            Some((name, base)) if key.find(base).is_some() => Origin::Preset(name.clone()),
            _ => Origin::Nowhere,
        }
    }

    fn place(&self, key: &KeyPath) -> Origin {
        if self.is_preset {
            return Origin::Preset(self.name.clone());
        }
        let (line, column) = locate(&self.text, key).unwrap_or((1, 1));
        Origin::File(FilePlace::new(&self.name, &self.text, line, column))
    }

    fn unknown_preset(&self, name: &str) -> Problem {
        let key = KeyPath::keys(&["extends"]);
        Problem {
            code: "guardbit::hw::unknown_preset",
            message: format!("there is no preset `{name}`"),
            help: Some(format!("the presets are {}", preset_names())),
            origin: self.place(&key),
            key: Some(key.to_string()),
        }
    }

    fn stem(&self) -> String {
        let file = self.name.rsplit(['/', '\\']).next().unwrap_or(&self.name);
        file.strip_suffix(".yaml").or_else(|| file.strip_suffix(".yml")).unwrap_or(file).to_owned()
    }
}

/// The names of all presets, for messages.
pub(super) fn preset_names() -> String {
    PRESETS.iter().map(|preset| preset.name).collect::<Vec<_>>().join(", ")
}
