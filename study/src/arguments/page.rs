//! `docs/reference/arguments.md`: every argument of every command.

use super::python::has_function;
use super::{Command, GLOBAL_OPTIONS, InStudy, Row, Shape};
use crate::axes::argument_keys;

/// Returns the text of the page, equal to the committed `docs/reference/arguments.md`.
pub fn arguments_text() -> String {
    let mut text = format!(
        "# Arguments\n\n\
         To see what a command takes, run `guardbit help COMMAND`, or `help(guardbit.run)` in Python. This page lists the arguments of \
         all commands. It is generated from the table in `study/src/arguments/table.rs`.\n\n\
         | column | meaning |\n|---|---|\n\
         | option | on the command line; bold if the command cannot do without |\n\
         | study file | key in a study file of `guardbit sweep` |\n\
         | axis | key of `--axis`, of `axes` in a study file, and in Python |\n\
         | Python | name in the function of the command |\n\n\
         Keys of axes are those of the accelerator ([accelerator_keys.md](accelerator_keys.md)), and {}.\n",
        argument_keys()
    );
    let link = |&command: &Command| {
        let name = command.name();
        format!("[{name}](#guardbit-{})", name.replace(' ', "-"))
    };
    let links: Vec<String> = Command::ALL.iter().map(link).collect();
    text += &format!(
        "\nCommands: {}, [options of every command](#options-of-every-command).\n",
        links.join(", ")
    );
    for &command in Command::ALL {
        let about = command.about().replace('|', "\\|");
        text += &format!("\n## `guardbit {}`\n\n{}.\n\n", command.name(), about.trim_end_matches('.'));
        text += "| option | meaning | study file | axis | Python |\n|---|---|---|---|---|\n";
        Row::all(command).for_each(|row| text += &line(command, row));
    }
    text += "\n## Options of every command\n\n| option | meaning |\n|---|---|\n";
    for option in GLOBAL_OPTIONS {
        text += &format!(
            "| `{}` | {} |\n",
            format!("--{} {}", option.name, option.value).trim_end(),
            option.help
        );
    }
    text + "\n## Together\n\nWhat excludes or needs what, for every command that has both.\n\n| rule | what to do |\n|---|---|\n"
        + &super::rules::lines()
}

/// Returns a row of a command's table.
fn line(command: Command, row: &Row) -> String {
    let option = match (row.on_command_line, row.is_positional) {
        (false, _) => String::new(),
        (true, true) if row.shape == Shape::Many && !["model", "hw"].contains(&row.name) => {
            format!("`{}...`", row.value)
        }
        (true, true) => format!("`{}`", row.value.replace('|', "\\|")),
        (true, false) => {
            let short = row.short.map_or(String::new(), |short| format!("-{short}, "));
            let value = row.value.replace('|', "\\|");
            format!("`{}`", format!("{short}--{} {value}", row.option()).trim_end())
        }
    };
    let option = if row.needed.has(command) { format!("**{option}**") } else { option };
    let help = row.described(command).replace('|', "\\|");
    let sweeps = command == Command::Sweep;
    let study = match row.in_study {
        InStudy::Setting if sweeps => format!("`{}`", row.plural()),
        InStudy::Sweep if sweeps => format!("`sweep.{}`", row.plural()),
        _ => String::new(),
    };
    let axis = match command {
        Command::Sweep if row.axis.is_some() => format!("`{}`", row.name),
        Command::Sweep if row.name == "dim" => "`dim:AXIS`".into(),
        Command::Quantize if row.quantizes => format!("`quantize:{}`", row.option()),
        _ => String::new(),
    };
    let python = match has_function(command) && row.in_python {
        true => format!("`{}`", row.python_name()),
        false => String::new(),
    };
    format!("| {option} | {help} | {study} | {axis} | {python} |\n")
}

#[cfg(test)]
mod tests {
    use super::super::{Arguments, ROWS};
    use super::*;

    /// A row without a description, or one that no command has, is a mistake.
    #[test]
    fn every_row_is_complete() {
        for row in ROWS {
            let commands: Vec<Command> =
                Command::ALL.iter().copied().filter(|c| row.commands.has(*c)).collect();
            assert!(!commands.is_empty(), "{} belongs to no command", row.name);
            for command in commands {
                assert!(!(row.help)(command).is_empty(), "{} has no help", row.name);
                let found = Row::find(command, row.name).unwrap();
                let is_page = !row.on_command_line || !found.on_command_line;
                assert!(std::ptr::eq(found, row) || is_page, "`{}` stands twice in {command:?}", row.name);
            }
            assert!(
                row.shape == Shape::Flag || !row.on_command_line || !row.value.is_empty(),
                "{}",
                row.name
            );
            assert!(!row.is_given(&Arguments::default()), "{} is given by default", row.name);
        }
    }
}
