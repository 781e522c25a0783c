//! Sources of a file's values: its own text, the preset or file that it extends, and overrides.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_yaml::Value;

use guardbit_documents::Step;

use super::FilePlace;
use super::KeyPath;
use super::order;
use super::parse::{MOST_BYTES, parse};
use super::problem::{HwError, Origin, Problem};
use super::set::{Overridden, SetSource, merge};
use super::text::name_of;
use super::typed;
use crate::file::AcceleratorFile;
use crate::presets::{PRESETS, preset};

/// Keys that a file does not inherit from what it extends.
const OWN: [&str; 3] = ["schema", "name", "description"];

/// Greatest number of files that extend each other.
const MOST_FILES: usize = 8;

/// File with what it extends.
#[derive(Debug, Clone)]
pub(super) struct Sources {
    name: String,
    text: Arc<str>,
    own: Value,
    /// Preset or file that it extends, with what that extends.
    base: Option<Box<Sources>>,
    /// Whether the file is a preset.
    is_preset: bool,
}

impl Sources {
    /// Returns the preset with the given name.
    pub fn preset(name: &str) -> Option<Result<Self, HwError>> {
        let preset = preset(name)?;
        let sources = Self::file(preset.text, name);
        Some(sources.map(|sources| Self { is_preset: true, ..sources }))
    }

    /// Returns the file of a text.
    pub fn file(text: &str, name: &str) -> Result<Self, HwError> {
        Self::extending(text, name, &mut vec![resolve(Path::new(name))])
    }

    /// Returns the file of a text that must not extend another file.
    pub fn complete(text: &str, name: &str) -> Result<Self, HwError> {
        let text: Arc<str> = text.into();
        let mut file = parse(&text, name)?;
        let own = typed::to_value(&file);
        let sources = Self { name: name.into(), own, text, base: None, is_preset: false };
        let mut named = None;
        order::visit_files(&mut file, |_, key| named = Some(key));
        if let Some(key) = named {
            let message = "a complete file cannot name a file of permutations".to_owned();
            let help =
                "write the permutations into the file (`permutations`), as `guardbit hw show` does".into();
            return Err(sources.problem("guardbit::hw::order", key, message, help).into());
        }
        match file.extends {
            None => Ok(sources),
            Some(_) => {
                let message = "a complete file cannot extend another one".to_owned();
                let help = "write all keys into the file, as `guardbit hw show` does".into();
                Err(sources.extends_problem("guardbit::hw::extends", message, help).into())
            }
        }
    }

    /// Returns the file of a text; `chain` holds the paths of the files that extend each other down to this
    /// one.
    fn extending(text: &str, name: &str, chain: &mut Vec<PathBuf>) -> Result<Self, HwError> {
        let text: Arc<str> = text.strip_prefix('\u{feff}').unwrap_or(text).into();
        let mut file = parse(&text, name)?;
        let folder = Path::new(name).parent().unwrap_or(Path::new(""));
        order::visit_files(&mut file, |path, _| *path = folder.join(&path).to_string_lossy().into_owned());
        let mut sources =
            Self { name: name.into(), own: typed::to_value(&file), text, base: None, is_preset: false };
        if let Some(base) = file.extends {
            let found = match Self::preset(&base) {
                Some(preset) => preset?,
                None => sources.base_file(&base, chain)?,
            };
            sources.base = Some(Box::new(found));
        }
        Ok(sources)
    }

    /// Returns the file `base`, whose path is relative to the folder of this one.
    fn base_file(&self, base: &str, chain: &mut Vec<PathBuf>) -> Result<Self, HwError> {
        let path = Path::new(&self.name).parent().unwrap_or(Path::new("")).join(base);
        let text = guardbit_files::read_text(&path, MOST_BYTES);
        let text = text.map_err(|error| HwError::from(self.no_base(base, &path, &error)))?;
        let resolved = resolve(&path);
        if chain.contains(&resolved) {
            return Err(self.cycle(base).into());
        }
        if chain.len() == MOST_FILES {
            return Err(self.long_chain().into());
        }
        chain.push(resolved);
        Self::extending(&text, &path.to_string_lossy(), chain)
    }

    /// Returns all values of the file, with those that it inherits. Its name and description are its own.
    pub fn merged(&self) -> AcceleratorFile {
        let file: AcceleratorFile = typed::from_value(self.value()).unwrap_or_default();
        AcceleratorFile { extends: None, name: file.name.or_else(|| Some(name_of(&self.stem()))), ..file }
    }

    /// Returns the keys of the file over those that it inherits.
    fn value(&self) -> Value {
        let mut value = self.base.as_ref().map_or(Value::Null, |base| base.value());
        if let Value::Mapping(map) = &mut value {
            map.retain(|key, _| !key.as_str().is_some_and(|key| OWN.contains(&key)));
        }
        merge(&mut value, self.own.clone());
        value
    }

    /// Returns where an override was written.
    pub fn origin_of(&self, source: &SetSource) -> Origin {
        match source {
            SetSource::CommandLine(text) => Origin::Set(text.clone()),
            SetSource::Layer(key) => self.origin(key),
        }
    }

    /// Returns which of `keys` was written, and where: the first one in an override or in the file itself,
    /// otherwise the first of all. The last override applies.
    pub fn culprit<'a>(
        &self,
        keys: &'a [KeyPath],
        overridden: &[&[Overridden]],
    ) -> Option<(&'a KeyPath, Origin)> {
        let origin = |key| match overridden.iter().copied().flatten().rfind(|over| over.key.contains(key)) {
            Some(over) => self.origin_of(&over.by),
            None => self.origin(key),
        };
        let written = |(_, origin): &(&KeyPath, Origin)| matches!(origin, Origin::File(_) | Origin::Set(_));
        let mut found = keys.iter().map(|key| (key, origin(key)));
        found.find(written).or_else(|| keys.first().map(|key| (key, origin(key))))
    }

    /// Returns the start of the file, for missing keys.
    pub fn start(&self) -> Origin {
        self.place(&KeyPath::default())
    }

    /// Returns where `key` was written: in this file, or in what it extends.
    fn origin(&self, key: &KeyPath) -> Origin {
        if key.find(&self.own).is_some() {
            return self.place(key);
        }
        let is_own = |segment: &Step| matches!(segment, Step::Key(key) if OWN.contains(&key.as_str()));
        match &self.base {
            Some(base) if !key.steps().first().is_some_and(is_own) => base.origin(key),
            _ => Origin::Nowhere,
        }
    }

    fn place(&self, key: &KeyPath) -> Origin {
        if self.is_preset {
            return Origin::Preset(self.name.clone());
        }
        Origin::File(FilePlace::of_path(&self.name, &self.text, key))
    }

    fn no_base(&self, base: &str, path: &Path, error: &std::io::Error) -> Problem {
        let help = format!(
            "{}name a file, relative to this one, or a preset; the presets are {}",
            meant(base),
            preset_names()
        );
        let (code, message) = match error.kind() {
            std::io::ErrorKind::NotFound => (
                "guardbit::hw::unknown_preset",
                format!("`{base}` is not a preset, and the file `{}` does not exist", path.display()),
            ),
            _ => ("guardbit::hw::read", format!("`{}` cannot be read: {error}", path.display())),
        };
        self.extends_problem(code, message, help)
    }

    fn cycle(&self, base: &str) -> Problem {
        let message = format!("`{base}` extends this file, directly or through others");
        let help = "remove `extends` from one of the files".into();
        self.extends_problem("guardbit::hw::extends_cycle", message, help)
    }

    fn long_chain(&self) -> Problem {
        let message = format!("more than {MOST_FILES} files extend one another in a chain");
        let help = "extend a common file or a preset directly".into();
        self.extends_problem("guardbit::hw::extends_chain", message, help)
    }

    fn extends_problem(&self, code: &'static str, message: String, help: String) -> Problem {
        self.problem(code, KeyPath::keys(&["extends"]), message, help)
    }

    fn problem(&self, code: &'static str, key: KeyPath, message: String, help: String) -> Problem {
        Problem { code, message, help, origin: self.place(&key), key: Some(key.to_string()) }
    }

    fn stem(&self) -> String {
        let file = self.name.rsplit(['/', '\\']).next().unwrap_or(&self.name);
        file.strip_suffix(".yaml").or_else(|| file.strip_suffix(".yml")).unwrap_or(file).to_owned()
    }
}

/// Returns the path that identifies a file.
fn resolve(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Returns a question for the preset with a similar name, or an empty text.
pub(super) fn meant(name: &str) -> String {
    let near = guardbit_documents::nearest(name, PRESETS.iter().map(|preset| preset.name));
    near.map_or(String::new(), |near| format!("did you mean `{near}`? "))
}

/// Returns the names of all presets, for messages.
pub(super) fn preset_names() -> String {
    PRESETS.iter().map(|preset| preset.name).collect::<Vec<_>>().join(", ")
}
