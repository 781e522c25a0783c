//! Tests of every plot: equal bytes each time, nothing outside the sheet, and a reason if there is nothing to
//! show.

use std::sync::Arc;

use crate::common;
use guardbit_hwmodels::{PRESETS, load};
use guardbit_reports::plots::{
    Drawing, EXPLORE_PLOTS, Medium, OVERFLOW_PLOTS, Plot, PlotStyle, QUANTIZER_PLOTS, RUN_PLOTS,
    SIZE_FLOAT_PLOTS, SIZE_PLOTS, SWEEP_PLOTS,
};
use guardbit_reports::{
    About, CoverageRecord, ExploreRecord, Parameter, PointRecord, PointRow, QuantizerRow, QuantizersRecord,
    RunRecord, accelerator_picture, sweep_documents,
};
use guardbit_sim::StatsLevel;
use resvg::usvg::{Group, Node, Options, Text, Tree, fontdb};

fn figure<S: ?Sized>(plot: &Plot<S>, record: &S) -> String {
    drawn(plot, record, &PlotStyle::default())
}

fn drawn<S: ?Sized>(plot: &Plot<S>, record: &S, style: &PlotStyle) -> String {
    match plot.draw_in(record, style).unwrap() {
        Drawing::Figure(svg) => svg,
        Drawing::Nothing(why) => panic!("{}: {why}", plot.name),
    }
}

/// Checks that a picture is equal each time, that nothing of it lies outside, and that letters on paper are
/// large enough.
fn check<S: ?Sized>(plot: &Plot<S>, record: &S) {
    for medium in Medium::ALL {
        let style = PlotStyle { medium, ..PlotStyle::default() };
        let svg = drawn(plot, record, &style);
        assert_eq!(svg, drawn(plot, record, &style), "{}", plot.name);
        let has_title = medium != Medium::Paper;
        let head: String = plot.title.replace('\'', "&apos;").chars().take(20).collect();
        assert_eq!(svg.contains(&head), has_title, "{}", plot.name);
        check_inside(plot.name, &svg);
        if medium == Medium::Paper {
            check_letters(plot.name, &svg);
            assert!(svg.starts_with("<svg width=\"85mm\""), "{}", plot.name);
            let pdf = plot.pdf(&svg).unwrap();
            assert!(pdf.starts_with(b"%PDF-") && pdf == plot.pdf(&svg).unwrap(), "{}", plot.name);
        }
    }
    let svg = figure(plot, record);
    let size = size(&svg);
    let png = plot.png(&svg, &PlotStyle::default()).unwrap();
    let word = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    if 4.0 * size[0] * size[1] <= MOST.1 {
        assert_eq!([word(16), word(20)].map(f64::from), [2.0 * size[0], 2.0 * size[1]], "{}", plot.name);
    }
}

/// Checks that everything that is drawn lies within the picture: no coordinate outside, and no letter.
fn check_inside(name: &str, svg: &str) {
    let size = size(svg);
    let inside = |what: &str, [x, y]: [f64; 2]| {
        let fits = |at: f64, most: f64| (-0.01..=most + 0.01).contains(&at);
        assert!(fits(x, size[0]) && fits(y, size[1]), "{name}: {what} at {x}, {y} of {size:?}");
    };
    for place in attributes(svg, "<rect ", &["x", "y", "width", "height"]) {
        inside("rect", [place[0], place[1]]);
        inside("rect", [place[0] + place[2], place[1] + place[3]]);
    }
    for place in attributes(svg, "<circle ", &["cx", "cy"]) {
        inside("circle", [place[0], place[1]]);
    }
    for points in svg.split(" points=\"").skip(1) {
        for point in points[..points.find('"').unwrap()].split(' ') {
            let (x, y) = point.split_once(',').unwrap();
            inside("point", [x.parse().unwrap(), y.parse().unwrap()]);
        }
    }
    let tree = tree(svg);
    let scale = size[0] / f64::from(tree.size().width());
    texts(tree.root(), &mut |text| {
        let bounds = text.abs_bounding_box();
        let said: String = text.chunks().iter().map(|chunk| chunk.text()).collect();
        for (x, y) in [(bounds.left(), bounds.top()), (bounds.right(), bounds.bottom())] {
            // The picture's edge has a margin.
            inside(&said, [f64::from(x) * scale, f64::from(y) * scale]);
        }
    });
}

/// Checks that letters in a figure of 85 mm have at least 7 points.
fn check_letters(name: &str, svg: &str) {
    let point = size(svg)[0] / 85.0 * 25.4 / 72.0;
    for letters in attributes(svg, "<text ", &["font-size"]) {
        assert!(letters[0] / point >= 7.0, "{name}: {} pt", letters[0] / point);
    }
}

fn tree(svg: &str) -> Tree {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(include_bytes!("../assets/DejaVuSans-subset.ttf").to_vec());
    let options =
        Options { font_family: "DejaVu Sans".into(), fontdb: Arc::new(fonts), ..Options::default() };
    Tree::from_str(svg, &options).unwrap()
}

fn texts(group: &Group, found: &mut impl FnMut(&Text)) {
    for node in group.children() {
        match node {
            Node::Group(group) => texts(group, found),
            Node::Text(text) => found(text),
            _ => {}
        }
    }
}

/// Returns the width and the height of a picture in its own units.
fn size(svg: &str) -> [f64; 2] {
    let view = svg.split(" viewBox=\"0 0 ").nth(1).unwrap();
    let (width, height) = view[..view.find('"').unwrap()].split_once(' ').unwrap();
    [width.parse().unwrap(), height.parse().unwrap()]
}

/// Returns numbers among the attributes of every tag of the given kind.
fn attributes(svg: &str, tag: &str, names: &[&str]) -> Vec<Vec<f64>> {
    let value = |tag: &str, name: &str| {
        let name = format!(" {name}=\"");
        let from = tag.find(&name).unwrap() + name.len();
        tag[from..from + tag[from..].find('"').unwrap()].parse().unwrap()
    };
    let tags = svg.match_indices(tag).map(|(at, _)| &svg[at..at + svg[at..].find('>').unwrap()]);
    tags.map(|tag| names.iter().map(|name| value(tag, name)).collect()).collect()
}

/// A dash is an attribute of a whole line, and lines are not rounded to pixels.
#[test]
fn curves_are_lines_with_decimals() {
    let svg = figure(&SWEEP_PLOTS[0], &sweep(StatsLevel::Full)[..]);
    assert!(svg.contains(" stroke-dasharray=\"9,4\" points=\""));
    let curve =
        svg.lines().find(|line| line.contains("stroke-dasharray=\"9,4\"") && line.matches(',').count() > 4);
    assert!(curve.is_some_and(|curve| curve.contains('.')), "{svg}");
}

/// The height of a figure is that which was asked for, and a figure without room says what it lacks.
#[test]
fn figures_have_the_size_that_was_asked_for() {
    let points = sweep(StatsLevel::Full);
    for (text, width, height) in
        [("120x70mm", "120mm", 70.0), ("100x400mm", "100mm", 400.0), ("85x30mm", "85mm", 30.0)]
    {
        for medium in Medium::ALL {
            let style = PlotStyle { medium, size: Some(text.parse().unwrap()), ..PlotStyle::default() };
            for plot in SWEEP_PLOTS {
                let svg = drawn(plot, &points[..], &style);
                check_inside(plot.name, &svg);
                assert!(svg.starts_with(&format!("<svg width=\"{width}\" height=\"")), "{}", &svg[..80]);
                let shown = svg.split(" height=\"").nth(1).unwrap().split("mm").next().unwrap();
                assert!((shown.parse::<f64>().unwrap() - height).abs() < 0.3, "{shown}");
            }
        }
    }
    let small =
        PlotStyle { size: Some("85x30mm".parse().unwrap()), medium: Medium::Paper, ..PlotStyle::default() };
    assert!(drawn(&SWEEP_PLOTS[0], &points[..], &small).contains("Not shown: "));
    let large =
        PlotStyle { font: Some("40pt".parse().unwrap()), medium: Medium::Paper, ..PlotStyle::default() };
    assert!(large.problem().is_some() && small.problem().is_none());
}

/// Returns the points of a sweep with axes over width and overflow mode.
fn sweep(stats: StatsLevel) -> Vec<PointRecord> {
    let mut points = common::sweep(stats);
    for point in &mut points {
        let parameter =
            |key: &str, value: String| Parameter { key: format!("accumulation.acc.{key}"), value };
        let bits = point.summary.bits.unwrap_or_default().to_string();
        point.parameters =
            vec![parameter("overflow", point.summary.overflow.clone()), parameter("bits", bits)];
    }
    points
}

#[test]
fn plots_of_a_run() {
    let run = common::run_record(StatsLevel::Full);
    RUN_PLOTS.iter().chain(OVERFLOW_PLOTS).for_each(|plot| check(plot, &run));
}

#[test]
fn plots_of_a_sizing() {
    SIZE_PLOTS.iter().chain(SIZE_FLOAT_PLOTS).for_each(|plot| check(plot, &common::size_record()));
}

#[test]
fn plots_of_a_sweep() {
    let points = sweep(StatsLevel::Full);
    SWEEP_PLOTS.iter().for_each(|plot| check(plot, &points[..]));
    // `overlay` needs two points for a curve.
    let of_one = SWEEP_PLOTS.iter().filter(|plot| plot.name != "overlay");
    of_one.for_each(|plot| check(plot, &points[..1]));
}

#[test]
fn plots_of_quantizers() {
    let row = |(panel, quantizer): (&str, &str), bits, right| QuantizerRow {
        panel: panel.into(),
        quantizer: quantizer.into(),
        bits,
        right,
    };
    let curves = [("wrap", "plain"), ("wrap", "guaranteed"), ("saturate", "plain")];
    let of_curve = |curve| [12, 14, 20].map(|bits| row(curve, bits, u64::from(bits)));
    let rows = curves.into_iter().flat_map(of_curve).collect();
    let mut record = QuantizersRecord { model: "net".into(), float_right: 20, samples: 20, rows };
    QUANTIZER_PLOTS.iter().for_each(|plot| check(plot, &record));
    let svg = figure(&QUANTIZER_PLOTS[0], &record);
    assert!(svg.contains("float network: 100 %") && svg.contains("guaranteed"));
    record.rows.clear();
    assert!(matches!(QUANTIZER_PLOTS[0].draw(&record), Ok(Drawing::Nothing(_))));
}

/// Axes that vary together become rows: as columns they would leave most cells blank. Keys of layers stay
/// distinct.
#[test]
fn axes_that_go_together_share_the_rows_of_the_heat_map() {
    let mut points = sweep(StatsLevel::Full);
    let heat_map =
        |points: &[PointRecord]| figure(SWEEP_PLOTS.iter().find(|plot| plot.name == "axes").unwrap(), points);
    assert!(heat_map(&points).contains("columns: acc.bits · rows: acc.overflow"));
    for point in &mut points {
        let value = point.parameters.pop().unwrap().value;
        let of_layer = |layer: &str| Parameter {
            key: format!("layers.{layer}.accumulation.acc.bits"),
            value: value.clone(),
        };
        point.parameters.extend(["conv", "dense"].map(of_layer));
    }
    assert!(heat_map(&points).contains("columns: acc.overflow · rows: conv acc.bits · dense acc.bits"));
}

#[test]
fn plots_of_several_models_and_accelerators() {
    let mut points = sweep(StatsLevel::Full);
    let mut other = sweep(StatsLevel::Full);
    other.iter_mut().for_each(|point| point.summary.hw = "another".into());
    points.append(&mut other);
    SWEEP_PLOTS.iter().for_each(|plot| check(plot, &points[..]));
}

/// A network with as many layers as a real one has tables instead of panels.
#[test]
fn plots_of_many_layers() {
    let mut run = common::run_record(StatsLevel::Full);
    repeat(&mut run.layers, |row, i| row.index += 2 * i);
    repeat(&mut run.histograms, |histogram, i| histogram.index += 2 * i);
    repeat(&mut run.activity, |activity, i| activity.index += 2 * i);
    RUN_PLOTS.iter().chain(OVERFLOW_PLOTS).for_each(|plot| check(plot, &run));

    let mut points = sweep(StatsLevel::Full);
    for point in &mut points {
        repeat(&mut point.layers, |row, i| row.index += 2 * i);
        repeat(&mut point.histograms, |histogram, i| histogram.index += 2 * i);
    }
    SWEEP_PLOTS.iter().for_each(|plot| check(plot, &points[..]));
}

/// Limits of a plot: height in pixels, pixels of its PNG file, and bytes of its SVG document.
const MOST: (f64, f64, usize) = (4000.0, 8e6, 1_200_000);
/// Pixels by which rounding to whole pixels may exceed the limit.
const ROUNDED: f64 = 10_000.0;

/// Checks that a plot stays within the limits for any record, and states what it leaves out.
fn check_bounded<S: ?Sized>(plot: &Plot<S>, record: &S) {
    let svg = figure(plot, record);
    let size = size(&svg);
    assert!(size[1] <= MOST.0, "{}: {size:?}", plot.name);
    assert!(svg.len() <= MOST.2, "{}: {} bytes", plot.name, svg.len());
    let png = plot.png(&svg, &PlotStyle::default()).unwrap();
    let word = |at: usize| f64::from(u32::from_be_bytes(png[at..at + 4].try_into().unwrap()));
    assert!(word(16) * word(20) <= MOST.1 + ROUNDED, "{}", plot.name);
    let says = ["are shown: the ", "not shown: ", "parts do not fit", "too many for one plot"];
    let says_so = says.iter().any(|note| svg.contains(note));
    assert!(
        says_so || WHOLE.contains(&plot.name),
        "{}: the picture does not state what it leaves out",
        plot.name
    );
}

/// Plots that never leave anything out.
const WHOLE: [&str; 3] = ["out_of_range", "accuracy", "output_mismatch"];

#[test]
fn pictures_are_bounded() {
    let mut run = common::run_record(StatsLevel::Full);
    repeat_times(&mut run.layers, 200, |row, i| row.index += 2 * i);
    repeat_times(&mut run.histograms, 200, |histogram, i| histogram.index += 2 * i);
    repeat_times(&mut run.activity, 200, |activity, i| activity.index += 2 * i);
    repeat_times(&mut run.bottlenecks, 200, |row, i| row.index += 2 * i);
    RUN_PLOTS.iter().chain(OVERFLOW_PLOTS).for_each(|plot| check_bounded(plot, &run));

    let mut size = common::size_record();
    repeat_times(&mut size.layers, 200, |row, i| row.index += 2 * i);
    repeat_times(&mut size.grid, 200, |row, i| row.index += 2 * i);
    SIZE_PLOTS.iter().for_each(|plot| check_bounded(plot, &size));

    // Many layers at every point.
    let mut points = sweep(StatsLevel::Full);
    for point in &mut points {
        repeat_times(&mut point.layers, 200, |row, i| row.index += 2 * i);
        repeat_times(&mut point.histograms, 200, |histogram, i| histogram.index += 2 * i);
    }
    let of_layers =
        |plot: &&Plot<[PointRecord]>| ["overflow_rate", "sqnr", "required_bits"].contains(&plot.name);
    SWEEP_PLOTS.iter().filter(of_layers).for_each(|plot| check_bounded(plot, &points[..]));

    // Many points: 120 seeds at every one of ten points.
    let mut points = sweep(StatsLevel::Full);
    for point in &mut points {
        point.parameters = vec![Parameter { key: "seed".into(), value: "0".into() }];
    }
    repeat_times(&mut points, 120, |point, i| {
        point.parameters[0].value = i.to_string();
        point.summary.output_mismatch = Some(i as u64);
    });
    SWEEP_PLOTS
        .iter()
        .filter(|plot| plot.name != "overlay")
        .for_each(|plot| check_bounded(plot, &points[..]));
    let seeds: Vec<PointRecord> = points.iter().step_by(10).cloned().collect();
    let overlay = SWEEP_PLOTS.iter().find(|plot| plot.name == "overlay").unwrap();
    check_bounded(overlay, &seeds[..]);
    let documents = sweep_documents(&About::default(), &points).unwrap();
    let report = documents.iter().find(|(path, _)| path == "report.html").unwrap();
    assert!(report.1.len() < 5_000_000, "{} bytes", report.1.len());
}

#[test]
fn pictures_of_many_designs_are_bounded() {
    let row = |point: usize| PointRow {
        point,
        output_mismatch: Some(point as u64 % 97),
        cycles: 1000 + point as u64,
        front: point.is_multiple_of(9),
        recommended: point == 4000,
        ..PointRow::default()
    };
    let record = ExploreRecord {
        model: "net".into(),
        hw: "hw".into(),
        mode: "propagated".into(),
        samples: 1,
        quality: "output_mismatch".into(),
        budget: None,
        objectives: vec!["cycles".into()],
        costs: Vec::new(),
        points: 10_000,
        searched: 0,
        simulated: 10_000,
        exact: 0,
        shared: 0,
        coverage: CoverageRecord::default(),
        remarks: Vec::new(),
        rows: (0..10_000).map(row).collect(),
        parameters: Vec::new(),
        warnings: Vec::new(),
        sensitivity: Vec::new(),
    };
    EXPLORE_PLOTS.iter().for_each(|plot| check_bounded(plot, &record));
}

fn repeat<T: Clone>(items: &mut Vec<T>, change: impl Fn(&mut T, usize)) {
    repeat_times(items, 15, change);
}

fn repeat_times<T: Clone>(items: &mut Vec<T>, times: usize, change: impl Fn(&mut T, usize)) {
    let first = items.clone();
    for i in 1..times {
        items.extend(first.iter().cloned().map(|mut item| {
            change(&mut item, i);
            item
        }));
    }
}

#[test]
fn what_was_not_counted_is_said() {
    let why = |drawing| match drawing {
        Drawing::Nothing(why) => why,
        Drawing::Figure(_) => "drawn".to_owned(),
    };
    let run = |record: &RunRecord| -> Vec<String> {
        RUN_PLOTS.iter().chain(OVERFLOW_PLOTS).map(|plot| why(plot.draw(record).unwrap())).collect()
    };
    let sweep = |record: &[PointRecord]| -> Vec<String> {
        SWEEP_PLOTS.iter().map(|plot| why(plot.draw(record).unwrap())).collect()
    };
    let bits = "Not counted: this plot needs --stats values or full.";
    let full = "Not counted: this plot needs --stats full.";
    assert_eq!(run(&common::run_record(StatsLevel::Events)), ["drawn", "drawn", bits, full, full]);
    let mut points = common::sweep(StatsLevel::None);
    let events = "Not counted: this plot needs --stats events or full.";
    let axes = "Only one register is varied.";
    assert_eq!(sweep(&points), ["drawn", axes, axes, "drawn", events, "drawn", bits]);
    for point in &mut points {
        (point.summary.accuracy, point.summary.top1_agreement) = (None, None);
    }
    let why = "Accuracy and agreement are defined in propagated mode only.";
    assert_eq!(sweep(&points)[0], why);
    assert_eq!(sweep(&[]), ["No point ran to its end."; 7]);
    let plot = &SWEEP_PLOTS[0];
    let drawing = plot.draw(&points[..]).unwrap();
    assert!(plot.svg(&drawing, &PlotStyle::default()).unwrap().contains(why));
}

#[test]
fn a_small_plot_is_kept() {
    let run = common::run_record(StatsLevel::Full);
    let plot = RUN_PLOTS.iter().find(|plot| plot.name == "sqnr").unwrap();
    insta::assert_snapshot!(figure(plot, &run));
}

/// The page of presets, with their pictures, is that of their files.
#[test]
fn the_page_of_presets_is_current() {
    let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let mut page = "# Presets\n\nTo use a preset, name it: `--hw NAME`. `guardbit hw show NAME` prints every key. Each picture shows the \
                    array with its levels,\nthe memories with their sizes, and the bytes per cycle of every port. The text below it is \
                    that of the preset's file: its sources, and\nwhat is assumed because no source states it. This page is generated: \
                    `scripts/renew -p guardbit-reports` renews it.\n"
        .to_owned();
    let links = PRESETS.iter().map(|preset| format!("[{0}](#{0})", preset.name));
    page += &format!("\nOn this page: {}.\n", links.collect::<Vec<_>>().join(", "));
    let mut files = Vec::new();
    for preset in PRESETS {
        let accelerator = load(preset.name, &[]).unwrap();
        let (picture, words) = accelerator_picture(&accelerator);
        let description = preset.text.lines().find_map(|line| line.strip_prefix("description: ")).unwrap();
        let comment =
            preset.text.lines().map_while(|line| line.strip_prefix("# ")).collect::<Vec<_>>().join("\n");
        let comment = comment.replace("\nAssumed:", "\n\nAssumed:");
        page += &format!(
            "\n## {0}\n\n{1}.\n\n![{2}](../images/presets/{0}.svg)\n\n{comment}\n",
            preset.name, description, words
        );
        files.push((format!("images/presets/{}.svg", preset.name), picture));
    }
    files.push(("reference/presets.md".into(), page));
    for (path, text) in files {
        let path = docs.join(path);
        if std::env::var_os("GUARDBIT_BLESS").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &text).unwrap();
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(committed == text, "{} is stale: run scripts/renew", path.display());
    }
}
