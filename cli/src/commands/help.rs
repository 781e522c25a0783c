//! `guardbit help`.

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::args::{Args, Given, Help};
use crate::diagnostic::Failure;
use crate::output::print;
use crate::pages::{HELP, hanging, nearest, shown};

pub fn help(args: &Given<Help>) -> Result<ExitCode, Failure> {
    let wanted = args.topic.join(" ");
    if let Some(topic) = HELP.iter().find(|topic| topic.name == wanted) {
        print(&shown(&topic.text))?;
    } else if let Some(text) = of_command(&args.topic) {
        print(&text)?;
        if args.topic.is_empty() {
            print(&topics())?;
        }
    } else {
        return Err(unknown(&wanted));
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the help of a command; of guardbit itself without words.
fn of_command(words: &[String]) -> Option<String> {
    let mut command = &Args::command();
    for word in words {
        command = command.find_subcommand(word)?;
    }
    let words = std::iter::once("guardbit").chain(words.iter().map(String::as_str)).chain(["--help"]);
    // Without colours, like `--help`.
    Args::try_parse_from(words).err().map(|help| help.render().to_string())
}

fn topics() -> String {
    let line = |topic: &crate::pages::Entry| format!("  {}\n{}\n", topic.name, hanging(&topic.about(), 6));
    format!("\nTopics:\n{}", HELP.iter().map(line).collect::<String>())
}

fn unknown(wanted: &str) -> Failure {
    let commands = Args::command();
    let names =
        HELP.iter().map(|topic| topic.name).chain(commands.get_subcommands().map(clap::Command::get_name));
    let near = nearest(wanted, names).map_or(String::new(), |near| format!("did you mean `{near}`? "));
    // A mode or a word of a topic.
    let quoted = [format!("`{wanted}`"), format!("- {wanted}:")];
    let has = |topic: &&crate::pages::Entry| quoted.iter().any(|word| topic.text.contains(word));
    let with = HELP.iter().find(has).filter(|_| near.is_empty() && !wanted.is_empty());
    let near = with.map_or(near, |topic| format!("`guardbit help {}` describes it; ", topic.name));
    let topics: Vec<&str> = HELP.iter().map(|topic| topic.name).collect();
    let help = format!("{near}`guardbit --help` lists the commands; topics: {}", topics.join(", "));
    Failure::usage(format!("unknown topic or command `{wanted}`"), help)
}
