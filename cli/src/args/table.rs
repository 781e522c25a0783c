//! Options of commands, generated from their table in `guardbit-study`.

use std::marker::PhantomData;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, ValueParser};
use clap::{Arg, ArgAction, ArgMatches, FromArgMatches};
use guardbit_study::{Arguments, Command, Kind, Row, Shape};

/// Command with arguments in the table.
pub trait Tabled {
    const COMMAND: Command;
}

/// Declares a type per command.
macro_rules! tabled {
    ($($name:ident)*) => {
        $(
            #[derive(Debug, Clone, Copy)]
            pub struct $name;

            impl Tabled for $name {
                const COMMAND: Command = Command::$name;
            }
        )*
    };
}

tabled! {
    Run Sweep Merge Status Size Explore Compare Plot Vectors Check DiffLayer Discriminate Quantize Inspect HwShow HwCosts HwCheck Completions Man Explain Help Demo
}

/// Arguments of a command as given.
#[derive(Debug, Clone)]
pub struct Given<C>(Arguments, PhantomData<C>);

impl<C> Deref for Given<C> {
    type Target = Arguments;

    fn deref(&self) -> &Arguments {
        &self.0
    }
}

impl<C> Given<C> {
    /// Returns the output folder.
    pub fn out(&self) -> &Path {
        // clap requires the folder for commands that need one.
        self.output_dir.as_deref().unwrap_or(Path::new(""))
    }
}

fn rows<C: Tabled>() -> impl Iterator<Item = &'static Row> {
    Row::all(C::COMMAND).filter(|row| row.on_command_line)
}

impl<C: Tabled> clap::Args for Given<C> {
    fn augment_args(command: clap::Command) -> clap::Command {
        let about = C::COMMAND.about();
        let (first, more) = about.split_once("\n\n").map_or((about, ""), |(first, _)| (first, about));
        let command = command.about(first).args(rows::<C>().map(|row| option(C::COMMAND, row)));
        if more.is_empty() { command } else { command.long_about(more) }
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

fn option(command: Command, row: &'static Row) -> Arg {
    let default = (row.default)(command).map_or(String::new(), |default| format!(" [default: {default}]"));
    let arg = Arg::new(row.name).help((row.help)(command) + &default).required(row.needed.has(command));
    // Only a study file can have several networks, and several accelerators are compared only as candidates.
    let once = row.shape == Shape::One
        || row.name == "model"
        || row.name == "hw" && command != Command::Discriminate;
    let arg = match row.is_positional {
        true if once => arg,
        true => arg.num_args((row.at_least)(command)..),
        false => arg.long(row.option()),
    };
    let arg = match row.short {
        Some(letter) => arg.short(letter),
        None => arg,
    };
    if row.shape == Shape::Flag {
        return arg.action(ArgAction::SetTrue);
    }
    let arg = arg.action(if once { ArgAction::Set } else { ArgAction::Append }).value_name(row.value);
    // A negative number is a value that the parser rejects with its reason, not an unknown option.
    let arg = arg.allow_negative_numbers(true).allow_hyphen_values(row.name == "observed");
    let arg = if row.is_list { arg.value_delimiter(',') } else { arg };
    arg.value_parser(parser(command, row))
}

/// Returns a parser that checks a value, so that error messages name its option.
fn parser(command: Command, row: &'static Row) -> ValueParser {
    let values = row.values(command);
    if !values.is_empty() {
        let choice = |(name, help): (&'static str, Option<&'static str>)| match help {
            Some(help) => PossibleValue::new(name).help(help),
            None => PossibleValue::new(name),
        };
        // Further spellings parse, but are not offered.
        let others = row.spellings().map(|word| PossibleValue::new(word).hide(true));
        return PossibleValuesParser::new(values.iter().copied().map(choice).chain(others)).into();
    }
    match row.kind {
        Kind::Path => clap::value_parser!(PathBuf),
        _ => ValueParser::new(move |text: &str| row.check(text).map(|()| text.to_owned())),
    }
}

impl<C: Tabled> FromArgMatches for Given<C> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut given = Self(Arguments::default(), PhantomData);
        given.update_from_arg_matches(matches)?;
        Ok(given)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for row in rows::<C>() {
            if row.shape == Shape::Flag {
                row.put(&mut self.0, &matches.get_flag(row.name).to_string()).map_err(invalid)?;
            } else if row.kind == Kind::Path {
                let paths = matches.get_many::<PathBuf>(row.name).into_iter().flatten();
                paths.for_each(|path| row.put_path(&mut self.0, path));
            } else {
                let mut texts = matches.get_many::<String>(row.name).into_iter().flatten();
                texts.try_for_each(|text| row.put(&mut self.0, text)).map_err(invalid)?;
            }
        }
        Ok(())
    }
}

fn invalid(problem: String) -> clap::Error {
    clap::Error::raw(clap::error::ErrorKind::ValueValidation, problem)
}
