//! `guardbit completions` and `guardbit man`: what a package of the command has in addition to it.

use std::path::Path;
use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;
use guardbit_files::{FolderError, SingleFile, read_text};

use super::existing;
use crate::args::{Args, Completions, Given, Global, Man as ManPages};
use crate::diagnostic::Failure;
use crate::output::print;

/// Most bytes of a file that may be a page.
const MOST: u64 = 1 << 20;

pub fn completions(args: &Given<Completions>) -> Result<ExitCode, Failure> {
    let name = args.shell.as_deref().unwrap_or_default();
    let shell: Shell = name.parse().map_err(|_| {
        Failure::usage(format!("unknown shell `{name}`"), "`guardbit help completions` lists them")
    })?;
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "guardbit", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

pub fn man(args: &Given<ManPages>, global: &Global) -> Result<ExitCode, Failure> {
    let folder = args.pages.as_deref().unwrap_or(Path::new(""));
    let mut command = Args::command().disable_help_subcommand(true);
    command.build();
    let pages = pages(&command).map_err(|source| FolderError::Write { path: folder.into(), source })?;
    // Nothing is written if one of them may not be.
    let place = |(name, page): (String, Vec<u8>)| {
        SingleFile::new(&folder.join(name), existing(global), is_page).map(|file| (file, page))
    };
    let placed = pages.into_iter().map(place).collect::<Result<Vec<_>, _>>()?;
    placed.iter().try_for_each(|(file, page)| file.write(page))?;
    Ok(ExitCode::SUCCESS)
}

/// The page of a command with its name, and those of the commands below it.
fn pages(command: &clap::Command) -> std::io::Result<Vec<(String, Vec<u8>)>> {
    let man = Man::new(command.clone());
    let mut page = Vec::new();
    man.render(&mut page)?;
    let mut all = vec![(man.get_filename(), page)];
    for below in command.get_subcommands() {
        all.extend(pages(below)?);
    }
    Ok(all)
}

/// Whether a file is a page of guardbit.
fn is_page(path: &Path) -> bool {
    read_text(path, MOST).is_ok_and(|text| text.lines().any(|line| line.starts_with(".TH guardbit")))
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;
    use guardbit_study::{Command, Row};

    use super::*;

    /// The table of arguments names every shell.
    #[test]
    fn the_table_names_every_shell() {
        let choices = Row::find(Command::Completions, "shell").unwrap().values(Command::Completions);
        let names = Shell::value_variants().iter().map(ToString::to_string);
        assert!(choices.into_iter().map(|(name, _)| name.to_owned()).eq(names));
    }
}
