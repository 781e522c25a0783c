//! `guardbit quantize`.

use std::path::Path;
use std::process::ExitCode;

use guardbit_reports::{
    Fraction, QuantizeRecord, layers_text, parts_text, percentage, proofs_text, quantize_answer,
};

use super::existing;
use crate::args::{Given, Global, Quantize};
use crate::diagnostic::Failure;
use crate::output::{print_json, print_results};
use crate::progress::Bar;
use crate::terminal::view;

pub fn quantize(args: &Given<Quantize>, global: &Global) -> Result<ExitCode, Failure> {
    let bar = Bar::new(global.quiet);
    let request = args.quantize_request()?;
    let out = args.network.as_deref().unwrap_or(Path::new(""));
    let record = guardbit_study::quantize(&request, out, existing(global), &bar)?;
    drop(bar);
    if global.json {
        print_json(&record)?;
    } else {
        let layers = if request.hw.is_some() || args.dynamic {
            let view = view(args.all);
            [layers_text(&record.layers, &view)?, proofs_text(&record.proofs, &view)?]
                .into_iter()
                .filter(|text| !text.is_empty())
                .map(|text| text + "\n")
                .collect()
        } else {
            String::new()
        };
        // Only static quantization calibrates parts.
        let parts =
            if args.dynamic { String::new() } else { parts_text(&record.parts, &view(args.all))? + "\n" };
        print_results(&[], &format!("{parts}{layers}{}", outcome(&record)), &quantize_answer(&record))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn outcome(record: &QuantizeRecord) -> String {
    let mut lines = vec![
        ("calibration samples", record.samples.to_string()),
        ("evaluated samples", record.evaluated.to_string()),
    ];
    let mut add = |name, share: Option<Fraction>| lines.extend(share.map(|share| (name, percentage(share))));
    add("accuracy, float", record.accuracy_float);
    add("accuracy, quantized", record.accuracy);
    add("accuracy, on hardware", record.accuracy_hw);
    lines.iter().map(|(name, value)| format!("{name:<21} {value}\n")).collect()
}
