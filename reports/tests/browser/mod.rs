//! Pages in a browser: no error, no request, no violation of accessibility, and what a reader does.

mod driver;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use guardbit_reports::{
    About, ExploreRecord, Parameter, PointRow, QuantizeRecord, compare_page, explore_documents, figure,
    quantize_documents, run_documents, size_documents, sweep_documents,
};
use guardbit_sim::StatsLevel;
use serde_json::{Value, json};

use crate::common;
use driver::Browser;

/// Returns an exploration of 60 designs.
fn exploration() -> ExploreRecord {
    let row = |point: usize| PointRow {
        point,
        design: "axes".into(),
        output_mismatch: Some(point as u64 % 17),
        cycles: 1000 + 37 * (point as u64 % 29),
        front: point.is_multiple_of(9),
        recommended: point == 27,
        bound: "dram".into(),
        bound_ratio: Some(0.5),
        ran: "simulated".into(),
        ..PointRow::default()
    };
    let parameter =
        |point: usize| vec![Parameter { key: "array.rows".into(), value: (4 + point).to_string() }];
    ExploreRecord {
        model: "net".into(),
        hw: "hw".into(),
        mode: "propagated".into(),
        samples: 1,
        quality: "output_mismatch".into(),
        budget: Some("mismatch=1%".into()),
        objectives: vec!["cycles".into()],
        costs: Vec::new(),
        points: 60,
        searched: 0,
        simulated: 60,
        exact: 0,
        shared: 0,
        coverage: guardbit_reports::CoverageRecord::default(),
        remarks: Vec::new(),
        rows: (0..60).map(row).collect(),
        parameters: (0..60).map(parameter).collect(),
        warnings: vec![vec!["a <warning>".into()]; 60],
        sensitivity: Vec::new(),
    }
}

fn quantization() -> QuantizeRecord {
    let run = common::run_record(StatsLevel::Full);
    QuantizeRecord {
        model: "net".into(),
        hw: "hw".into(),
        method: "min-max".into(),
        samples: 10,
        evaluated: 20,
        accuracy_float: guardbit_reports::Fraction::of(19, 20),
        accuracy: guardbit_reports::Fraction::of(18, 20),
        accuracy_hw: guardbit_reports::Fraction::of(17, 20),
        parts: Vec::new(),
        tensors: Vec::new(),
        histograms: Vec::new(),
        layers: run.layers,
        proofs: Vec::new(),
        tradeoffs: Vec::new(),
        own: Vec::new(),
    }
}

/// Writes every page into a folder of its own, and returns their paths by name.
fn pages(folder: &Path) -> BTreeMap<&'static str, PathBuf> {
    let about = About { version: "0.1.0".into(), command: "guardbit run a".into(), ..About::default() };
    let documents = [
        ("run", run_documents(&about, &common::run_record(StatsLevel::Full))),
        ("bare run", run_documents(&about, &common::run_record(StatsLevel::None))),
        ("large run", run_documents(&about, &common::large_run())),
        ("sweep", sweep_documents(&about, &common::sweep(StatsLevel::Full))),
        ("size", size_documents(&about, &common::size_record())),
        ("explore", explore_documents(&about, &exploration())),
        ("quantize", quantize_documents(&about, &quantization())),
    ];
    fs::create_dir_all(folder).unwrap();
    let write = |(name, documents): (&'static str, Result<Vec<guardbit_files::Document>, _>)| {
        let documents: Vec<_> = documents.unwrap();
        let page = documents.into_iter().find(|(path, _)| path == "report.html").unwrap().1;
        let path = folder.join(format!("{}.html", name.replace(' ', "_")));
        fs::write(&path, page).unwrap();
        (name, path)
    };
    let mut all: BTreeMap<_, _> = documents.into_iter().map(write).collect();
    for (name, command) in [("compared runs", "run"), ("compared sweeps", "sweep")] {
        let path = folder.join(format!("{}.html", name.replace(' ', "_")));
        fs::write(&path, compare_page(&about, &common::comparison(command))).unwrap();
        all.insert(name, path);
    }
    all
}

fn folder(name: &str) -> PathBuf {
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("browser-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Scrolls through the page, so that every plot is drawn, and opens all that is folded.
const READ_ALL: &str = "(async () => {
    for (const details of document.querySelectorAll('details')) details.open = true;
    for (const figure of document.querySelectorAll('figure')) {
        figure.scrollIntoView();
        for (let i = 0; i < 500 && figure.matches('.plot:not(:has(.stage > *))'); i++) {
            await new Promise(done => setTimeout(done, 20));
        }
    }
    scrollTo(0, 0);
    await new Promise(done => setTimeout(done, 60));
    return 0;
})()";

#[test]
#[ignore = "needs GUARDBIT_CHROMIUM and GUARDBIT_AXE, see scripts/test"]
fn pages_work_in_every_window_and_scheme() {
    let axe = std::env::var_os("GUARDBIT_AXE").expect("GUARDBIT_AXE is set, see scripts/test");
    let axe = fs::read_to_string(axe).unwrap();
    let folder = folder("pages");
    let mut browser = Browser::start(&folder.join("profile"));
    for (name, path) in pages(&folder) {
        for (width, scheme) in [(400, "light"), (1400, "dark"), (2560, "light")] {
            let what = format!("{name}, {width} pixels, {scheme}");
            browser.open(&path, [width, 900], scheme);
            browser.value(READ_ALL);
            // Every plot shows something, and nothing but tables is wider than the window.
            let drawn = browser.value(
                "[...document.querySelectorAll('figure.plot')].filter(figure => !figure.querySelector('.stage svg, .stage canvas')).map(figure => figure.textContent.slice(0, 60))",
            );
            assert_eq!(drawn, json!([]), "{what}: not drawn");
            let wide = browser.value("document.documentElement.scrollWidth - innerWidth");
            assert!(wide.as_i64().unwrap() <= 0, "{what}: {wide} pixels too wide");
            assert_eq!(browser.complaints(), Vec::<String>::new(), "{what}");
            if width == 2560 {
                continue;
            }
            browser.value(&format!("{axe}; 0"));
            let found = browser.value(
                "axe.run({resultTypes: ['violations']}).then(found => found.violations.map(one => \
                 `${one.id}: ${one.nodes.slice(0, 3).map(node => node.html.slice(0, 160) + ' ' + node.failureSummary).join(' | ')}`))",
            );
            assert_eq!(found, json!([]), "{what}");
        }
    }
    drop(browser);
    remove(&folder);
}

/// A picture of a page that is taken as soon as it is loaded, in a window of any height, has every plot.
#[test]
#[ignore = "needs GUARDBIT_CHROMIUM, see scripts/test"]
fn plots_are_drawn_when_a_page_is_loaded() {
    let folder = folder("loaded");
    let mut browser = Browser::start(&folder.join("profile"));
    let errors = "addEventListener('error', event => (globalThis.errors ??= []).push(event.message));";
    browser.call("Page.addScriptToEvaluateOnNewDocument", &json!({ "source": errors }));
    for (name, path) in pages(&folder) {
        browser.open(&path, [1400, 12_000], "light");
        let empty = browser.value(
            "[...document.querySelectorAll('figure.plot:not(:has(.stage svg, .stage canvas))')].filter(figure => figure.checkVisibility()).map(figure => figure.textContent.slice(0, 60))",
        );
        assert_eq!(empty, json!([]), "{name}: blank");
        browser.value(READ_ALL);
        assert_eq!(browser.value("globalThis.errors ?? []"), json!([]), "{name}");
        // Plots follow the width of the window.
        let size = json!({"width": 700, "height": 12_000, "deviceScaleFactor": 1, "mobile": false});
        browser.call("Emulation.setDeviceMetricsOverride", &size);
        browser.wait("document.documentElement.scrollWidth <= innerWidth && [...document.querySelectorAll('.stage')].every(stage => !stage.clientWidth || stage.firstElementChild.clientWidth <= stage.clientWidth)");
        assert_eq!(browser.value("globalThis.errors ?? []"), json!([]), "{name}");
    }
    drop(browser);
    remove(&folder);
}

/// The script's numbers are those of the page, its scales are exact at both ends, and what it copies is read back.
#[test]
#[ignore = "needs GUARDBIT_CHROMIUM, see scripts/test"]
fn pure_parts_of_the_script() {
    let folder = folder("pure");
    let mut browser = Browser::start(&folder.join("profile"));
    let base = include_str!("../../src/html/script/base.js");
    browser.value(&format!(
        "globalThis.base = (() => {{ {base}\nreturn {{ figure, scale, range, csv }}; }})(); 0"
    ));
    let mut state = 7u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 - f64::from(1 << 30)
    };
    let mut numbers: Vec<f64> = vec![0.0, 1.0, -1.0, 9999.9999, 10_000.5, 999_999.7, 1e15, 0.1, -0.25];
    for _ in 0..400 {
        let power = (random() / 1e8) as i32 - 3;
        numbers.extend([random() / 7.0 * 10f64.powi(power), random()]);
    }
    let told = browser.value(&format!("{}.map(base.figure)", json!(numbers)));
    let expected: Vec<String> = numbers.iter().map(|number| figure(*number)).collect();
    assert_eq!(texts(told), expected);
    let faults = browser.value(
        "(() => { const faults = [];
            for (let i = 0; i < 400; i++) for (const log of [false, true]) {
                const low = log ? 10 ** (i % 9 - 4) : i * 1.7 - 300, high = low + (log ? low : 1) * (1 + i * 3.1);
                const { at, back, ticks } = base.scale(low, high, 40, 500, log, 2 + i % 7);
                const value = low + (high - low) * 0.3, near = (a, b) => Math.abs(a - b) <= 1e-6 * (1 + Math.abs(b));
                const good = near(at(low), 40) && near(at(high), 500) && near(back(at(value)), value) && ticks.length <= 12
                    && ticks.every(tick => tick >= low - (high - low) * 1e-6 && tick <= high + (high - low) * 1e-6);
                const [from, to] = base.range([low, value, high], log, false);
                if (!good || !(from <= low && to >= high)) faults.push([log, low, high, ticks, from, to]);
            }
            return faults; })()",
    );
    assert_eq!(faults, json!([]));
    let rows = [["plain", "a, b"], ["say \"x\"", "two\nlines"], ["", "1,000"]];
    let text = browser.value(&format!("base.csv({})", json!(rows)));
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_str().unwrap().as_bytes());
    let read: Vec<Vec<String>> =
        reader.records().map(|row| row.unwrap().iter().map(String::from).collect()).collect();
    assert_eq!(read, rows.map(|row| row.map(String::from).to_vec()));
    drop(browser);
    remove(&folder);
}

/// Selector of the main table of a run.
const TABLE: &str = "[data-name=Accumulators]";

/// Returns the texts of a column of the main table, by its heading, of the rows that are shown.
fn column(browser: &mut Browser, heading: &str) -> Vec<String> {
    let script = format!(
        "(() => {{ const table = document.querySelector('{TABLE} table');
            const at = [...table.querySelectorAll('thead th')].findIndex(head => head.textContent === {});
            return [...table.querySelectorAll('tbody tr')].filter(row => !row.hidden).map(row => row.cells[at].textContent); }})()",
        json!(heading)
    );
    texts(browser.value(&script))
}

fn texts(value: Value) -> Vec<String> {
    serde_json::from_value(value).unwrap()
}

fn heading(browser: &mut Browser, name: &str) -> String {
    let script = format!(
        "(() => {{ const head = [...document.querySelectorAll('{TABLE} thead th')].find(head => head.textContent === {});
            head.id = 'wanted'; return 0; }})()",
        json!(name)
    );
    browser.value(&script);
    "#wanted button".into()
}

#[test]
#[ignore = "needs GUARDBIT_CHROMIUM, see scripts/test"]
fn a_reader_follows_a_layer() {
    let folder = folder("reader");
    let mut browser = Browser::start(&folder.join("profile"));
    let pages = pages(&folder);
    browser.open(&pages["large run"], [1400, 900], "light");

    // Sorting by events: the greatest first, then the least, then the order of the network.
    let before = column(&mut browser, "events");
    let number = |text: &String| text.replace(',', "").parse::<u64>().unwrap();
    let numbers: Vec<u64> = before.iter().map(number).collect();
    assert!(
        numbers.len() >= 10 && numbers.iter().all(|&events| events > 0),
        "layers without events are folded"
    );
    let head = heading(&mut browser, "events");
    let mut expected = numbers.clone();
    expected.sort_unstable_by_key(|&events| std::cmp::Reverse(events));
    for expected in [expected.clone(), expected.into_iter().rev().collect(), numbers] {
        browser.click(&head);
        let sorted: Vec<u64> = column(&mut browser, "events").iter().map(number).collect();
        assert_eq!(sorted, expected);
    }

    // Groups of columns.
    assert!(
        browser.value(&format!("!document.querySelector('{TABLE} th[data-group=errors]').hidden")) == true
    );
    browser.click(&format!("{TABLE} fieldset label:nth-of-type(3) input"));
    let hidden = browser.value(&format!(
        "[...document.querySelectorAll('{TABLE} thead th')].filter(head => head.hidden).map(head => head.dataset.group)"
    ));
    assert!(texts(hidden).iter().all(|group| group == "errors"), "only errors are hidden");

    // Filtering, with the folded rows.
    browser.click(&format!("{TABLE} input[type=search]"));
    browser.call("Input.insertText", &json!({"text": "#18 acc"}));
    let layers = browser.value(&format!(
        "[...document.querySelectorAll('{TABLE} tbody tr')].filter(row => !row.hidden).map(row => row.cells[0].textContent)"
    ));
    assert_eq!(texts(layers), ["#18 conv2d_1"]);

    // What is copied has all digits and only the shown rows.
    browser.call(
        "Browser.grantPermissions",
        &json!({"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}),
    );
    browser.click(&format!("{TABLE} .tools > button"));
    browser.wait(&format!("document.querySelector('{TABLE} .tools > button').textContent === 'Copied'"));
    let copied = browser.value("navigator.clipboard.readText()");
    let copied = copied.as_str().unwrap();
    assert_eq!(copied.lines().count(), 2, "{copied}");
    assert!(copied.starts_with("layer,op,level,overflow,bits,"), "{copied}");

    // A layer opens its panel, is highlighted in plots, and Escape returns to where the reader was.
    browser.click(&format!("{TABLE} tbody tr:not([hidden]) button.open"));
    let heading = browser.value("document.querySelector('#panel h2').textContent");
    assert_eq!(heading, "#18 conv2d_1");
    assert_eq!(browser.value("document.activeElement.id"), "panel");
    let chosen = browser.value("document.querySelectorAll('.stage .chosen').length").as_i64().unwrap();
    assert!(chosen >= 1, "highlighted in the plot of the first screen");
    for part in [
        "Datapath",
        "Required bits of the sums of acc",
        "Events per processing element",
        "First events",
        "Reproduce",
    ] {
        let found = format!(
            "[...document.querySelectorAll('#panel h3')].some(head => head.textContent === {})",
            json!(part)
        );
        // Made-up layers have no events of their own.
        assert!(browser.value(&found) == true || part == "First events", "{part}");
    }
    assert!(browser.value("document.querySelector('#panel .overflows') !== null") == true);
    browser.click("#panel .tools button:nth-child(2)");
    assert!(browser.value("document.querySelector('#panel h2').textContent.startsWith('#19 ')") == true);
    browser.key("Escape");
    assert!(browser.value("document.querySelector('#panel').hidden") == true);
    assert!(browser.value("document.activeElement.classList.contains('open')") == true);

    // A layer has an address, by index or name; that of another layer lists those that the page has.
    for (hash, heading) in [
        ("layer=18", "#18 conv2d_1"),
        // The first of several layers of this name.
        ("layer=conv2d_1", " conv2d_1"),
        ("layer=3000", "Layer #3000"),
        ("layer=a%22]", "Unknown layer"),
    ] {
        let address = format!("{}#{hash}", pages["large run"].display());
        browser.open(Path::new(&address), [1400, 900], "light");
        browser.wait(&format!("document.querySelector('#panel h2')?.textContent.endsWith('{heading}')"));
        let listed =
            browser.value("document.querySelectorAll('#panel li > button.open').length").as_i64().unwrap();
        assert_eq!(listed > 10, !heading.contains("conv2d"), "{hash}");
    }
    browser.open(&pages["large run"], [1400, 900], "light");

    // Hovering shows values; arrow keys do the same, and Enter follows.
    browser.hover(".front .stage .fill");
    assert!(
        browser
            .value("document.querySelector('.tip').textContent")
            .as_str()
            .unwrap()
            .contains("with an event: ")
    );
    browser.value("document.querySelector('.front .stage svg').focus()");
    browser.key("ArrowDown");
    let told = browser.value("document.querySelector('.voice').textContent");
    assert!(told.as_str().unwrap().contains("persistent: "), "{told}");
    browser.key("Enter");
    assert!(browser.value("!document.querySelector('#panel').hidden") == true);
    browser.key("Escape");

    // A series is switched off and on; the scale becomes logarithmic.
    let bars = |browser: &mut Browser| {
        browser.value("document.querySelectorAll('.front .fill').length").as_i64().unwrap()
    };
    let all = bars(&mut browser);
    browser.click(".front .legend button");
    assert!(bars(&mut browser) < all);
    browser.click(".front .legend button");
    assert_eq!(bars(&mut browser), all);
    let ticks = "[...document.querySelectorAll('.front .stage text')].map(text => text.textContent).filter(text => text.endsWith('%')).join()";
    let linear = browser.value(ticks);
    browser.click(".front .tools > label input");
    assert_ne!(browser.value(ticks), linear);

    // The scheme.
    let paper = "getComputedStyle(document.body).backgroundColor";
    let light = browser.value(paper);
    browser.click("button.scheme");
    assert_ne!(browser.value(paper), light);
    assert_eq!(browser.value("document.querySelector('button.scheme').textContent"), "Light");
    browser.click("button.scheme");
    assert_eq!(browser.value(paper), light);
    assert_eq!(browser.complaints(), Vec::<String>::new());
    drop(browser);
    remove(&folder);
}

/// Removes the folder of a browser that was closed. Its helpers may still write for a moment.
fn remove(folder: &Path) {
    let removed = (0..50).any(|_| {
        let removed = fs::remove_dir_all(folder).is_ok();
        if !removed {
            std::thread::sleep(Duration::from_millis(100));
        }
        removed
    });
    assert!(removed, "{} cannot be removed", folder.display());
}

/// Returns what a screen reader says about the first values of the first line plot.
fn first_values(browser: &mut Browser) -> String {
    browser.value("document.querySelector('.voice').textContent = ''");
    // A plot that is drawn again, because its room changed, loses the focus.
    for _ in 0..50 {
        browser.value("document.querySelector('.front .u-wrap').focus()");
        browser.key("ArrowRight");
        let told = browser.value("document.querySelector('.voice').textContent");
        if told != "" {
            return told.as_str().unwrap().to_owned();
        }
    }
    panic!("the plot announces no value to screen readers");
}

#[test]
#[ignore = "needs GUARDBIT_CHROMIUM, see scripts/test"]
fn a_reader_looks_at_points_and_designs() {
    let folder = folder("points");
    let mut browser = Browser::start(&folder.join("profile"));
    let pages = pages(&folder);

    // Values of a line plot, by keys.
    browser.open(&pages["sweep"], [1400, 900], "dark");
    browser.wait("document.querySelector('.front canvas') !== null");
    let told = first_values(&mut browser);
    assert!(told.contains("11, wrap: 50 % (9.453 % to 90.55 %), saturate: 50 % ("), "{told}");
    browser.click(".front .legend button");
    let told = first_values(&mut browser);
    assert!(told.contains("11, saturate: 50 % ("), "{told}");
    // The pointer shows the same values.
    browser.hover(".front .u-over");
    let shown = browser.value("document.querySelector('.tip:not([hidden])')?.textContent ?? ''");
    assert!(shown.as_str().unwrap().contains("\nsaturate: 50 %"), "{shown}");
    assert_eq!(browser.complaints(), Vec::<String>::new());

    // A design opens its settings.
    browser.open(&pages["explore"], [1400, 900], "light");
    browser.wait("document.querySelector('.front .stage .point') !== null");
    browser.click(".front [data-ofdesign='27'] .point");
    browser.wait("!document.querySelector('#panel').hidden");
    let text = browser.value("document.querySelector('#panel').textContent");
    let text = text.as_str().unwrap();
    assert!(text.contains("Design 27") && text.contains("--set array.rows=31"), "{text}");
    assert!(text.contains("dram"), "{text}");

    // The address leads to the same panel.
    let address = browser.value("location.href").as_str().unwrap().to_owned();
    assert!(address.ends_with("#design=27"), "{address}");
    assert_eq!(browser.complaints(), Vec::<String>::new());
    drop(browser);
    remove(&folder);
}
