//! Commands that write folders, with a small network: the real binary with injected faults in its file
//! operations.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use super::contents;

const NETWORK: &str = include_str!("../../../study/tests/net.yaml");

/// Every command that writes a folder, without its options for samples. The folder is called `out`.
pub const COMMANDS: [(&str, &str); 5] = [
    ("run", "run net.yaml --hw fpga-int14-os -o out"),
    ("sweep", "sweep net.yaml --hw fpga-int14-os --bits 12..=14 -o out"),
    ("size", "size net.yaml --hw fpga-int14-os -o out"),
    (
        "explore",
        "explore net.yaml --hw fpga-int14-os --axis accumulation.acc.bits=12,14 --budget mismatch=5% -o out",
    ),
    ("vectors", "vectors net.yaml --hw fpga-int14-os --layer 0 --cases 1 --formats dec -o out"),
];

/// Manifests of commands that resume.
pub const RESUMED: [&str; 2] = ["sweep.json", "explore.json"];

/// Returns whether a command resumes.
pub fn resumes(name: &str) -> bool {
    RESUMED.contains(&format!("{name}.json").as_str())
}

/// Returns the command line of a command.
pub fn command(name: &str) -> &'static str {
    COMMANDS.iter().find(|(known, _)| *known == name).unwrap().1
}

/// Returns whether faults can be injected: only in builds with debug assertions. Tests are built like the
/// binary.
pub fn has_faults() -> bool {
    if !cfg!(debug_assertions) {
        eprintln!("skipped: a release has no faults");
    }
    cfg!(debug_assertions)
}

/// Folder in which guardbit is run.
pub struct Place(pub tempfile::TempDir);

impl Place {
    pub fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        fs::write(place.path().join("net.yaml"), NETWORK).unwrap();
        place
    }

    /// Creates a place whose folder `out` has these files.
    pub fn with_out(out: &BTreeMap<String, Vec<u8>>) -> Self {
        let place = Self::new();
        for (name, bytes) in out {
            place.write(&format!("out/{name}"), bytes);
        }
        place
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn out(&self) -> PathBuf {
        self.path().join("out")
    }

    /// Writes a file and its parent folders.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// Returns the files of `out`, if it exists.
    pub fn found(&self) -> Option<BTreeMap<String, Vec<u8>>> {
        self.out().exists().then(|| contents(&self.out()))
    }

    /// Returns the names of all files here, except those in `out`.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.retain(|name| name != "out");
        names.sort();
        names
    }

    /// Fails if a temporary file remains.
    pub fn assert_tidy(&self, what: &str) {
        assert_eq!(self.names(), ["net.yaml"], "{what}");
    }

    fn prepare(&self, args: &str, fault: &str) -> Command {
        // A test may be run with ignored signals.
        let mut command = Command::new("env");
        command.args(["--default-signal=INT,TERM,HUP", env!("CARGO_BIN_EXE_guardbit")]);
        command.current_dir(self.path()).args(args.split_whitespace()).env("GUARDBIT_FAULT", fault);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the binary with a fault; an empty text means none.
    pub fn call(&self, args: &str, fault: &str) -> Output {
        self.prepare(args, fault).output().unwrap()
    }

    /// Runs the binary; it must succeed.
    pub fn succeed(&self, args: &str) {
        let output = self.call(args, "");
        assert!(output.status.success(), "{args}: {}", stderr(&output));
    }

    /// Returns the file operations, numbered from 1, of a run that must succeed.
    pub fn operations(&self, args: &str, fault: &str) -> Vec<String> {
        let log = tempfile::NamedTempFile::new().unwrap();
        let output = self.call(args, &format!("log:{},{fault}", log.path().display()));
        assert!(output.status.success(), "{args}: {}", stderr(&output));
        fs::read_to_string(log.path()).unwrap().lines().map(String::from).collect()
    }

    /// Starts the binary; returns as soon as it pauses at an operation.
    pub fn start_paused(&self, args: &str, operation: usize, more: &str) -> Child {
        let log = tempfile::NamedTempFile::new().unwrap();
        let fault = format!("pause:{operation},log:{},{more}", log.path().display());
        let mut child = self.prepare(args, &fault).spawn().unwrap();
        while fs::read_to_string(log.path()).unwrap().lines().count() < operation {
            assert!(child.try_wait().unwrap().is_none(), "it ended before operation {operation}");
            std::thread::sleep(Duration::from_millis(5));
        }
        child
    }
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Returns the number of the first operation whose line contains both texts.
pub fn number_of(operations: &[String], name: &str, path: &str) -> usize {
    let found = operations.iter().position(|line| line.contains(name) && line.contains(path));
    found.unwrap_or_else(|| panic!("no {name} {path} in {operations:#?}")) + 1
}
