//! Rules on which arguments exclude or require each other, for the command line, study files and Python.

use std::fmt;
use std::path::Path;

use super::{Arguments, Command, Commands, ROWS, Row, respelled};

/// Relation between two arguments of some commands.
pub(super) struct Rule {
    pub commands: Commands,
    pub name: &'static str,
    pub relation: Relation,
    pub other: &'static str,
    /// How to resolve a violation.
    pub help: &'static str,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Relation {
    /// Only one of the two may be given.
    Excludes,
    /// The first requires the second to have an effect.
    Needs,
    /// Equal to [`Needs`](Self::Needs) if a third argument is given.
    NeedsWith(&'static str),
}

const ALL: Commands = Commands::of(Command::ALL);
const RUNS: Commands = Commands::of(&[Command::Run, Command::Sweep, Command::Size, Command::Explore]);
const QUANTIZE: Commands = Commands::of(&[Command::Quantize]);
const VECTORS: Commands = Commands::of(&[Command::Vectors]);
const HW_CHECK: Commands = Commands::of(&[Command::HwCheck]);
const WITHOUT_HW: Commands = Commands::of(&[Command::Quantize, Command::Inspect]);

const fn rule(
    commands: Commands,
    name: &'static str,
    relation: Relation,
    other: &'static str,
    help: &'static str,
) -> Rule {
    Rule { commands, name, relation, other, help }
}

const NAME_A_FOLDER: &str = "name a folder for the results with --output-dir";

pub(super) const RULES: &[Rule] = &[
    rule(ALL, "input", Relation::Excludes, "random", "keep one of the two"),
    rule(
        Commands::of(&[Command::Run, Command::Sweep, Command::Size, Command::Explore, Command::Vectors]),
        "samples",
        Relation::Needs,
        "input",
        "the number of random samples is --random",
    ),
    rule(RUNS, "seed", Relation::NeedsWith("input"), "samples", "add --samples N, or leave --seed out"),
    rule(QUANTIZE, "seed", Relation::Needs, "samples", "add --samples N, or leave --seed out"),
    rule(VECTORS, "sample", Relation::Needs, "whole", "single dot products come from all samples"),
    rule(VECTORS, "image_order", Relation::Needs, "whole", "a bundle has no images"),
    rule(VECTORS, "whole", Relation::Excludes, "cases", "whole layers have every dot product"),
    rule(VECTORS, "whole", Relation::Excludes, "formats", "images are .mem files"),
    rule(VECTORS, "whole", Relation::Excludes, "waves", "the bench of a layer dumps waves with +waves=FILE"),
    rule(VECTORS, "whole", Relation::Excludes, "byte_slots", "words of images are packed without gaps"),
    rule(VECTORS, "whole", Relation::Excludes, "mode", "layers read what the layers before them wrote"),
    rule(ALL, "zip", Relation::Needs, "axis", "name the axes with --axis"),
    rule(ALL, "where", Relation::Needs, "axis", "name the axes with --axis"),
    rule(WITHOUT_HW, "set", Relation::Needs, "hw", "name the accelerator with --hw"),
    rule(HW_CHECK, "dim", Relation::Needs, "model", "name the network with --model"),
    rule(QUANTIZE, "mixed", Relation::Needs, "hw", "name the accelerator with --hw"),
    rule(QUANTIZE, "mixed", Relation::Excludes, "dynamic", "keep one of the two"),
    rule(QUANTIZE, "per_tensor", Relation::Excludes, "per_channel", "keep one of the two"),
    rule(QUANTIZE, "symmetric", Relation::Excludes, "asymmetric", "keep one of the two"),
    rule(ALL, "shard", Relation::Needs, "output_dir", "name a folder for the part with --output-dir"),
    rule(RUNS, "dump_tensors", Relation::Needs, "output_dir", NAME_A_FOLDER),
    rule(RUNS, "dump_sums", Relation::Needs, "output_dir", NAME_A_FOLDER),
    rule(RUNS, "histograms", Relation::Needs, "output_dir", NAME_A_FOLDER),
    rule(RUNS, "shard", Relation::Excludes, "open", "open the report of the merged folder"),
];

/// Invalid arguments, described in terms of the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misuse {
    /// Argument at fault.
    pub name: String,
    message: String,
    help: String,
}

impl Misuse {
    /// Reports a value that cannot be read.
    pub(crate) fn value(name: &str, problem: impl fmt::Display) -> Self {
        Self { name: name.into(), message: format!("{}: {problem}", option(name)), help: about(name) }
    }

    /// Reports an argument that the command does not have.
    pub(crate) fn unknown(command: Command, name: &str) -> Self {
        let names: Vec<&str> = Row::all(command).map(|row| row.name).collect();
        let message = format!("unknown argument `{name}`: `{}` has {}", command.name(), names.join(", "));
        let help = format!("`guardbit help {}` describes them", command.name());
        Self { name: name.into(), message, help }
    }

    /// Reports a missing argument that the command requires.
    pub(crate) fn missing(name: &str) -> Self {
        Self { name: name.into(), message: format!("{} is missing", option(name)), help: about(name) }
    }

    /// Reports an argument that cannot be combined with a study file.
    pub(crate) fn beside_study(name: &str) -> Self {
        let message = format!("{} cannot be combined with a study file", option(name));
        let help = "write the setting into the study file, or sweep a network with --hw".into();
        Self { name: name.into(), message, help }
    }

    /// Reports a network where a study file is expected.
    pub(crate) fn network_as_study(path: &Path) -> Self {
        let message = format!("{} is a network, but --hw is missing", path.display());
        Self {
            name: "hw".into(),
            message,
            help: "give --hw HW to sweep a network, or name a study file".into(),
        }
    }

    fn of(rule: &Rule) -> Self {
        let (name, other) = (option(rule.name), option(rule.other));
        let message = match rule.relation {
            Relation::Excludes => format!("{name} and {other} exclude each other"),
            Relation::Needs => format!("{name} needs {other}"),
            Relation::NeedsWith(third) => format!("{name} with {} needs {other}", option(third)),
        };
        Self { name: rule.name.into(), message, help: rule.help.into() }
    }

    /// Returns how to resolve it.
    pub fn help(&self) -> &str {
        &self.help
    }

    /// Returns message and help with the names of arguments in study files.
    pub(crate) fn in_study(&self) -> [String; 2] {
        [&self.message, &self.help].map(|text| respelled(text, |name| format!("`{name}`")))
    }
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Misuse {}

/// Returns the help text of an argument.
fn about(name: &str) -> String {
    ROWS.iter().find(|row| row.name == name).map_or(String::new(), Row::about)
}

/// Returns the option name of an argument.
fn option(name: &str) -> String {
    format!("--{}", name.replace('_', "-"))
}

impl Arguments {
    /// Checks the rules of a command.
    ///
    /// # Errors
    /// The first violated rule.
    pub fn check(&self, command: Command) -> Result<(), Misuse> {
        let given = |name: &str| Row::find(command, name).is_some_and(|row| row.is_given(self));
        let broken = |rule: &&Rule| {
            rule.commands.has(command)
                && given(rule.name)
                && match rule.relation {
                    Relation::Excludes => given(rule.other),
                    Relation::Needs => !given(rule.other),
                    Relation::NeedsWith(third) => given(third) && !given(rule.other),
                }
        };
        RULES.iter().find(broken).map_or(Ok(()), |rule| Err(Misuse::of(rule)))
    }
}

/// Returns the rules as lines of a Markdown table.
pub(super) fn lines() -> String {
    let line = |rule: &Rule| {
        let misuse = Misuse::of(rule);
        format!("| {misuse} | {} |\n", misuse.help())
    };
    let mut lines: Vec<String> = Vec::new();
    for line in RULES.iter().map(line) {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A misspelled name would disable a rule.
    #[test]
    fn rules_name_arguments_of_their_commands() {
        for rule in RULES {
            let third = match rule.relation {
                Relation::NeedsWith(third) => third,
                Relation::Excludes | Relation::Needs => rule.name,
            };
            let holds = |&command: &Command| {
                rule.commands.has(command)
                    && [rule.name, rule.other, third].iter().all(|name| Row::find(command, name).is_some())
            };
            assert!(Command::ALL.iter().any(holds), "{} and {}", rule.name, rule.other);
        }
    }
}
