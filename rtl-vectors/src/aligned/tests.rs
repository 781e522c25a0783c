//! Laws of random units, without simulators.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

use guardbit_graph::DType;
use guardbit_hwmodels::{Accelerator, from_yaml};
use guardbit_num::{
    AlignedDot, AlignedRule, AlignedSum, BlockScales, FloatFormat, Incoming, MatrixUnit, Rounding, Term,
};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

use super::aimed;
use super::assemble::{FloatBundle, Parts, assemble};
use super::beats::{Beats, FloatDot, Noise};
use super::corners::corners;
use super::draw::Draw;
use super::fault::{Fault, MUTANTS, Mutant};
use super::manifest::FloatLayerInfo;
use super::model::Model;
use super::scaled as scales;
use super::unit::{Scales, Unit};
use crate::bundles::{check, mutate};
use crate::check::{CheckRequest, Simulator};
use crate::manifest::{Packing, Source, WindowInfo};
use crate::seeds::seeds;

/// Every patch has one row, and fits the file that it changes in exactly one way.
#[test]
fn every_patch_has_a_row_and_fits() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut listed = BTreeSet::new();
    for Mutant { patch, .. } in MUTANTS {
        let text = std::fs::read_to_string(root.join(patch.file())).unwrap();
        let changed = patch.apply(&text);
        assert!(changed.as_ref().is_ok_and(|changed| *changed != text), "{}: {changed:?}", patch.path);
        assert!(listed.insert(format!("{}.patch", patch.path)), "{} has two rows", patch.path);
    }
    let mut found = BTreeSet::new();
    for module in std::fs::read_dir(root.join("mutants")).unwrap().map(Result::unwrap) {
        let name = module.file_name().to_string_lossy().into_owned();
        let files = std::fs::read_dir(module.path()).unwrap().map(Result::unwrap);
        found.extend(
            files
                .filter(|_| name.starts_with("gb_aligned"))
                .map(|file| format!("{name}/{}", file.file_name().display())),
        );
    }
    assert_eq!(listed, found);
}

/// Returns the seeds below `all` with `GUARDBIT_TESTS=all`, or those below `some`: a seed draws the same unit in each run.
fn below(all: u64, some: u64) -> Range<u64> {
    0..if guardbit_testing::is_full() { all } else { some }
}

/// Seeds from here on draw units with scales of blocks.
const SCALED: u64 = 1 << 32;

/// Returns seeds of units, and a quarter as many of units with scales of blocks.
fn both(seeds: Range<u64>) -> impl Iterator<Item = u64> {
    let end = seeds.start + seeds.clone().count().div_ceil(4) as u64;
    seeds.clone().chain(SCALED + seeds.start..SCALED + end)
}

/// Draws a unit.
fn unit(seed: u64) -> Unit {
    match seed.checked_sub(SCALED) {
        Some(seed) => scaled(seed),
        None => plain(seed),
    }
}

/// Draws a unit with scales of blocks.
fn scaled(seed: u64) -> Unit {
    let own = plain(!seed);
    let mut random = Pcg64Mcg::seed_from_u64(!seed);
    let mut below = move |count: u32| (random.next_u32() % count) as usize;
    let named = |name: &str| name.parse::<FloatFormat>().unwrap();
    let powers = [named("ue8m0"); 2];
    if seed.is_multiple_of(2) {
        let row = MatrixUnit::ALL.into_iter().find(|row| row.scales == BlockScales::Whole).unwrap();
        let mut operand = || row.operands[below(row.operands.len() as u32)];
        let (activation, weight) = (operand(), operand());
        let dot = match seed % 4 {
            0 => AlignedDot { rule: row.rule(row.results[0]), terms: 16, promotion: own.dot.promotion },
            _ => own.dot,
        };
        return Unit { activation, weight, scales: Some(Scales { formats: powers, group: None }), dot };
    }
    let row = MatrixUnit::ALL.into_iter().find(|row| row.scales == BlockScales::Groups(16)).unwrap();
    let formats = [powers, [named("ue4m3"); 2], [named("ue8m0"), named("ue4m3")]][below(3)];
    let (dot, group) = match seed % 4 {
        1 => (AlignedDot { rule: row.rule(row.results[0]), terms: 4, promotion: own.dot.promotion }, 16),
        _ => (AlignedDot { terms: [1, 2, 3, 4][below(4)], ..own.dot }, [1, 2, 3, 4, 8, 16][below(6)]),
    };
    let [activation, weight] = [named("e2m1"); 2];
    Unit { activation, weight, scales: Some(Scales { formats, group: Some(group) }), dot }
}

/// Draws a unit without scales of blocks.
fn plain(seed: u64) -> Unit {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let mut below = move |count: u32| (random.next_u32() % count) as usize;
    let formats: Vec<FloatFormat> =
        FloatFormat::ALL.into_iter().filter(|format| format.is_signed()).collect();
    let short: Vec<FloatFormat> = formats.iter().copied().filter(|format| format.bits() <= 16).collect();
    if below(4) == 0 {
        let row = MatrixUnit::ALL[below(MatrixUnit::ALL.len() as u32)];
        let operand = |at: usize| row.operands[at % row.operands.len()];
        let rule = row.rule(row.results[below(row.results.len() as u32)]);
        let promotion = [None, Some(1), Some(4)][below(3)];
        let dot = AlignedDot { rule, terms: row.terms.min(16), promotion };
        return Unit { activation: operand(below(4)), weight: operand(below(4)), scales: None, dot };
    }
    let bits = [0, 1, 2, 5, 8, 10, 13, 17, 23, 24, 25, 31, 40][below(13)];
    let sum_bits = 1 + below(40) as u32;
    let incoming = match below(3) {
        0 => Incoming::Apart {
            interleaved: below(2) == 0,
            sum_bits,
            bits: 1 + below(sum_bits) as u32,
            reach: [None, Some(1), Some(5), Some(25), Some(100)][below(5)],
        },
        _ => Incoming::Term,
    };
    // float16, bfloat16, tf32, e8m13 and float32.
    let result = formats[formats.len() - 1 - below(5)];
    let roundings = [Rounding::TowardZero, Rounding::HalfEven, Rounding::ALL[below(8)]];
    let rule = AlignedRule {
        fraction_bits: bits,
        cut: roundings[below(3)],
        incoming,
        result,
        result_rounding: roundings[below(3)],
        negative_zero: below(2) == 0,
        nan: result.nan().unwrap_or(0),
    };
    let dot = AlignedDot {
        rule,
        terms: [1, 2, 3, 4, 8, 16][below(6)],
        promotion: [None, None, Some(1), Some(2), Some(5), Some(1 << 20)][below(6)],
    };
    let operand = |at: usize| short[at % short.len()];
    Unit { activation: operand(below(100)), weight: operand(below(100)), scales: None, dot }
}

/// Sends the corner cases of a unit, and returns them and everything that is expected.
fn stream(unit: &Unit, seed: u64) -> (Vec<FloatDot>, Beats) {
    let dots = corners(unit, 20, seed);
    let (mut noise, mut beats) = (Noise::new(unit, seed), Beats::default());
    for dot in &dots {
        beats.send(dot, unit, &mut noise);
    }
    (dots, beats)
}

/// Returns the first beat at which the model with a fault differs from what is expected.
fn differs(unit: &Unit, fault: Option<Fault>, beats: &Beats) -> Option<usize> {
    let mut model = Model::new(*unit, fault);
    let mut sums = beats.sums.iter();
    (0..beats.stream.len()).find(|&at| {
        let beat = &beats.stream[at];
        let Some(shown) = model.step(beat, &mut |_, _| {}) else { return beat.valid };
        let state = beats.states[at];
        let sum = if beat.last { sums.next() } else { None };
        !beat.valid
            || (shown.acc, shown.cut, shown.vanished) != (state.acc, state.cut, state.vanished)
            || unit.promotion().is_some() && shown.total != state.total
            || shown.sum != sum.copied()
    })
}

/// The model of the RTL agrees with the arithmetic of the simulator, beat by beat, and so do whole dot products.
#[test]
fn the_model_is_that_of_the_simulator() {
    for seed in both(below(60, 20)) {
        let unit = unit(seed);
        let (dots, beats) = stream(&unit, seed);
        assert_eq!(differs(&unit, None, &beats), None, "seed {seed}: {unit:?}");
        let finished: Vec<u32> = dots
            .iter()
            .filter(|dot| !dot.is_cut)
            .map(|dot| {
                let parts = unit.additions(&dot.products, &dot.blocks).into_iter().flatten();
                let terms: Vec<Term> = parts.flat_map(|part| unit.terms_of(part)).collect();
                let AlignedSum { code, .. } = unit.dot.run(&terms);
                code
            })
            .collect();
        assert_eq!(beats.sums, finished, "seed {seed}");
    }
}

/// Seeds that once had a wrong proof: halves that lose bits where they are joined, and a zero that raises the largest exponent of
/// a lone product.
const ONCE_OPEN: [u64; 2] = [60, 239];

/// Every fault that a unit can have is shown by its corner cases, or proved to change nothing, and then it does not.
#[test]
fn corner_cases_show_every_fault() {
    let mut open = Vec::new();
    for seed in both(seeds("GUARDBIT_FLOAT_LAW_SEEDS", below(240, 24))).chain(ONCE_OPEN) {
        let unit = unit(seed);
        let (dots, beats) = stream(&unit, seed);
        let longest = dots.iter().map(|dot| dot.products.len()).max().unwrap_or(0).max(20);
        // Resets are the bench's: `faults_in_the_rtl_are_caught` shows that one.
        let of_cases = MUTANTS.iter().filter(|mutant| mutant.fault != Fault::ResetIgnored);
        for mutant in of_cases.filter(|mutant| (mutant.applies)(&unit)) {
            let is_shown = differs(&unit, Some(mutant.fault), &beats).is_some();
            let proof = (mutant.equivalent)(&unit, longest);
            if is_shown == proof.is_some() {
                open.push(format!("{seed} {} {is_shown} {proof:?} {}", mutant.patch.path, described(&unit)));
            }
        }
    }
    assert!(open.is_empty(), "{} open\n{}", open.len(), open.join("\n"));
}

/// Random dot products show no fault that is proved to change nothing.
#[test]
fn proofs_of_faults_hold() {
    let drawn = std::env::var("GUARDBIT_FLOAT_PROOF_DOTS").ok().and_then(|count| count.parse().ok());
    for seed in both(seeds("GUARDBIT_FLOAT_LAW_SEEDS", 0..u64::from(guardbit_testing::cases(240)))) {
        let unit = unit(seed);
        let (mut draw, mut noise) = (Draw::new(&unit, 20, !seed), Noise::new(&unit, !seed));
        let mut beats = Beats::default();
        let mut longest = 20;
        for number in 0..drawn.unwrap_or(64) {
            for mut products in [draw.products(number + 128), aimed::products(&mut draw, number)] {
                let blocks = scales::blocks(&mut draw, &mut products);
                if products.is_empty() || products.len() > 600 {
                    continue;
                }
                longest = longest.max(products.len());
                let (id, class) = Default::default();
                let (group, is_cut) = (crate::manifest::CaseGroup::Corner, number % 8 == 7);
                let dot = FloatDot { id, group, class, place: None, products, blocks, bubble: None, is_cut };
                beats.send(&dot, &unit, &mut noise);
            }
        }
        for mutant in MUTANTS.iter().filter(|mutant| (mutant.applies)(&unit)) {
            if let Some(proof) = (mutant.equivalent)(&unit, longest) {
                let shown = differs(&unit, Some(mutant.fault), &beats);
                assert_eq!(shown, None, "{seed} {}: {proof} {}", mutant.patch.path, described(&unit));
            }
        }
    }
}

/// No case reaches a bin that is called unreachable.
#[test]
fn unreachable_bins_are_not_reached() {
    let (mut open, mut units) = (0, 0);
    for seed in both(below(60, 20)) {
        units += 1;
        let (bundle, unit) = bundle(&unit(seed), seed);
        for bin in &bundle.manifest.coverage {
            let is_hit = bin.cases != [0; 2];
            assert!(!is_hit || bin.unreachable.is_none(), "{seed} {bin:?} {}", described(&unit));
            open += usize::from(!is_hit && bin.unreachable.is_none());
        }
    }
    assert!(open < units, "{open} bins of {units} units are missed without a reason");
}

/// Returns a unit in short.
fn described(unit: &Unit) -> String {
    let AlignedDot { rule, terms, promotion } = unit.dot;
    let scales = unit.scales.map(|scales| (scales.formats.map(FloatFormat::name), scales.group));
    format!(
        "{} * {} -> {}, {terms} terms, F {}, {:?}, {:?}, {:?}, promoted {promotion:?}, scales {scales:?}",
        unit.activation,
        unit.weight,
        rule.result,
        rule.fraction_bits,
        rule.cut,
        rule.result_rounding,
        rule.incoming
    )
}

/// Returns the accelerator of a unit, as far as a file can describe it.
fn accelerator(unit: &Unit) -> Accelerator {
    let rule = &unit.dot.rule;
    let apart = match rule.incoming {
        Incoming::Term => String::new(),
        Incoming::Apart { interleaved, sum_bits, bits, reach } => format!(
            ", incoming: apart, interleaved: {interleaved}, sum_bits: {sum_bits}, accumulator_bits: {bits}, reach: {}",
            reach.unwrap_or(0)
        ),
    };
    let scales = match unit.scales {
        None => String::new(),
        Some(Scales { group: None, .. }) => {
            ", block_scales: per_term, operands: [e4m3, e5m2, e3m2, e2m3, e2m1]".into()
        }
        Some(Scales { group: Some(group), .. }) => {
            format!(", block_scales: per_group, group_terms: {group}, scale_format: any, operands: [e2m1]")
        }
    };
    let promotion = unit.promotion().map_or(0, |every| every * unit.lanes());
    let text = format!(
        "schema: 1\nname: unit\nfloat_accumulation: {{terms: {}, fraction_bits: {}, align_round: {}, result: {}, \
         result_round: {}, negative_zero: {}, promote_terms: {promotion}{apart}{scales}}}\n",
        unit.lanes(),
        rule.fraction_bits,
        rule.cut.name(),
        rule.result.name(),
        rule.result_rounding.name(),
        rule.negative_zero,
    );
    from_yaml(&text, "unit.yaml", &[]).unwrap_or_else(|error| panic!("{text}{error}"))
}

/// Returns a bundle with the corner cases of a unit, and the unit that its accelerator has.
fn bundle(unit: &Unit, seed: u64) -> (FloatBundle, Unit) {
    let accelerator = accelerator(unit);
    let dtype = |format: FloatFormat| {
        DType::ALL.into_iter().find(|dtype| dtype.float_format() == Some(format) && dtype.is_short_float())
    };
    let dtypes = [unit.activation, unit.weight].map(|format| dtype(format).unwrap_or(DType::Float8E5M2));
    let formats = unit.scales.map(|scales| scales.formats);
    let own = Unit::new("unit", dtypes, formats, &accelerator.float.unwrap()).unwrap();
    let window = WindowInfo {
        batch: 1,
        input: [1, 1, 20],
        output: [1, 1, 3],
        kernel: [1, 1, 20],
        stride: [1, 1],
        dilation: [1, 1],
        pad: [0, 0],
        groups: 1,
    };
    let source = Source {
        model: "unit".into(),
        model_sha256: "0".repeat(64),
        accelerator: accelerator.name.clone(),
        accelerator_sha256: "0".repeat(64),
        input: "none".into(),
        seed,
        cases: 0,
    };
    let layer = FloatLayerInfo {
        index: 0,
        name: "unit".into(),
        op: "float_matmul".into(),
        terms: 20,
        dots: 3,
        input: dtypes[0].name().into(),
        weight: dtypes[1].name().into(),
        window,
    };
    let bundle = assemble(Parts {
        source,
        settings: Default::default(),
        packing: if seed.is_multiple_of(3) { Packing::ByteSlot } else { Packing::Dense },
        formats: &[],
        layer,
        accelerator: &accelerator,
        unit: &own,
        dots: &corners(&own, 20, seed),
    });
    (bundle, own)
}

fn write(bundle: &FloatBundle) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    crate::check::files::write(&bundle.files, dir.path()).unwrap();
    dir
}

fn simulators() -> bool {
    std::env::var_os("GUARDBIT_SIMULATORS").is_some()
}

/// A bundle that is generated again has the same bytes, and a word or a claim that changes is found.
#[test]
fn bundles_are_checked_by_generating_them_again() {
    for seed in both(below(20, 8)) {
        let (made, _) = bundle(&unit(seed), seed);
        let dir = write(&made);
        let report = check(dir.path(), &CheckRequest::default()).unwrap();
        assert!(report.passed(), "seed {seed}: {:?}", report.checks);
        let acc = dir.path().join("exp_acc.mem");
        let text = std::fs::read_to_string(&acc).unwrap();
        let first = if text.starts_with('0') { "1" } else { "0" };
        std::fs::write(&acc, format!("{first}{}", &text[1..])).unwrap();
        let report = check(dir.path(), &CheckRequest::default()).unwrap();
        assert!(!report.passed(), "seed {seed}");
    }
}

/// Verilator's lint gives no warning.
fn lint(dir: &Path) {
    let mut verilator = std::process::Command::new("verilator");
    verilator.args([
        "--lint-only",
        "--timing",
        "--timescale",
        "1ns/1ps",
        "-Wall",
        "--top-module",
        "tb_aligned",
    ]);
    let output = verilator.args(super::hdl::sources()).current_dir(dir).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success() && said.is_empty(), "{}", String::from_utf8_lossy(&said));
}

/// The reference RTL agrees in both simulators, on units of every kind.
#[test]
fn the_rtl_is_that_of_the_simulator() {
    if !simulators() {
        return;
    }
    let seeds = both(seeds("GUARDBIT_FLOAT_SEEDS", 0..12));
    for seed in seeds {
        let (made, own) = bundle(&unit(seed), seed);
        let dir = write(&made);
        let simulators: &[Simulator] = match seed % 4 {
            // GHDL does not apply, which is no failure.
            0 => &Simulator::ALL,
            _ => &[Simulator::Icarus],
        };
        lint(dir.path());
        let report = check(dir.path(), &CheckRequest { simulators, ..CheckRequest::default() }).unwrap();
        assert!(report.passed(), "seed {seed}: {own:?}\n{:#?}", report.checks);
        let applicable = simulators.iter().filter(|&&one| one != Simulator::Ghdl).count();
        assert_eq!(report.replays.len(), 2 * applicable);
    }
}

/// Every fault in the RTL is caught by the replay, or proved harmless.
#[test]
fn faults_in_the_rtl_are_caught() {
    if !simulators() {
        return;
    }
    for seed in both(seeds("GUARDBIT_FLOAT_MUTANT_SEEDS", below(5, 2))) {
        let (made, own) = bundle(&unit(seed), seed);
        let dir = write(&made);
        let results = mutate(dir.path(), Simulator::Icarus, &CheckRequest::default()).unwrap();
        let open: Vec<_> = results.iter().filter(|result| !result.passed()).collect();
        assert!(open.is_empty(), "seed {seed}: {own:?}\n{open:#?}");
    }
}
