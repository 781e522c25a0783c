//! Tests of reports: their files and content, and that HTML pages are self-contained.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::common;
use guardbit_files::Document;
use guardbit_hwmodels::{from_yaml, lower};
use guardbit_reports::{
    About, Comparison, LayerRow, Medium, NetworkTiming, Pages, PlotStyle, PointRecord, Question, SizeRecord,
    Width, compare_page, run_documents, run_findings, size_documents, sweep_documents, sweep_findings,
    sweep_paths,
};
use guardbit_sim::StatsLevel;

fn about() -> About {
    let settings = vec![("model".to_owned(), "a <b> & \"c\".tflite".to_owned())];
    let accelerators = vec![("a <b>".into(), "schema: 1\nname: a <b>\nclock_mhz: 300\n".into())];
    About { version: "0.1.0".into(), settings, accelerators, ..About::default() }
}

/// Checks that two calls return equal documents, and that the report among them is self-contained.
fn check(make: impl Fn() -> Vec<Document>, number: usize) {
    let documents = make();
    assert_eq!(documents, make());
    let named: BTreeMap<String, Vec<u8>> = documents.iter().cloned().collect();
    assert_eq!((documents.len(), named.len()), (number, number), "{:?}", named.keys());
    assert!(named.values().all(|bytes| !bytes.is_empty()));
    stands_alone(&named["report.html"]);
}

#[test]
fn what_a_sizing_writes() {
    let size = common::size_record();
    check(|| size_documents(&about(), &size).unwrap(), 18);
    // Plots of accumulator widths would be empty.
    let size = SizeRecord { layers: Vec::new(), ..size };
    let documents = size_documents(&about(), &size).unwrap();
    let plots: Vec<&str> =
        documents.iter().map(|(path, _)| &**path).filter(|path| path.starts_with("plots/")).collect();
    assert_eq!(plots, ["plots/fraction_bits.svg", "plots/fraction_bits.png"]);
}

#[test]
fn what_a_run_writes() {
    // Tables that exist only for plots need full statistics.
    for (stats, number) in [(StatsLevel::None, 17), (StatsLevel::Events, 17), (StatsLevel::Full, 20)] {
        let run = common::run_record(stats);
        check(|| run_documents(&about(), &run).unwrap(), number);
    }
}

/// Leaving out pages does not change any other document.
#[test]
fn pages_are_left_out() {
    let run = common::run_record(StatsLevel::Full);
    let documents = |plots: bool, report: bool| {
        run_documents(&About { pages: Pages { plots, report, ..Pages::default() }, ..about() }, &run).unwrap()
    };
    let all = documents(true, true);
    for (plots, report) in [(true, false), (false, true), (false, false)] {
        let kept = |(path, _): &&Document| match path.as_str() {
            "report.html" => report,
            path => plots || !path.starts_with("plots/") || path.ends_with(".csv"),
        };
        let expected: Vec<Document> = all.iter().filter(kept).cloned().collect();
        assert!(documents(plots, report) == expected, "{plots} {report}");
        assert!(expected.len() < all.len());
    }
}

#[test]
fn what_a_sweep_writes() {
    let paths = |medium: Medium, points: &[PointRecord]| {
        let style = PlotStyle { medium, ..PlotStyle::default() };
        let about = About { pages: Pages { style, ..Pages::default() }, ..about() };
        let documents = sweep_documents(&about, points).unwrap();
        documents.into_iter().map(|(path, _)| path).collect::<BTreeSet<_>>()
    };
    // Plots for papers are PDF files, too.
    let mut on_paper = BTreeSet::from_iter(sweep_paths());
    assert!(on_paper.remove("aligned.csv"), "these networks have no floating-point layers");
    assert_eq!(paths(Medium::Paper, &common::sweep(StatsLevel::Full)), on_paper);
    let all: BTreeSet<String> = on_paper.iter().filter(|path| !path.ends_with(".pdf")).cloned().collect();
    let mut fewer = all.clone();
    assert!(fewer.remove("plots/required_bits.csv"));
    assert_eq!(paths(Medium::Screen, &[]), fewer);
    for (stats, expected) in
        [(StatsLevel::None, &fewer), (StatsLevel::Events, &fewer), (StatsLevel::Full, &all)]
    {
        let points = common::sweep(stats);
        check(|| sweep_documents(&about(), &points).unwrap(), expected.len());
        assert_eq!(&paths(Medium::Screen, &points), expected);
    }
}

fn stands_alone(html: &[u8]) {
    let html = std::str::from_utf8(html).unwrap();
    assert!(html.contains("a &lt;b&gt; &amp; &quot;c&quot;.tflite"));
    stands_alone_without_settings(html);
}

fn stands_alone_without_settings(html: &str) {
    assert!(html.starts_with("<!DOCTYPE html>"));
    assert!(
        html.contains(
            "content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\""
        )
    );
    let page = without_scripts(html);
    for outside in ["<link", "<img", "src=", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    // Links lead to sections of the page.
    for (at, _) in page.match_indices("href=\"") {
        let target = page[at + 6..].split('"').next().unwrap();
        let id = target.strip_prefix('#').unwrap_or_else(|| panic!("{target}"));
        assert!(page.contains(&format!(" id=\"{id}\"")), "{target}");
    }
    let ids: Vec<&str> =
        page.match_indices(" id=\"").map(|(at, _)| page[at + 5..].split('"').next().unwrap()).collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{ids:?}");
}

/// Returns a page without the contents of its scripts.
fn without_scripts(html: &str) -> String {
    let mut parts = html.split("<script");
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |page, part| {
        let (script, rest) = part.split_once("</script>").expect("every script ends");
        page + "<script" + script.split('>').next().unwrap() + ">" + rest
    })
}

/// Names cannot end a script or start an element.
#[test]
fn names_stay_names() {
    let name = "</script><b onclick=x>&\u{2028}";
    let mut run = common::run_record(StatsLevel::Full);
    run.model = name.into();
    run.layers.iter_mut().for_each(|row| row.name = name.into());
    run.layers.iter_mut().for_each(|row| row.layer = name.into());
    run.bottlenecks.iter_mut().for_each(|row| row.name = name.into());
    let documents = run_documents(&about(), &run).unwrap();
    let page = &documents.iter().find(|(path, _)| path == "report.html").unwrap().1;
    let page = std::str::from_utf8(page).unwrap();
    assert_eq!(page.matches("<script").count(), page.matches("</script>").count());
    assert!(!without_scripts(page).contains("<b onclick"));
    stands_alone(page.as_bytes());
}

/// A network with a hundred levels, about as many as MobileNetV2, has a page that a browser opens at once.
#[test]
fn pages_are_small() {
    let documents = run_documents(&about(), &common::large_run()).unwrap();
    let page = &documents.iter().find(|(path, _)| path == "report.html").unwrap().1;
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    let page = std::str::from_utf8(page).unwrap();
    // The answer and the worst layers come before any table, and levels without events are folded.
    let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}"));
    assert!(place("Layers that overflow most") < place("<table"));
    assert!(place("levels without events") < place("<h2>Where does it overflow?"));
}

/// The page's own script stays small enough to be read.
#[test]
fn the_script_is_short() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/html/script");
    let lines = |path: std::path::PathBuf| std::fs::read_to_string(path).unwrap().lines().count();
    let all: usize = std::fs::read_dir(folder).unwrap().map(|entry| lines(entry.unwrap().path())).sum();
    assert!(all < 800, "{all} lines");
}

/// Returns the JSON of the script element with an id.
fn data(page: &str, id: &str) -> serde_json::Value {
    let start = format!("<script id=\"{id}\" type=\"application/json\">");
    let (_, rest) = page.split_once(&start).unwrap_or_else(|| panic!("{id}"));
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

/// The panel of a layer marks the cycles in which the timing model starts its tiles.
#[test]
fn panels_mark_the_starts_of_tiles() {
    let ran = common::run(StatsLevel::Full, "bits: 13, overflow: saturate");
    let run = common::run_record(StatsLevel::Full);
    let page = run_documents(&about(), &run).unwrap().into_iter().find(|(path, _)| path == "report.html");
    let page = String::from_utf8(page.unwrap().1).unwrap();
    let panels = data(&page, "layers-data");
    let mut marked = 0;
    for layer in ran.program.mac_layers() {
        let panel =
            panels["layers"].as_array().unwrap().iter().find(|one| one["index"] == layer.node.index());
        let plots = panel.unwrap()["plots"].as_array().unwrap();
        let Some(plot) = plots.iter().find(|plot| plot["title"] == "Events over the cycles") else {
            continue;
        };
        let starts: Vec<f64> =
            plot["fences"].as_array().unwrap().iter().map(|fence| fence[0].as_f64().unwrap()).collect();
        let expected = layer.timing.spans(60).tiles;
        assert_eq!(starts, expected.iter().map(|span| span.cycles.start as f64).collect::<Vec<_>>());
        marked += starts.len();
    }
    assert!(marked > 0, "some layer has events");
}

/// A sweep of one of several levels shows what the others do.
#[test]
fn a_sweep_shows_every_level() {
    let page = sweep_documents(&about(), &common::sweep(StatsLevel::Full)).unwrap();
    let page = page.into_iter().find(|(path, _)| path == "report.html").unwrap().1;
    let page = String::from_utf8(page).unwrap();
    for level in ["acc", "column"] {
        assert!(page.contains(&format!("conv2d_1 · {level}\",\"layer\":0")), "{level}");
        assert!(page.contains(&format!("<td class=\"text\">{level}</td>")), "{level}");
    }
}

#[test]
fn comparisons_answer_first() {
    let page = |command| compare_page(&about(), &common::comparison(command));
    let answer = |command| {
        let page = page(command);
        stands_alone_without_settings(&page);
        page.split("<p class=\"answer\">")
            .nth(1)
            .unwrap()
            .split("</p>")
            .next()
            .unwrap()
            .replace('\u{a0}', " ")
    };
    assert_eq!(
        answer("run"),
        "Against &lt;first&gt;, second loses 72 points of accuracy (25 % instead of 97 %) and takes 1.25 times \
         the time."
    );
    assert_eq!(
        answer("sweep"),
        "Against &lt;first&gt;, second: accuracy worse at 11 (by at most 11 points) of 12 points."
    );
    let run = page("run");
    // The layer with the most additional wrong sums is listed first.
    let list = run.split("<h2>Layers that get worse most").nth(1).unwrap();
    assert!(list.find("#11 conv_11").unwrap() < list.find("#10 conv_10").unwrap());
    let equal = Comparison { totals: Vec::new(), rows: Vec::new(), ..common::comparison("run") };
    assert!(compare_page(&about(), &equal).contains("20 figures that they have in common are equal."));
}

/// Columns, rows and pictures without anything are left out.
#[test]
fn nothing_empty_is_shown() {
    let documents = run_documents(&about(), &common::run_record(StatsLevel::None)).unwrap();
    let page = &documents.iter().find(|(path, _)| path == "report.html").unwrap().1;
    let page = std::str::from_utf8(page).unwrap();
    for absent in ["Where does it overflow?", ">events</th>", "Not counted"] {
        assert!(!page.contains(absent), "{absent}");
    }
    assert!(page.contains("Does it overflow?") && page.contains("Where the cycles go"));
}

#[test]
fn pages_answer_first() {
    let answer = |documents: Vec<Document>| {
        let page = documents.into_iter().find(|(path, _)| path == "report.html").unwrap().1;
        let page = String::from_utf8(page).unwrap();
        page.split("<p class=\"answer\">")
            .nth(1)
            .unwrap()
            .split("</p>")
            .next()
            .unwrap()
            .replace('\u{a0}', " ")
    };
    let run = |stats| answer(run_documents(&about(), &common::run_record(stats)).unwrap());
    let mut exact = common::run_record(StatsLevel::Full);
    exact.outcome.accuracy = exact.outcome.accuracy_exact;
    exact.layers.iter_mut().for_each(|row| row.events = Some(0));
    let mut unlabelled = common::run_record(StatsLevel::Full);
    unlabelled.outcome.accuracy = None;
    let answers = [
        run(StatsLevel::Full),
        answer(run_documents(&about(), &exact).unwrap()),
        answer(run_documents(&about(), &unlabelled).unwrap()),
        answer(sweep_documents(&about(), &common::sweep(StatsLevel::Full)).unwrap()),
        answer(sweep_documents(&about(), &[]).unwrap()),
        answer(size_documents(&about(), &common::size_record()).unwrap()),
    ];
    insta::assert_snapshot!(answers.join("\n"), @"
    Accumulators of 13 to 14 bits (saturate, wrap) lose 50 points of accuracy: 50 % instead of 100 % on 2 samples (McNemar's p = 1: 2 samples are too few to exclude chance).
    No accumulator of 13 to 14 bits (saturate, wrap) overflows (sums require up to 15 bits): accuracy stays at 100 % on 2 samples.
    Accumulators of 13 to 14 bits (saturate, wrap) keep 50 % (9.45 % to 90.55 %) of the top-1 classes on 2 samples.
    With wrap, every width that was run loses accuracy on 2 samples; 11 bits (wrap) lose 50 points of accuracy.
    0 points of 0 samples.
    Widths per layer, at most 19 bits in outer and 2 fraction bits, lose 50 points of accuracy, 50 % instead of 100 % on 2 samples (McNemar's p = 1: 2 samples are too few to exclude chance).
    ");
}

#[test]
fn a_run_in_words() {
    let run = common::run_record(StatsLevel::Full);
    insta::assert_snapshot!(run_findings(&run).join("\n"), @r"
    Accumulators overflowed 3 times in 1 layer. #0 conv2d_1 is affected most: 25 % of its dot products have an overflow event.
    1 of 10 sums is wrong (10 %); 0 of them do not change the output code.
    3 output codes of the network differ from the exact ones.
    50 % (9.45 % to 90.55 %) of the top-1 classes equal those of the exact network; the accuracy is 50 % (9.45 % to 90.55 %), that of the exact network 100 % (34.24 % to 100 %). Brackets show 95 % intervals.
    The samples are too few to distinguish the accuracies: 1 correct class lost, 0 gained, McNemar's p = 1; the 95 % interval of 2 samples is 81.09 % wide.
    If no accumulator overflows, level column requires 15 bits for every final sum of these samples (enough for wrapping) and 15 bits for every prefix (enough for saturation). `guardbit size` proves widths for every input.
    If no accumulator overflows, level acc requires 12 bits for every final sum of these samples (enough for wrapping) and 15 bits for every prefix (enough for saturation). `guardbit size` proves widths for every input.
    The accelerator runs 100 % of the 22 multiply-accumulates (MACs) of one inference: 2 of 2 MAC layers.
    One inference takes 238 cycles on the accelerator, 0.7933 µs (1.261 M inferences per second); 87.4 % of the cycles are stalls (SRAM 0 %, DRAM 87.4 %).
    Cycles by the resource that limits the layer: external memory 100 %. #0 conv2d_1 takes the most cycles. Twice as fast, dram saves 43.28 % of the cycles, array 6.3 %.
    ");
    let run = common::run_record(StatsLevel::None);
    insta::assert_snapshot!(run_findings(&run).join("\n"), @r"
    3 output codes of the network differ from the exact ones.
    50 % (9.45 % to 90.55 %) of the top-1 classes equal those of the exact network; the accuracy is 50 % (9.45 % to 90.55 %), that of the exact network 100 % (34.24 % to 100 %). Brackets show 95 % intervals.
    The samples are too few to distinguish the accuracies: 1 correct class lost, 0 gained, McNemar's p = 1; the 95 % interval of 2 samples is 81.09 % wide.
    The accelerator runs 100 % of the 22 multiply-accumulates (MACs) of one inference: 2 of 2 MAC layers.
    One inference takes 238 cycles on the accelerator, 0.7933 µs (1.261 M inferences per second); 87.4 % of the cycles are stalls (SRAM 0 %, DRAM 87.4 %).
    Cycles by the resource that limits the layer: external memory 100 %. #0 conv2d_1 takes the most cycles. Twice as fast, dram saves 43.28 % of the cycles, array 6.3 %.
    ");
}

/// The time of the network is the sum over its layers; a folded array runs all layers at once.
#[test]
fn time_of_a_network() {
    let run = common::run_record(StatsLevel::Events);
    let sum = |of: fn(&LayerRow) -> Option<u64>| run.layers.iter().filter_map(of).sum::<u64>();
    let timing = &run.timing;
    assert_eq!((timing.cycles, timing.stall_cycles), (sum(|row| row.cycles), sum(|row| row.stall_cycles)));
    assert_eq!(sum(|row| row.compute_cycles), timing.cycles - timing.stall_cycles);
    let stalls = (sum(|row| row.stall_sram_cycles), sum(|row| row.stall_dram_cycles));
    assert_eq!((timing.stall_sram_cycles, timing.stall_dram_cycles), stalls);
    assert_eq!(stalls.0 + stalls.1, timing.stall_cycles);
    // 238 cycles at 300 MHz.
    assert_eq!((timing.latency_us, timing.throughput_per_s), (0.793_333, Some(1_260_504.202)));
    assert_eq!(timing.pipelined_per_s, None);

    let yaml = "schema: 1\ndataflow: vector\narray: {rows: 1, cols: 4, kind: folded}\n";
    let folded = from_yaml(yaml, "folded.yaml", &[]).unwrap();
    let program = lower(Arc::new(common::network()), &folded).unwrap();
    let timing = NetworkTiming::new(&program);
    let slowest = program.mac_layers().map(|layer| layer.timing.cycles).max().unwrap();
    let rate = folded.clock_mhz * 1e6 / slowest as f64;
    assert!((timing.pipelined_per_s.unwrap() - rate).abs() < 1e-3);
    assert!(timing.pipelined_per_s > timing.throughput_per_s);
}

#[test]
fn a_sweep_in_words() {
    let mut points = common::sweep(StatsLevel::Full);
    // Wrapping at 11 bits is wrong. Make 12 bits wrong too, and 11 bits right by chance.
    points[0].summary.wrong = Some(0);
    points[1].summary.wrong = Some(1);
    let findings = sweep_findings(&points);
    let sums: Vec<_> = findings.iter().filter(|h| h.question == Question::ExactSums).collect();
    assert_eq!(sums.iter().map(|h| h.least_bits).collect::<Vec<_>>(), [Some(13), Some(14)]);
    let text: Vec<String> = findings.iter().map(|h| format!("{}: {}", h.overflow, h.text)).collect();
    insta::assert_snapshot!(text.join("\n"), @r#"
    wrap: From 13 bits on, every sum is exact. At 12 bits, 1 sum is wrong. This also holds at 11 bits, but not in between.
    wrap: Some output codes differ at every width that was run (11 to 15 bits): at 15 bits, 3 output codes differ.
    wrap: Some top-1 classes differ at every width that was run (11 to 15 bits): at 15 bits, 50 % (9.45 % to 90.55 %) of the top-1 classes agree.
    wrap: The accuracy differs from the exact network's at every width that was run (11 to 15 bits): at 15 bits, it is 50 % instead of 100 % (McNemar's p = 1: 2 samples are too few to exclude chance).
    saturate: From 14 bits on, every sum is exact. At 13 bits, 1 sum is wrong.
    saturate: Some output codes differ at every width that was run (11 to 15 bits): at 15 bits, 3 output codes differ.
    saturate: Some top-1 classes differ at every width that was run (11 to 15 bits): at 15 bits, 50 % (9.45 % to 90.55 %) of the top-1 classes agree.
    saturate: The accuracy differs from the exact network's at every width that was run (11 to 15 bits): at 15 bits, it is 50 % instead of 100 % (McNemar's p = 1: 2 samples are too few to exclude chance).
    "#);
}

#[test]
fn a_property_of_every_width() {
    let mut points = common::sweep(StatsLevel::None);
    points.retain(|point| point.summary.overflow == "wrap");
    points.iter_mut().for_each(|point| point.summary.output_mismatch = Some(0));
    let findings = sweep_findings(&points);
    assert_eq!(findings[0].question, Question::ExactOutputs);
    assert_eq!(findings[0].least_bits, Some(11));
    assert_eq!(
        findings[0].text,
        "At every width that was run (11 to 15 bits), every output code equals that of the exact network."
    );
}

#[test]
fn widths_are_ordered() {
    assert!(Width::Bits(64) < Width::Auto);
    assert_eq!(Width::Auto.bits(), None);
    assert_eq!(Width::Bits(14).to_string(), "14");
}

/// The widths that an overflowing run observed are reported separately from the sufficient widths, and are
/// not recommended for building.
#[test]
fn widths_to_build_are_not_those_that_were_met() {
    let mut run = common::run_record(StatsLevel::Full);
    let told = |run: &guardbit_reports::RunRecord| {
        let of_acc = |line: &String| line.contains("evel acc");
        run_findings(run).into_iter().filter(of_acc).collect::<Vec<_>>().join("\n")
    };
    for row in &mut run.layers {
        row.exact_required_final = row.required_final.map(|bits| bits + 2);
        row.exact_required_prefix = row.required_prefix.map(|bits| bits + 3);
    }
    insta::assert_snapshot!(told(&run), @"
    If no accumulator overflows, level acc requires 14 bits for every final sum of these samples (enough for wrapping) and 18 bits for every prefix (enough for saturation). `guardbit size` proves widths for every input.
    Earlier overflow changed the activations: in this run, level acc required 12 bits for final sums and 15 for prefixes. These are not widths to build.
    ");
    let last = run.layers.last_mut().unwrap();
    (last.exact_required_final, last.exact_required_prefix) = (None, None);
    last.overflow = Some("saturate_symmetric".into());
    assert!(
        told(&run).contains("(saturate_symmetric may require one more); 1 layer in which products overflow"),
        "{}",
        told(&run)
    );
    run.layers[1].exact_required_final = Some(65);
    assert!(told(&run).contains("is unsigned, but some sums are negative"), "{}", told(&run));
}
