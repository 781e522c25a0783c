//! Sets what `guardbit --version` prints. Sets `cfg(shared_models)` if the real networks lie next to the project, and
//! `cfg(shared_hostile)` if the hostile files do: tests that need absent files are then ignored instead of passed.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-changed=Cargo.toml");
    let release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    // A development build would compile the command again after every commit.
    let commit = if release { commit() } else { None };
    let facts = [commit, env::var("PROFILE").ok(), env::var("TARGET").ok()];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    println!("cargo:rustc-env=GUARDBIT_VERSION={} ({})", env!("CARGO_PKG_VERSION"), facts.join(", "));
    for folder in ["models", "hostile"] {
        let path = format!("../../shared/{folder}");
        println!("cargo:rustc-check-cfg=cfg(shared_{folder})");
        // Cargo runs this script for every build if it watches a path that does not exist.
        if Path::new(&path).is_dir() {
            println!("cargo:rustc-cfg=shared_{folder}");
            println!("cargo:rerun-if-changed={path}");
        }
    }
}

/// Returns the commit of the sources: that of the repository, or of the package that `cargo package` made of it.
fn commit() -> Option<String> {
    const PACKAGED: &str = ".cargo_vcs_info.json";
    let hash = if Path::new(PACKAGED).exists() {
        let text = fs::read_to_string(PACKAGED).ok()?;
        text.split_once("\"sha1\": \"")?.1.split('"').next()?.to_owned()
    } else if Path::new("../.git").exists() {
        // Every commit adds a line to this file.
        let log = git(&["rev-parse", "--git-path", "logs/HEAD"]).filter(|path| Path::new(path).exists());
        log.iter().for_each(|path| println!("cargo:rerun-if-changed={path}"));
        git(&["rev-parse", "HEAD"])?
    } else {
        return None;
    };
    Some(format!("commit {}", hash.get(..12)?))
}

/// Returns the first line that a command of git prints.
fn git(arguments: &[&str]) -> Option<String> {
    let output =
        Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.lines().next()?.to_owned())
}
