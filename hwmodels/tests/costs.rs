//! Files of cost models: messages about invalid ones, with their places.

use std::fs;
use std::path::Path;

use guardbit_files::schema_violations;
use guardbit_hwmodels::cost::{COST_MODELS, cost_from_yaml, cost_schema, load_cost};
use guardbit_hwmodels::{HwError, Origin};

/// Returns code, message with the place, and hint.
fn rendered(error: &HwError) -> String {
    let mut lines = vec![error.code().to_owned(), error.to_string()];
    if let Origin::File(place) = error.origin() {
        lines.push(format!("  | {}", place.text.lines().nth(place.line - 1).unwrap_or_default()));
    }
    lines.push(format!("help: {}", error.help()));
    lines.join("\n")
}

/// Returns the error of a file with these figures.
fn report(figures: &str) -> String {
    let text = format!("schema: 1\nsource: a book\narea_unit: um2\nfigures:\n{figures}\n");
    rendered(&cost_from_yaml(&text, "cost.yaml").unwrap_err())
}

#[test]
fn models_that_come_with_guardbit_are_whole() {
    for model in COST_MODELS {
        let loaded = load_cost(model.name).unwrap();
        assert_eq!(loaded.name, model.name);
        assert!(!loaded.source.is_empty() && !loaded.description.is_empty(), "{}", model.name);
        for figure in &loaded.figures {
            assert!(!figure.source.is_empty(), "{}: {figure:?}", model.name);
            assert!(figure.energy.is_some() || figure.area.is_some() || figure.flip_flops.is_some());
        }
    }
}

/// `scripts/renew` renews the file.
#[test]
fn the_committed_schema_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("cost.schema.json");
    let text = cost_schema();
    if std::env::var_os("GUARDBIT_BLESS").is_some() {
        fs::write(&path, &text).unwrap();
    }
    assert!(fs::read_to_string(&path).unwrap_or_default() == text, "scripts/renew renews cost.schema.json");
}

/// Schema and reader accept the built-in models, and refuse the same changes of a small one.
#[test]
fn schema_and_reader_agree() {
    const MODEL: &str =
        "schema: 1\nsource: a\narea_unit: um2\nfigures:\n  - {part: adder, energy_pj: 1, source: b}\n";
    let schema = serde_json::from_str(&cost_schema()).unwrap();
    let is_valid = |text: &str| schema_violations(&schema, &serde_yaml::from_str(text).unwrap()).is_empty();
    assert!(COST_MODELS.iter().all(|model| is_valid(model.text)));
    for (from, to, valid) in [
        ("", "", true),
        ("schema: 1", "schema: 2", false),
        ("source: a", "name: a", false),
        ("source: a", "source: a\nnode_nm: 6", false),
        ("part: adder", "part: wire", false),
        ("energy_pj: 1, ", "", false),
        ("energy_pj: 1", "energy_pj: -1", false),
        ("energy_pj: 1", "energy_pj: 0.1 * bits", true),
        ("energy_pj: 1", "area: {by: [bits], rows: [[8, 1]]}", true),
        ("energy_pj: 1", "area: {by: [bits], rows: []}", false),
        ("energy_pj: 1", "flip_flops: 1, note: c, scales: false", true),
        ("energy_pj: 1", "price: 1", false),
        (", source: b", "", false),
    ] {
        let text = MODEL.replacen(from, to, 1);
        assert_eq!(is_valid(&text), valid, "{text}");
        assert_eq!(cost_from_yaml(&text, "cost.yaml").is_ok(), valid, "{text}");
    }
}

#[test]
fn bad_figures_say_what_is_wrong() {
    let figures = [
        "{part: adder, area: 2 * width, source: x}",
        "{part: adder, area: 2 *, source: x}",
        "{part: wire, area: 2, source: x}",
        "{part: adder, overflow: [wrp], area: 2, source: x}",
        "{part: adder, reduce: [ring], area: 2, source: x}",
        "{part: adder, range: [{of: bits, from: 9, to: 8}], area: 2, source: x}",
        "{part: adder, area: {by: [bits], rows: [[8, 1], [8, 2]]}, source: x}",
        "{part: adder, area: {by: [bits], rows: [[8.5, 1]]}, source: x}",
        "{part: adder, area: [1], source: x}",
        "{part: adder, price: 2, source: x}",
        "{part: adder, area: 2}",
        "{part: adder, source: x}",
        "{part: adder, energy_pj: -1, source: x}",
        "{part: adder, energy_pj: 1 - 2 * 3, source: x}",
        "{part: adder, area: {by: [bits], rows: [[8, -1]]}, source: x}",
    ];
    let mut reports: Vec<String> = figures.iter().map(|figure| report(&format!("  - {figure}"))).collect();
    reports.push(report("  []"));
    insta::assert_snapshot!(reports.join("\n\n"));
}

#[test]
fn bad_files_say_what_is_wrong() {
    let texts = [
        "",
        "schema: 2\nsource: x\nfigures: [{part: dram, energy_pj: 1, source: x}]",
        "schema: 1\nsource: x\nfigures: [{part: adder, area: 1, source: x}]",
        "schema: 1\nsource: x\nnode_nm: 3\nfigures: [{part: dram, energy_pj: 1, source: x}]",
        "schema: 1\nsource: x\nwith: [mine.yaml]\nfigures: [{part: dram, energy_pj: 1, source: x}]",
        "schema: 1\nsource: x\narea_unit: um2\nnode_nm: 40\nwith: [cacti7-40nm, cacti7-40nm]\nfigures: [{part: dram, energy_pj: 1, source: x}]",
        "schema: 1\nsource: x\nwith: [cacti7-40nm]\nfigures: [{part: dram, energy_pj: 1, source: x}]",
        "schema: 1\nsource: x\nnode_nm: 40\nwith: [cacti7-40nm]\nfigures: [{part: dram, energy_pj: 1, source: x}]",
    ];
    let of_text = texts.iter().map(|text| rendered(&cost_from_yaml(text, "cost.yaml").unwrap_err()));
    let of_name =
        ["cacti", "aladdin-40nm@5nm", "finn-r@16nm"].map(|name| rendered(&load_cost(name).unwrap_err()));
    insta::assert_snapshot!(of_text.chain(of_name).collect::<Vec<_>>().join("\n\n"));
}

/// Time and memory are bounded for any text.
#[test]
fn what_is_too_much_is_said() {
    let check = |text: &str, says: &str| {
        let error = cost_from_yaml(text, "cost.yaml").unwrap_err();
        let start: String = text.chars().take(60).collect();
        assert!(error.message().contains(says), "{start}: {}", error.message());
    };
    check(&"#".repeat((1 << 18) + 1), "expected at most 262144");
    check(&format!("schema: {}", "[".repeat(50_000)), "more than 64 levels deep");
    let head = "schema: 1\nsource: x\narea_unit: um2\nfigures:\n";
    let figure = "  - {part: adder, area: 1, source: x}\n";
    check(&format!("{head}{}", figure.repeat(65)), "more than 64 elements");
    let rows = "[1, 1], ".repeat(5000);
    check(
        &format!("{head}  - {{part: adder, area: {{by: [bits], rows: [{rows}]}}, source: x}}"),
        "more than 4096",
    );
    let long = "1, ".repeat(10_000);
    check(
        &format!("{head}  - {{part: adder, area: {{by: [bits], rows: [[{long}]]}}, source: x}}"),
        "more than 4 elements",
    );
    let text = "y".repeat(2000);
    check(&format!("{head}  - {{part: adder, area: 1, source: {text}}}"), "more than 1000 characters");
    check(
        &format!("{head}  - {{part: adder, area: \"{}\", source: x}}", "(".repeat(900)),
        "more than 32 brackets",
    );
    let bomb = (1..9).fold("a0: &a0 [1]\n".to_owned(), |text, i| {
        format!("{text}a{i}: &a{i} [{}]\n", vec![format!("*a{}", i - 1); 10].join(", "))
    });
    check(&bomb, "more than 8 values per byte");
}
