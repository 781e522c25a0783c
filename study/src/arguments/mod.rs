//! The arguments of all commands that load a network: one row each, in `table.rs`.
//!
//! The options of the command line, study files with their schema, requests as JSON, the functions of the Python package, axes of
//! sweeps, what manifests list, and `docs/arguments.md` follow from the rows.

mod listed;
mod page;
mod python;
mod rules;
mod table;
mod value;

use std::path::Path;

use serde_json::{Map, Value as Json};

use crate::axes::Variant;

pub(crate) use listed::Listed;
pub use page::arguments_text;
pub use python::python_text;
pub use rules::Misuse;
pub use table::{Arguments, ROWS};
pub use value::{Kind, Shape, Zip};

/// A command that loads a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// `guardbit run`
    Run,
    /// `guardbit sweep`
    Sweep,
    /// `guardbit size`
    Size,
    /// `guardbit explore`
    Explore,
    /// `guardbit vectors`
    Vectors,
    /// `guardbit quantize`
    Quantize,
    /// `guardbit inspect`
    Inspect,
}

impl Command {
    /// Every command, in the order of the documentation.
    pub const ALL: [Self; 7] =
        [Self::Run, Self::Sweep, Self::Size, Self::Explore, Self::Vectors, Self::Quantize, Self::Inspect];

    /// Returns the command's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Sweep => "sweep",
            Self::Size => "size",
            Self::Explore => "explore",
            Self::Vectors => "vectors",
            Self::Quantize => "quantize",
            Self::Inspect => "inspect",
        }
    }
}

/// A set of commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Commands(u8);

impl Commands {
    const NONE: Self = Self(0);

    const fn of(commands: &[Command]) -> Self {
        let (mut bits, mut at) = (0, 0);
        while at < commands.len() {
            bits |= 1 << commands[at] as u8;
            at += 1;
        }
        Self(bits)
    }

    /// Returns whether a command is among them.
    pub const fn has(self, command: Command) -> bool {
        self.0 >> command as u8 & 1 == 1
    }
}

/// Where an argument stands in a study file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InStudy {
    /// Nowhere.
    No,
    /// Among the settings.
    Setting,
    /// Below `sweep`.
    Sweep,
}

/// How an axis gives a run the value of a text.
pub(crate) type SetAxis = fn(&mut Variant, &str) -> Result<(), String>;

/// Everything that is known of an argument.
pub struct Row {
    /// The name: that of the option, with `_` for `-`.
    pub name: &'static str,
    /// The commands that take it.
    pub commands: Commands,
    /// Those of them that cannot do without.
    pub needed: Commands,
    /// What stands for its value in help texts.
    pub value: &'static str,
    /// What it means to a command.
    pub help: fn(Command) -> String,
    /// What a command takes where it is not given, if that is one value.
    pub default: fn(Command) -> Option<String>,
    /// The values that a command line completes, with what they mean.
    pub choices: Option<fn() -> Vec<Choice>>,
    /// A letter for the option.
    pub short: Option<char>,
    /// Whether it has no option, but stands first.
    pub is_positional: bool,
    /// Whether the values of one option are separated by commas.
    pub is_list: bool,
    /// Whether a command line has it.
    pub on_command_line: bool,
    /// What it is called in Python.
    pub(crate) python: PythonName,
    /// Whether it may stand beside a study file.
    pub(crate) beside_study: bool,
    pub(crate) in_study: InStudy,
    /// What it means there, where that is something else.
    pub(crate) study_help: &'static str,
    /// What an axis of it does.
    pub(crate) axis: Option<SetAxis>,
    /// Whether `quantize:NAME` is an axis.
    pub(crate) quantizes: bool,
    /// Whether manifests list it among the settings; others stand elsewhere in them, or decide nothing.
    pub(crate) listed: bool,
    /// What a value looks like.
    pub kind: Kind,
    /// How many values it has.
    pub shape: Shape,
    pub(crate) words: fn() -> Vec<&'static str>,
    check: fn(&str) -> Result<(), String>,
    given: fn(&Arguments) -> bool,
    put: fn(&mut Arguments, &str) -> Result<(), String>,
    put_path: fn(&mut Arguments, &Path),
    put_json: fn(&mut Arguments, &Json) -> Result<(), String>,
    shown: fn(&Arguments) -> Json,
    moved: fn(&mut Arguments, &Path),
    pub(crate) schema: fn() -> Json,
}

/// A value that an option may have, and what it means.
pub type Choice = (&'static str, Option<&'static str>);

/// How the Python functions have an argument.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PythonName {
    /// By the name of the option.
    Same,
    /// By another name.
    As(&'static str),
}

/// A row without what follows from the type of its field.
const fn row(commands: Commands) -> Row {
    Row {
        name: "",
        commands,
        needed: Commands::NONE,
        value: "",
        help: |_| String::new(),
        default: |_| None,
        choices: None,
        short: None,
        is_positional: false,
        is_list: false,
        on_command_line: true,
        python: PythonName::Same,
        beside_study: false,
        in_study: InStudy::No,
        study_help: "",
        axis: None,
        quantizes: false,
        listed: false,
        kind: Kind::Text,
        shape: Shape::One,
        words: Vec::new,
        check: |_| Ok(()),
        given: |_| false,
        put: |_, _| Ok(()),
        put_path: |_, _| (),
        put_json: |_, _| Ok(()),
        shown: |_| Json::Null,
        moved: |_, _| (),
        schema: || Json::Null,
    }
}

/// Makes of rows `FIELD: TYPE = NAME, ROW;` the type with all arguments, and the list of rows.
macro_rules! arguments {
    ($($(#[doc = $about:literal])* $field:ident: $ty:ty = $name:literal, $row:expr;)*) => {
        /// Arguments as they were given, by whatever way; those that are not have their defaults when they are checked.
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct Arguments {
            $($(#[doc = $about])* pub $field: $ty,)*
        }

        /// Every argument.
        pub static ROWS: &[Row] = &[$(Row {
            name: $name,
            kind: <<$ty as Slot>::Of as Value>::KIND,
            shape: <$ty as Slot>::SHAPE,
            words: <<$ty as Slot>::Of as Value>::words,
            check: |text| <<$ty as Slot>::Of as Value>::read(text).map(drop),
            given: |all| all.$field.is_given(),
            put: |all, text| value::put(&mut all.$field, text),
            put_path: |all, path| value::put_path(&mut all.$field, path),
            put_json: |all, json| value::put_json(&mut all.$field, json),
            shown: |all| value::shown(&all.$field),
            moved: |all, dir| value::moved(&mut all.$field, dir),
            schema: value::schema::<$ty>,
            ..$row
        }),*];
    };
}

use arguments;

impl Row {
    /// Returns the row of a command's argument.
    pub fn find(command: Command, name: &str) -> Option<&'static Self> {
        ROWS.iter().find(|row| row.name == name && row.commands.has(command))
    }

    /// Returns the rows of a command.
    pub fn all(command: Command) -> impl Iterator<Item = &'static Self> {
        ROWS.iter().filter(move |row| row.commands.has(command))
    }

    /// Returns the option, without the dashes.
    pub fn option(&self) -> String {
        self.name.replace('_', "-")
    }

    /// Returns the name in Python.
    pub fn python_name(&self) -> &'static str {
        match self.python {
            PythonName::Same => self.name,
            PythonName::As(name) => name,
        }
    }

    /// Returns the name where several values stand together: in study files and manifests.
    pub(crate) fn plural(&self) -> &'static str {
        if self.name == "axis" { "axes" } else { self.name }
    }

    /// Returns whether the Python function of a command has it. What says a default, or is for exit codes, has no use there.
    pub(crate) fn in_python(&self, _command: Command) -> bool {
        !["per_channel", "asymmetric", "strict"].contains(&self.name)
    }

    /// Returns whether its values are paths, which in a study file are relative to it.
    pub(crate) fn is_path(&self) -> bool {
        self.kind == Kind::Path
    }

    /// Checks a value as text.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self, text: &str) -> Result<(), String> {
        (self.check)(text)
    }

    /// Gives `arguments` a value as text.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn put(&self, arguments: &mut Arguments, text: &str) -> Result<(), String> {
        (self.put)(arguments, text)
    }

    /// Gives `arguments` a path, which need not be text.
    pub fn put_path(&self, arguments: &mut Arguments, path: &Path) {
        (self.put_path)(arguments, path);
    }

    /// Gives `arguments` a value as JSON.
    pub(crate) fn put_json(&self, arguments: &mut Arguments, value: &Json) -> Result<(), String> {
        (self.put_json)(arguments, value)
    }

    pub(crate) fn is_given(&self, arguments: &Arguments) -> bool {
        (self.given)(arguments)
    }

    /// Returns its value as manifests show it.
    pub(crate) fn shown(&self, arguments: &Arguments) -> Json {
        (self.shown)(arguments)
    }
}

impl Arguments {
    /// Reads the arguments of a command from JSON: values by name.
    ///
    /// # Errors
    /// [`Misuse`] naming an argument that the command does not have, or whose value is wrong.
    pub fn of_json(command: Command, values: &Map<String, Json>) -> Result<Self, Misuse> {
        let mut all = Self::default();
        for (name, value) in values {
            let row = Row::find(command, name).ok_or_else(|| Misuse::unknown(command, name))?;
            row.put_json(&mut all, value).map_err(|problem| Misuse::value(row.name, problem))?;
        }
        Ok(all)
    }

    /// Takes relative paths from `dir`.
    pub(crate) fn moved(&mut self, dir: &Path) {
        ROWS.iter().for_each(|row| (row.moved)(self, dir));
    }
}

/// A text with options `--name` in other words.
pub(crate) fn respelled(text: &str, spelled: impl Fn(&str) -> String) -> String {
    let (mut made, mut rest) = (String::new(), text);
    while let Some(at) = rest.find("--") {
        let before = &rest[..at];
        let name: usize = rest[at + 2..]
            .char_indices()
            .find(|(_, c)| !(c.is_ascii_lowercase() || *c == '-'))
            .map_or(rest.len() - at - 2, |(end, _)| end);
        let name = &rest[at + 2..at + 2 + name];
        made += before;
        let is_option = !name.is_empty() && !before.ends_with(|c: char| c.is_alphanumeric());
        made += &if is_option { spelled(&name.replace('-', "_")) } else { format!("--{name}") };
        rest = &rest[at + 2 + name.len()..];
    }
    made + rest
}
