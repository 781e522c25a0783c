//! Completions and man pages follow from the command line.

use std::fs;
use std::path::Path;
use std::process::Command as Process;

use guardbit_study::{Command, Row};

use crate::common::{contents, guardbit, succeed};

/// What bash offers behind some words, by the script.
fn offered(script: &Path, words: &[&str]) -> Vec<String> {
    let words = words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>();
    let (count, list) = (words.len() - 1, words.join(" "));
    let line = format!(
        "source {}; COMP_WORDS=({list}); COMP_CWORD={count}; _guardbit guardbit {} {}; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        script.display(),
        words[count],
        words[count - 1],
    );
    let done = Process::new("bash").args(["--norc", "-c", &line]).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap().lines().map(Into::into).collect()
}

#[test]
fn bash_completes_commands_options_and_values() {
    let dir = tempfile::tempdir().unwrap();
    let script = dir.path().join("guardbit.bash");
    fs::write(&script, succeed(&["completions", "bash"])).unwrap();
    for (words, expected) in [
        (&["guardbit", "sw"][..], "sweep"),
        (&["guardbit", "sweep", "--ove"], "--overflow"),
        (&["guardbit", "hw", "check", "--mo"], "--model"),
        (&["guardbit", "cost", "sch"], "schema"),
    ] {
        assert!(offered(&script, words).contains(&expected.to_owned()), "{words:?}");
    }
    // Every value of the table is offered for its option.
    for &command in Command::ALL {
        for row in Row::all(command).filter(|row| row.on_command_line && !row.is_positional) {
            let names: Vec<&str> = row.values(command).into_iter().map(|(name, _)| name).collect();
            let option = format!("--{}", row.option());
            let words: Vec<&str> =
                ["guardbit"].into_iter().chain(command.name().split(' ')).chain([&*option, ""]).collect();
            if !names.is_empty() {
                assert_eq!(offered(&script, &words), names, "{words:?}");
            }
        }
    }
    assert_eq!(offered(&script, &["guardbit", "explore", "--mode", ""]), ["propagated"]);
}

#[test]
fn every_shell_has_a_script() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = succeed(&["completions", shell]);
        // Those of elvish and powershell do not complete values.
        let values = if ["elvish", "powershell"].contains(&shell) { "" } else { "verilator" };
        assert!(["merge", "simulator", values].iter().all(|word| script.contains(word)), "{shell}");
    }
}

/// There is a page for every command, with each of its options.
#[test]
fn man_pages_have_every_option() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().to_str().unwrap();
    succeed(&["man", out]);
    let pages = contents(dir.path());
    for &command in Command::ALL {
        let name = format!("guardbit-{}.1", command.name().replace(' ', "-"));
        let page = String::from_utf8(pages[&name].clone()).unwrap();
        for row in Row::all(command).filter(|row| row.on_command_line && !row.is_positional) {
            let option = format!("--{}", row.option()).replace('-', "\\-");
            assert!(page.contains(&option), "{name} lacks {option}");
        }
    }
    assert!(pages.contains_key("guardbit.1"));
    // Pages that are there stay, and are replaced on request; a file of others never is.
    assert_eq!(guardbit(&["man", out]).status.code(), Some(2));
    succeed(&["man", out, "--force"]);
    assert!(contents(dir.path()) == pages);
    fs::write(dir.path().join("guardbit-run.1"), ".TH other 1\n").unwrap();
    fs::remove_file(dir.path().join("guardbit.1")).unwrap();
    assert_eq!(guardbit(&["man", out, "--force"]).status.code(), Some(2));
    assert!(!dir.path().join("guardbit.1").exists(), "nothing is written if one page may not be");
}
