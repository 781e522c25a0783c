//! `guardbit demo`.

use std::path::Path;
use std::process::ExitCode;

use guardbit_files::{SingleFile, read};
use guardbit_study::Arguments;

use super::existing;
use super::sweep::show;
use crate::args::{Demo, Given, Global};
use crate::diagnostic::Failure;
use crate::output::print;
use crate::progress::Bar;
use crate::results::Place;

/// Folder of the study if none is given.
const FOLDER: &str = "guardbit-demo";
/// Folder of the results in it.
const RESULTS: &str = "results";

const NETWORK: &str = "digits_int8.tflite";
const IMAGES: &str = "test_images.npy";
const LABELS: &str = "test_labels.npy";
const ACCELERATOR: &str = "accelerator.yaml";

/// Files of the study. A package has no files outside of its crate, so a test keeps these copies equal to
/// `examples/digits` and to the preset `fpga-int14-os`.
const FILES: [(&str, &[u8]); 4] = [
    (NETWORK, include_bytes!("../demo/digits_int8.tflite")),
    (IMAGES, include_bytes!("../demo/test_images.npy")),
    (LABELS, include_bytes!("../demo/test_labels.npy")),
    (ACCELERATOR, include_bytes!("../demo/accelerator.yaml")),
];
/// Swept widths.
const BITS: &str = "14..=20";
/// Greatest size in bytes of a file that may be one of them.
const MOST_BYTES: u64 = 1 << 20;

pub fn demo(args: &Given<Demo>, global: &Global) -> Result<ExitCode, Failure> {
    let bar = Bar::new(global.quiet);
    let folder = args.output_dir.as_deref().unwrap_or(Path::new(FOLDER));
    for (name, bytes) in FILES {
        let is_ours = |path: &Path| read(path, MOST_BYTES).is_ok_and(|found| found == bytes);
        let path = folder.join(name);
        if !is_ours(&path) {
            SingleFile::new(&path, existing(global), is_ours)?.write(bytes)?;
        }
    }
    let own = Arguments {
        model: vec![folder.join(NETWORK)],
        hw: vec![folder.join(ACCELERATOR).to_string_lossy().into_owned()],
        bits: BITS.parse().ok(),
        overflow: vec![guardbit_num::Overflow::Wrap, guardbit_num::Overflow::Saturate],
        input: Some(folder.join(IMAGES)),
        labels: Some(folder.join(LABELS)),
        output_dir: Some(folder.join(RESULTS)),
        open: args.open,
        all: args.all,
        ..Arguments::default()
    };
    let place = Place::new(&own, global)?;
    let records = guardbit_study::sweep(&own.sweep_request()?, place.folder(), existing(global), &bar)?;
    drop(bar);
    let code = show(&records, &own, global)?;
    if !global.json {
        print(&next(folder))?;
    }
    place.finish();
    Ok(code)
}

/// Returns what to look at and what to try next.
fn next(folder: &Path) -> String {
    let samples = format!("--hw {ACCELERATOR} --input {IMAGES} --labels {LABELS}");
    let commands = [
        (
            "How wide must each layer be, within 1 % of accuracy?",
            format!("size {NETWORK} {samples} --budget accuracy=1%"),
        ),
        (
            "Which layers overflow in one design, and what bounds its speed?",
            format!("run {NETWORK} {samples} --set accumulation.acc.bits=16"),
        ),
        (
            "Draw accuracy against width, for a paper:",
            format!("plot {RESULTS} --x bits --y accuracy --by overflow --plot-style paper -o accuracy.pdf"),
        ),
    ];
    let command = |(what, command): &(&str, String)| format!("\n  # {what}\n  guardbit {command}\n");
    format!(
        "\nThe report is {}. Try next:\n\n  cd {}\n{}",
        folder.join(RESULTS).join("report.html").display(),
        shell_word(&folder.to_string_lossy()),
        commands.iter().map(command).collect::<String>()
    )
}

/// Returns a word for a shell.
fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    if word.chars().all(is_plain) && !word.starts_with('-') {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
