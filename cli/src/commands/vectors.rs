//! `guardbit vectors`.

use std::fmt::Display;
use std::process::ExitCode;
use std::str::FromStr;

use guardbit_files::Target;
use guardbit_reports::text_table;
use guardbit_rtl_vectors::manifest::{Bin, Manifest, Packing, Source};
use guardbit_rtl_vectors::{FloatBin, FloatManifest, Request, export, export_float};
use guardbit_sim::LayerCodes;
use guardbit_study::layer_input;
use serde_json::json;

use super::{existing, note_random};
use crate::args::{Given, Global, Vectors};
use crate::diagnostic::Failure;
use crate::output::{print, print_json};
use crate::progress::Bar;

pub fn vectors(args: &Given<Vectors>, global: &Global) -> Result<ExitCode, Failure> {
    if args.whole {
        return super::whole::whole(args, global);
    }
    let bar = Bar::new(global.quiet);
    let target = Target::claim_for(args.out(), existing(global))?;
    let (formats, waves) = (named("formats", &args.formats())?, named("waves", &args.waves)?);
    let run = args.vectors_request()?;
    note_random(args, &run.settings, &bar);
    let name = args.layer.as_deref().unwrap_or_default();
    let layer = layer_input(&run, name, &bar)?;
    let [model, model_sha256] = layer.model;
    let [accelerator, accelerator_sha256] = layer.accelerator;
    let request = Request {
        source: Source {
            model,
            model_sha256,
            accelerator,
            accelerator_sha256,
            input: layer.origin,
            seed: args.seed.unwrap_or(0),
            cases: args.cases(),
        },
        settings: args.vectors_listed(&run),
        packing: if args.byte_slots { Packing::ByteSlot } else { Packing::Dense },
        formats,
        waves,
    };
    let publish = |files: &[(String, Vec<u8>)]| -> Result<(), Failure> {
        let mut staging = target.stage()?;
        staging.write_all(files)?;
        Ok(staging.publish(existing(global))?)
    };
    if layer.program.float_layers().any(|float| float.node == layer.node) {
        let bundle = export_float(&layer.program, layer.node, &layer.float_inputs, &request)?;
        publish(&bundle.files)?;
        drop(bar);
        return float_result(&bundle.manifest, global);
    }
    let inputs: Vec<_> = layer.inputs.iter().map(LayerCodes::reads).collect();
    let bundle = export(&layer.program, layer.node, &inputs, &request)?;
    publish(&bundle.files)?;
    drop(bar);
    let manifest = &bundle.manifest;
    if global.json {
        print_json(&json!({
            "layer": manifest.layer.name,
            "cases": manifest.cases.len(),
            "beats": manifest.cases.iter().map(|c| c.beats).sum::<usize>(),
            "coverage": { "hit": manifest.coverage.hit, "missed": manifest.coverage.missed, "unreachable": manifest.coverage.unreachable,
                "missed_bins": missed(manifest).map(|bin| json!({ "level": bin.level, "bin": bin.name })).collect::<Vec<_>>() },
            "files": manifest.files.len(),
        }))?;
    } else {
        print(&summary(manifest))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints what the bundle of a floating-point layer has.
fn float_result(manifest: &FloatManifest, global: &Global) -> Result<ExitCode, Failure> {
    let beats: usize = manifest.cases.iter().map(|case| case.beats).sum();
    let is_hit = |bin: &&FloatBin| bin.cases != [0; 2];
    let hit = manifest.coverage.iter().filter(is_hit).count();
    let others = || manifest.coverage.iter().filter(|bin| !is_hit(bin));
    let missed: Vec<&str> =
        others().filter(|bin| bin.unreachable.is_none()).map(|bin| bin.name.as_str()).collect();
    let unreachable = others().count() - missed.len();
    if global.json {
        print_json(&json!({
            "layer": manifest.layer.name,
            "cases": manifest.cases.len(),
            "beats": beats,
            "coverage": {
                "hit": hit, "missed": missed.len(), "unreachable": unreachable, "missed_bins": missed,
            },
            "files": manifest.files.len(),
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let groups = manifest.cases.iter().map(|case| (case.group.to_string(), case.beats));
    let names = match missed.as_slice() {
        [] => String::new(),
        names => format!("missed, unknown whether reachable: {}\n", names.join(", ")),
    };
    print(&format!(
        "{}\n{} cases, {beats} beats of {} product(s); coverage: {hit} bins hit, {} missed, {unreachable} unreachable\n{names}",
        counted(groups),
        manifest.cases.len(),
        manifest.interface.lanes,
        missed.len(),
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// Returns a table of cases and beats by name.
fn counted(cases: impl Iterator<Item = (String, usize)>) -> String {
    let mut classes: Vec<(String, usize, usize)> = Vec::new();
    for (name, more) in cases {
        match classes.iter_mut().find(|(known, ..)| *known == name) {
            Some((_, cases, beats)) => (*cases, *beats) = (*cases + 1, *beats + more),
            None => classes.push((name, 1, more)),
        }
    }
    let rows: Vec<_> =
        classes.into_iter().map(|(name, c, b)| vec![name, c.to_string(), b.to_string()]).collect();
    text_table(&["cases", "count", "beats"], &rows)
}

/// Returns formats by name.
fn named<T: FromStr<Err: Display>>(option: &str, names: &[String]) -> Result<Vec<T>, Failure> {
    let help = "`guardbit help vectors` lists the formats";
    let one =
        |name: &String| name.parse().map_err(|error| Failure::usage(format!("--{option}: {error}"), help));
    names.iter().map(one).collect()
}

/// Returns the bins that no case hits and no bound excludes.
fn missed(manifest: &Manifest) -> impl Iterator<Item = &Bin> {
    manifest.coverage.bins.iter().filter(|bin| bin.cases == 0 && bin.unreachable.is_none())
}

fn summary(manifest: &Manifest) -> String {
    let cases = manifest.cases.iter().map(|case| (format!("{}: {}", case.group, case.class), case.beats));
    let coverage = &manifest.coverage;
    let beats: usize = manifest.cases.iter().map(|c| c.beats).sum();
    let missed: Vec<String> = missed(manifest).map(|bin| format!("{} {}", bin.level, bin.name)).collect();
    let missed = match missed.as_slice() {
        [] => String::new(),
        names => format!("missed, unknown whether reachable: {}\n", names.join(", ")),
    };
    format!(
        "{}\n{} cases, {beats} beats of {} product(s); coverage: {} bins hit, {} missed, {} unreachable\n{missed}",
        counted(cases),
        manifest.cases.len(),
        manifest.interface.lanes,
        coverage.hit,
        coverage.missed,
        coverage.unreachable
    )
}
