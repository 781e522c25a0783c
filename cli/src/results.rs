//! Where results go: the folder of `--output-dir`, for `--open` a temporary one, or none.

use std::path::{Path, PathBuf};

use guardbit_files::Scratch;
use guardbit_study::Arguments;

use crate::args::Global;
use crate::browser;
use crate::diagnostic::Failure;
use crate::output::say;

/// Page of the results in their folder.
const REPORT: &str = "report.html";

/// Place of the results of a command.
pub struct Place {
    folder: Option<PathBuf>,
    /// Holds the folder if no other was given, and removes it unless the command succeeds.
    scratch: Option<Scratch>,
    opens: bool,
    quiet: bool,
}

impl Place {
    pub fn new(args: &Arguments, global: &Global) -> Result<Self, Failure> {
        let mut place =
            Self { folder: args.output_dir.clone(), scratch: None, opens: args.open, quiet: global.quiet };
        if place.opens && place.folder.is_none() {
            let scratch = Scratch::new("guardbit-").map_err(|error| {
                let help = "name a folder with --output-dir, or set TMPDIR to a folder that you may write to";
                Failure::usage(format!("cannot create a temporary folder: {error}"), help)
            })?;
            place.folder = Some(scratch.path().join("results"));
            place.scratch = Some(scratch);
        }
        Ok(place)
    }

    /// Returns the folder, if results are kept.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Keeps the results, and opens their report if it was asked for. A browser that cannot be opened is no error of
    /// the command.
    pub fn finish(self) {
        let Some(folder) = self.folder.filter(|_| self.opens) else { return };
        if let Some(scratch) = self.scratch {
            scratch.keep();
            if !self.quiet {
                say(&format!("the results are in {}", folder.display()));
            }
        }
        let page = folder.join(REPORT);
        if let Err(problem) = browser::open(&page) {
            say(&format!(
                "cannot open the report in a browser ({problem}): open {} yourself",
                page.display()
            ));
        }
    }
}
