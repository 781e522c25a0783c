//! Arguments of all commands, one row each, in `table.rs`.
//!
//! The rows generate the options of the command line, study files with their schema, JSON requests, the
//! functions of the Python package, axes of sweeps, the settings in manifests, and `docs/reference/arguments.md`.

mod listed;
mod page;
mod python;
mod rules;
mod table;
mod value;

use std::path::Path;

use serde_json::{Map, Value as Json};

use crate::axes::Variant;

pub(crate) use listed::listed;
pub use page::arguments_text;
pub use python::python_text;
pub use rules::Misuse;
pub use table::{Arguments, ROWS};
pub use value::{Kind, Seconds, Shape, Zip};

/// Declares [`Command`] from rows `VARIANT = NAME, ABOUT;`, in the order of the documentation.
macro_rules! commands {
    ($($name:ident = $text:literal, $about:expr;)*) => {
        /// A command with arguments.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Command {
            $(#[doc = concat!("`guardbit ", $text, "`")] $name,)*
        }

        impl Command {
            /// Every command, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// Returns the command's name.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }

            /// Returns the description in its help text: a line, and further paragraphs in the long form.
            pub fn about(self) -> &'static str {
                match self {
                    $(Self::$name => $about,)*
                }
            }
        }
    };
}

commands! {
    Demo = "demo", "Run a study of handwritten digits that guardbit contains, and print what to try next\n\n\
        The folder gets the network, the samples and the accelerator, with which the printed commands run, and the results of \
        a sweep";
    Run = "run", "Run a network on an accelerator and write tables, plots and a report";
    Sweep = "sweep", "Run a network at many accumulator widths: a study file, or a model with --hw and --bits";
    Merge = "merge", "Merge the folders of all shards of a sweep into one folder, byte-equal to that of a sweep without shards";
    Status = "status", "List missing shards and points of sweeps. Exit code 1 if any are missing";
    Size = "size", "Find the accumulator width that every layer requires: proved, on samples, and within an error budget";
    Explore = "explore", "Explore designs of an accelerator and find the Pareto front of accuracy, cycles, area and energy\n\n\
        Time and cost are computed for every point of the axes. Of points that provably compute the same values, one is \
        simulated. With a budget, `explore` searches the widths of all levels and layers for every hardware of the axes, \
        and recommends the cheapest design.";
    Compare = "compare", "Compare finished runs, sweeps, sizings or explorations: settings that differ, then figures";
    Plot = "plot", "Plot a column of finished results against an axis: several sweeps, accelerators and networks in one picture\n\n\
        The table of the picture is written next to it. Without --output, it is printed.";
    Vectors = "vectors", "Export a layer as test vectors for RTL: stimuli, expected accumulators of every cycle, reference design, benches\n\n\
        `trap` acts as `observe` here: the value stays exact, and only the overflow flag is set. docs/reference/bundle-format.md \
        describes the format. With --whole, the folder has the memory images of whole layers instead \
        (docs/reference/whole-layers.md).";
    Check = "check", "Check a bundle of test vectors: its files, its numbers, and its replay in simulators";
    DiffLayer = "diff-layer", "Compare the output image of a design with that of a whole layer, and explain the first differences\n\n\
        The folder is one of `guardbit vectors --whole`. The file has a word per line, as $writememh writes it; `x` counts as \
        different. Exit code 1 if anything differs.";
    Discriminate = "discriminate", "Find out which accumulator a device has: short dot products whose sums differ between accelerators\n\n\
        The candidates are several accelerators (--hw), or one with settings that vary (--any, --axis). Each input is a dot \
        product with a bias; the sum after the adder of the bias is compared. With --observed, the sums of a device select the \
        candidates that it may be.";
    Quantize = "quantize", "Quantize a float network: choose scales and zero points on samples, and write it as an ONNX file\n\n\
        The file is QDQ in ONNX Runtime's arithmetic. `run`, `sweep`, `size` and `vectors` read it like any network, and \
        ONNX Runtime computes the same codes. The printed accuracies are those of the file.";
    Inspect = "inspect", "Print the network as guardbit reads it, and with --hw what lowering does with each operation\n\n\
        --json prints an object with `network`, `hw` and `operations`. With --pass it has `passes`, and such an object for \
        the network `before` and `after`; with --audit it has `network` and `decisions`.";
    HwShow = "hw show", "Print an accelerator as a complete file with all defaults";
    HwCosts = "hw costs", "List the cost models for energy and area, or print the figures of one";
    HwCheck = "hw check", "Check an accelerator: report errors and likely mistakes";
    Completions = "completions", "Print the script with which a shell completes commands and options";
    Man = "man", "Write the man pages of all commands";
    Explain = "explain", "Explain the code of an error or warning: cause, example, cure";
    Help = "help", "Print a short text on a topic, e.g. overflow or exit-codes, or the help of a command";
}

/// Option that every command has.
#[derive(Debug, Clone, Copy)]
pub struct GlobalOption {
    /// The name, without the dashes.
    pub name: &'static str,
    /// The placeholder of its value; empty for a flag.
    pub value: &'static str,
    /// The help text.
    pub help: &'static str,
}

/// Every option that all commands have.
pub const GLOBAL_OPTIONS: [GlobalOption; 4] = [
    GlobalOption {
        name: "threads",
        value: "N",
        help: "Number of threads; results do not depend on it [default: all cores]",
    },
    GlobalOption { name: "json", value: "", help: "Print results as JSON on stdout" },
    GlobalOption {
        name: "force",
        value: "",
        help: "Replace existing output that guardbit wrote; files of others, and result folders that changed since, are \
               refused",
    },
    GlobalOption { name: "quiet", value: "", help: "Suppress progress and notes on stderr" },
];

/// Set of commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Commands(u32);

impl Commands {
    const NONE: Self = Self(0);

    const fn of(commands: &[Command]) -> Self {
        let (mut bits, mut at) = (0, 0);
        while at < commands.len() {
            bits |= 1 << commands[at] as u32;
            at += 1;
        }
        Self(bits)
    }

    /// Returns whether the set contains a command.
    pub const fn has(self, command: Command) -> bool {
        self.0 >> command as u32 & 1 == 1
    }
}

/// Place of an argument in a study file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InStudy {
    /// Nowhere.
    No,
    /// In the settings.
    Setting,
    /// Below `sweep`.
    Sweep,
}

/// Function that sets the value of an axis, given as text, in the settings of a run.
pub(crate) type SetAxis = fn(&mut Variant, &str) -> Result<(), String>;

/// One argument: its names, values, help and uses.
pub struct Row {
    /// The name of the option, with `_` instead of `-`.
    pub name: &'static str,
    /// The commands that take it.
    pub commands: Commands,
    /// The commands that require it.
    pub needed: Commands,
    /// The placeholder of its value in help texts.
    pub value: &'static str,
    /// Returns the help text for a command.
    pub help: fn(Command) -> String,
    /// Returns the default value for a command, if there is a fixed one.
    pub default: fn(Command) -> Option<String>,
    /// Returns the values that a command accepts, each with its meaning, if they do not follow from the type.
    choices: fn(Command) -> Vec<Choice>,
    /// The short form of the option.
    pub short: Option<char>,
    /// Whether it is positional instead of an option.
    pub is_positional: bool,
    /// Returns the least number of values of a positional list.
    pub at_least: fn(Command) -> usize,
    /// Whether the values of one option are separated by commas.
    pub is_list: bool,
    /// Whether the command line has the argument.
    pub on_command_line: bool,
    /// Whether the Python function has it. Options that only state a default or change the exit code are
    /// omitted there.
    pub(crate) in_python: bool,
    /// Its name in Python.
    pub(crate) python: PythonName,
    /// Whether it may be combined with a study file.
    pub(crate) beside_study: bool,
    pub(crate) in_study: InStudy,
    /// Description in the schema of study files, if it differs from the help text.
    pub(crate) study_help: &'static str,
    /// Applies a value, if the argument is an axis.
    pub(crate) axis: Option<SetAxis>,
    /// Whether `quantize:NAME` is an axis of sweeps.
    pub(crate) quantizes: bool,
    /// Whether manifests list it among the settings. Other arguments have their own keys, or affect no
    /// result.
    pub(crate) listed: bool,
    /// The form of a value.
    pub kind: Kind,
    /// Whether it has one value, several, or is a flag.
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

/// A value of an option, with its meaning.
pub type Choice = (&'static str, Option<&'static str>);

/// The name of an argument in Python.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PythonName {
    /// The name of the option.
    Same,
    /// Another name.
    As(&'static str),
}

/// Returns a row with defaults; `arguments!` fills in what follows from the type of the field.
const fn row(commands: Commands) -> Row {
    Row {
        name: "",
        commands,
        needed: Commands::NONE,
        value: "",
        help: |_| String::new(),
        default: |_| None,
        choices: |_| Vec::new(),
        short: None,
        is_positional: false,
        at_least: |_| 1,
        is_list: false,
        on_command_line: true,
        in_python: true,
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

/// Declares [`Arguments`] and [`ROWS`] from rows `FIELD: TYPE = NAME, ROW;`.
macro_rules! arguments {
    ($($(#[doc = $about:literal])* $field:ident: $ty:ty = $name:literal, $row:expr;)*) => {
        /// Arguments as given on the command line, in a study file or in Python. Defaults are filled in later.
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

    /// Returns the values to choose from, each with its meaning; empty if any text may be valid.
    pub fn values(&self, command: Command) -> Vec<Choice> {
        match (self.choices)(command) {
            chosen if chosen.is_empty() => (self.words)().into_iter().map(|word| (word, None)).collect(),
            chosen => chosen,
        }
    }

    /// Returns further spellings of values, which no command offers.
    pub fn spellings(&self) -> impl Iterator<Item = &'static str> + '_ {
        let offered = |word: &&str| Command::ALL.iter().any(|&one| self.offers(one, word));
        (self.words)().into_iter().filter(move |word| !offered(word))
    }

    fn offers(&self, command: Command, word: &str) -> bool {
        self.values(command).iter().any(|(name, _)| *name == word)
    }

    /// Returns the help text with the values to choose from and the default.
    pub(crate) fn described(&self, command: Command) -> String {
        let (help, default) = ((self.help)(command), (self.default)(command));
        let one = |(name, meaning): Choice| match meaning {
            Some(meaning) => format!("{name} ({meaning})"),
            None => name.to_owned(),
        };
        let values: Vec<String> = self.values(command).into_iter().map(one).collect();
        let values = if values.is_empty() { String::new() } else { format!(": {}", values.join(", ")) };
        let default = default.map_or(String::new(), |default| format!(" [default: {default}]"));
        match help.split_once(" [default") {
            Some((before, after)) => format!("{before}{values} [default{after}"),
            None => help + &values + &default,
        }
    }

    /// Returns the description for the first command that has it.
    pub(crate) fn about(&self) -> String {
        let command = Command::ALL.iter().find(|&&command| self.commands.has(command));
        command.map_or(String::new(), |&command| self.described(command))
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

    /// Returns the name used for a list of values: in study files and manifests.
    pub(crate) fn plural(&self) -> &'static str {
        if self.name == "axis" { "axes" } else { self.name }
    }

    /// Returns whether the values are paths, which in a study file are relative to it.
    pub(crate) fn is_path(&self) -> bool {
        self.kind == Kind::Path
    }

    /// Checks a value given as text.
    ///
    /// # Errors
    /// A description of the problem.
    pub fn check(&self, text: &str) -> Result<(), String> {
        (self.check)(text)
    }

    /// Sets a value of `arguments`, given as text.
    ///
    /// # Errors
    /// A description of the problem.
    pub fn put(&self, arguments: &mut Arguments, text: &str) -> Result<(), String> {
        (self.put)(arguments, text)
    }

    /// Sets a path of `arguments`, which need not be valid text.
    pub fn put_path(&self, arguments: &mut Arguments, path: &Path) {
        (self.put_path)(arguments, path);
    }

    /// Sets a value of `arguments`, given as JSON.
    pub(crate) fn put_json(&self, arguments: &mut Arguments, value: &Json) -> Result<(), String> {
        (self.put_json)(arguments, value)
    }

    pub(crate) fn is_given(&self, arguments: &Arguments) -> bool {
        (self.given)(arguments)
    }

    /// Returns the value as manifests show it.
    pub(crate) fn shown(&self, arguments: &Arguments) -> Json {
        (self.shown)(arguments)
    }
}

impl Arguments {
    /// Reads the arguments of a command from JSON, where values are listed by name.
    ///
    /// # Errors
    /// [`Misuse`] naming an argument that the command does not have, or an invalid value.
    pub fn of_json(command: Command, values: &Map<String, Json>) -> Result<Self, Misuse> {
        let mut all = Self::default();
        for (name, value) in values {
            let row = Row::find(command, name).ok_or_else(|| Misuse::unknown(command, name))?;
            row.put_json(&mut all, value).map_err(|problem| Misuse::value(row.name, problem))?;
        }
        Ok(all)
    }

    /// Resolves relative paths against `dir`.
    pub(crate) fn moved(&mut self, dir: &Path) {
        ROWS.iter().for_each(|row| (row.moved)(self, dir));
    }
}

/// Returns a text in which every option `--name` is replaced by the result of `spelled`.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Every value that a command offers parses. Of an enumerated type every value is offered, by its name.
    #[test]
    fn values_that_are_offered_parse() {
        for row in ROWS {
            for &command in Command::ALL.iter().filter(|&&command| row.commands.has(command)) {
                for (name, _) in row.values(command) {
                    assert_eq!(row.check(name), Ok(()), "{} of {}", row.name, command.name());
                }
                let help = (row.help)(command);
                let listed = row.values(command).len() > 1
                    && row.values(command).iter().all(|(name, _)| help.contains(name));
                assert!(!listed, "the help of {} repeats its values: {help}", row.name);
            }
            let of_type: Vec<&str> = (row.words)();
            let offered = |word: &&&str| Command::ALL.iter().any(|&command| row.offers(command, word));
            // A scheme has a name and an identifier.
            let names = of_type.iter().filter(offered).count();
            assert!(names * if row.name == "requantize" { 2 } else { 1 } >= of_type.len(), "{}", row.name);
        }
    }
}
