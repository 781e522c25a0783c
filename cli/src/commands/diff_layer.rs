//! `guardbit diff-layer`.

use std::path::Path;
use std::process::ExitCode;

use guardbit_rtl_vectors::whole::{Difference, LayerDiff, Mistake, diff_layer as compare};

use crate::args::{DiffLayer, Given, Global};
use crate::diagnostic::Failure;
use crate::output::{print, print_json};

pub fn diff_layer(args: &Given<DiffLayer>, global: &Global) -> Result<ExitCode, Failure> {
    // clap requires both.
    let path = |path: &Option<std::path::PathBuf>| path.clone().unwrap_or_default();
    let (dir, dut) = (path(&args.images), path(&args.dut_ofm));
    let diff = compare(&dir, &dut, args.layer.as_deref(), args.dut_sums.as_deref())?;
    match global.json {
        true => print_json(&diff.json())?,
        false => print(&text(&diff, &dut))?,
    }
    Ok(if diff.is_equal() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn text(diff: &LayerDiff, dut: &Path) -> String {
    let sums = diff.sums.map_or(String::new(), |sums| format!(", {sums} sums differ"));
    let unknown =
        if diff.unknown == 0 { String::new() } else { format!(" ({} of them unknown)", diff.unknown) };
    let head = format!(
        "{}: {} outputs, {} codes differ{unknown}{sums}: {}\n",
        diff.folder,
        diff.outputs,
        diff.codes,
        dut.display()
    );
    diff.first.iter().fold(head, |text, difference| text + &explained(difference))
}

fn explained(difference: &Difference) -> String {
    let Difference { output: [n, h, w, c], word, lane, window: [row, col], code, sum, .. } = difference;
    let pairs: Vec<String> = difference.operands.iter().map(|[a, w]| format!("{a}*{w}")).collect();
    let more = if pairs.len() < difference.terms {
        format!(" ... ({} products)", difference.terms)
    } else {
        String::new()
    };
    let got = |mistake: &Mistake| mistake.got.map_or("unknown".into(), |got| got.to_string());
    let sum = match sum.got {
        None => format!("expected sum {}", sum.expected),
        Some(_) => format!("expected sum {}, got {}", sum.expected, got(sum)),
    };
    let overflow = if difference.overflow == 0 { "" } else { "; this dot product overflows" };
    format!(
        "output [{n}, {h}, {w}, {c}], word {word} lane {lane}: expected code {}, got {}; {sum}{overflow}\n  \
         window from row {row}, column {col}: {}{more}\n",
        code.expected,
        got(code),
        pairs.join(" + "),
    )
}
