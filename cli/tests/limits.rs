//! `docs/reference/limits.md`: every number on the page equals the constant in the code.

use std::fs;

use crate::common::root;

/// Row of a table of the page: the limited quantity, the number as shown, the source file, and the text in it
/// that precedes the number.
type Row = (&'static str, &'static str, &'static str, &'static str);

const YAML_DEPTH: &str = "of the YAML library";

const ROWS: &[Row] = &[
    (
        "elements of all tensors of a network together",
        "2^28",
        "graph/src/limits.rs",
        "MAX_ELEMENTS: usize = ",
    ),
    ("elements that the windows of one layer cover", "2^28", "graph/src/limits.rs", "MAX_ELEMENTS: usize = "),
    ("axes of a tensor", "8", "graph/src/limits.rs", "MAX_AXES: usize = "),
    ("kernel, stride and dilation", "2^20", "graph/src/limits.rs", "MAX_EXTENT: usize = "),
    ("name of a tensor", "1024 bytes", "graph/src/tensor_name.rs", "MAX_NAME_BYTES: usize = "),
    ("cycles of one layer", "2^53", "hwmodels/src/timing/mod.rs", "MAX_CYCLES: u64 = "),
    ("`.tflite` file", "1 GiB", "frontends/src/tflite/mod.rs", "MAX_BYTES: u64 = "),
    ("values of a `.tflite` file", "8 for", "frontends/src/tflite/parse/budget.rs", "saturating_mul("),
    ("`.onnx` file", "1 GiB", "frontends/src/onnx/mod.rs", "MAX_BYTES: u64 = "),
    ("file of external data", "2 GiB", "frontends/src/onnx/parse/tensor.rs", "MAX_BYTES: u64 = "),
    ("elements of one constant", "2^28", "graph/src/limits.rs", "MAX_ELEMENTS: usize = "),
    (
        "elements of all computed constants",
        "2^26",
        "frontends/src/onnx/normalise/fold/mod.rs",
        "MOST: usize = ",
    ),
    (
        "bytes of all inlined local functions",
        "64 MiB",
        "frontends/src/onnx/parse/functions.rs",
        "MAX_BYTES: usize = ",
    ),
    (
        "local functions that call each other",
        "64",
        "frontends/src/onnx/parse/functions.rs",
        "MAX_DEPTH: usize = ",
    ),
    ("graph YAML file", "64 MiB", "frontends/src/yaml/mod.rs", "MAX_BYTES: u64 = "),
    ("values of a YAML file", "8 for", "documents/src/aliases.rs", "PER_BYTE: usize = "),
    ("codes of all `random:` constants", "2^24", "frontends/src/yaml/constants.rs", "MAX_RANDOM: usize = "),
    ("`.npy` file behind `file:`", "8 bytes", "frontends/src/yaml/npy.rs", "saturating_mul("),
    ("lists and maps inside each other", "128", YAML_DEPTH, ""),
    ("lists and maps inside each other, in a text", "64", "documents/src/nesting.rs", "DEEPEST: usize = "),
    ("brackets times bytes", "2^27", "documents/src/nesting.rs", "UNSEEN: usize = "),
    ("accelerator file", "1 MiB", "hwmodels/src/load/parse.rs", "MOST_BYTES: u64 = "),
    ("files that extend each other", "8", "hwmodels/src/load/sources.rs", "MOST_FILES: usize = "),
    ("overrides (`--set`)", "1000", "hwmodels/src/load/mod.rs", "MOST_SETS: usize = "),
    ("one override", "64 KiB", "hwmodels/src/load/set.rs", "MOST_BYTES: usize = "),
    ("entries of `layers`", "16,384", "hwmodels/src/file/bounded.rs", "MOST_LAYERS: usize = "),
    ("fraction bits of a term", "40", "hwmodels/src/accelerator.rs", "MAX_FRACTION_BITS: u32 = "),
    ("bits of a fixed-point register", "64", "num/src/format.rs", "MAX_BITS: u32 = "),
    ("accumulation levels", "16", "hwmodels/src/load/rules.rs", "MAX_LEVELS: usize = "),
    ("elements of any other list", "64", "hwmodels/src/file/bounded.rs", "MOST_ELEMENTS: usize = "),
    ("name of an accelerator", "100 characters", "hwmodels/src/load/text.rs", "MAX_NAME: usize = "),
    (
        "name of an accumulation level",
        "64 characters",
        "hwmodels/src/load/text.rs",
        "MAX_LEVEL_NAME: usize = ",
    ),
    ("description", "1000 characters", "hwmodels/src/load/text.rs", "MAX_DESCRIPTION: usize = "),
    ("processing elements of all cores", "1,048,576", "hwmodels/src/load/rules.rs", "MAX_ELEMENTS: usize = "),
    ("rows, and columns", "65,536", "hwmodels/src/load/rules.rs", "MAX_SIDE: usize = "),
    ("formula", "1000 characters", "hwmodels/src/expression.rs", "MOST_CHARACTERS: usize = "),
    ("file of permutations", "1 MiB", "hwmodels/src/load/parse.rs", "MOST_BYTES: u64 = "),
    ("numbers of all permutations", "131,072", "hwmodels/src/order/given.rs", "MOST_NUMBERS: usize = "),
    ("cost model file", "256 KiB", "hwmodels/src/cost/load.rs", "MOST_BYTES: u64 = "),
    ("figures of a cost model", "64", "hwmodels/src/cost/file.rs", "MOST_FIGURES: usize = "),
    ("header of an `.npy` array", "10,000 bytes", "frontends/src/npy.rs", "MAX_HEADER: usize = "),
    ("axes of an `.npy` array", "64", "frontends/src/npy.rs", "MAX_AXES: usize = "),
    (
        "unpacked size of a compressed `.npz` member",
        "256 MiB",
        "study/src/array.rs",
        "UNPACKED_BYTES: u64 = ",
    ),
    (
        "unpacked size of a compressed `.npz` member",
        "100 times",
        "study/src/array.rs",
        "UNPACKED_TIMES: u64 = ",
    ),
    ("random samples", "1,000,000", "study/src/samples/mod.rs", "MAX_RANDOM_SAMPLES: usize = "),
    ("codes of all random samples", "2^32", "study/src/samples/mod.rs", "MAX_RANDOM_CODES: usize = "),
    ("`pictures.yaml`", "16 KiB", "study/src/samples/pictures.rs", "MOST_BYTES: u64 = "),
    ("study file", "128 KiB", "study/src/study_file.rs", "MOST_BYTES: u64 = "),
    ("elements of a list in a study file", "1000", "study/src/study_file.rs", "MOST_ELEMENTS: usize = "),
    ("values of one axis", "10,000", "study/src/axes/values.rs", "MOST: i64 = "),
    ("points of a sweep or an exploration", "10,000", "study/src/settings.rs", "MAX_POINTS: usize = "),
    ("parts of a sharded sweep", "1,000,000", "study/src/shard/mod.rs", "MOST: usize = "),
    ("parentheses and `not`", "64", "study/src/axes/condition.rs", "DEPTH: usize = "),
    ("folders of `guardbit compare`", "64", "study/src/compare/mod.rs", "MOST_FOLDERS: usize = "),
    ("folders of `guardbit plot`", "64", "study/src/plot/mod.rs", "MOST_FOLDERS: usize = "),
    ("curves of `guardbit plot`", "8", "reports/src/plots/curves.rs", "MOST_CURVES: usize = "),
    ("manifest, or stored point of a sweep", "256 MiB", "files/src/inventory.rs", "SEALED_LIMIT: u64 = "),
    ("threads", "1024", "study/src/lib.rs", "MOST_THREADS: usize = "),
    ("products of a dot product", "2^20", "rtl-vectors/src/sizes.rs", "MAX_TERMS: usize = "),
    ("products of all real cases", "2^21", "rtl-vectors/src/sizes.rs", "MAX_PRODUCTS: usize = "),
    ("lanes", "48", "rtl-vectors/src/sizes.rs", "MAX_LANES: usize = "),
    ("products of a corner case", "4096", "rtl-vectors/src/aligned/draw.rs", "LONGEST: usize = "),
    ("accumulation levels of a bundle", "12", "rtl-vectors/src/sizes.rs", "MAX_LEVELS: usize = "),
    ("width of an operand", "34 bits", "rtl-vectors/src/sizes.rs", "MAX_OPERAND: u32 = "),
    ("width of a value", "62 bits", "rtl-vectors/src/sizes.rs", "MAX_WORD: u32 = "),
    (
        "processing elements of the array of a bundle",
        "256",
        "rtl-vectors/src/array/mod.rs",
        "MAX_ELEMENTS: usize = ",
    ),
    ("`manifest.json`", "64 MiB", "rtl-vectors/src/read.rs", "MAX_MANIFEST: u64 = "),
    (
        "`accelerator.yaml` of a bundle",
        "256 KiB",
        "rtl-vectors/src/check/again.rs",
        "MAX_ACCELERATOR: u64 = ",
    ),
    ("products of all whole layers", "2^30", "rtl-vectors/src/whole/mod.rs", "MAX_PRODUCTS: usize = "),
    ("tiles of a whole layer", "2^16", "rtl-vectors/src/whole/tiles.rs", "MAX_TILES: u64 = "),
    ("a file of `diff-layer`", "1 GiB", "rtl-vectors/src/whole/diff.rs", "MAX_FILE: u64 = "),
    ("files of a bundle", "4096", "rtl-vectors/src/check/files.rs", "MAX_FILES: usize = "),
    ("all files of a bundle together", "1 GiB", "rtl-vectors/src/check/files.rs", "MAX_BYTES: u64 = "),
    ("one data file of a bundle", "256 MiB", "rtl-vectors/src/check/files.rs", "MAX_DATA: u64 = "),
    ("name of a user in generated RTL", "120 characters", "rtl-vectors/src/text.rs", "LONGEST: usize = "),
    ("building or running a bench", "600 seconds", "rtl-vectors/src/check/mod.rs", "Duration::from_secs("),
    (
        "accelerators of `guardbit discriminate`",
        "20,000",
        "rtl-vectors/src/discriminate/search.rs",
        "MAX_CANDIDATES: usize = ",
    ),
    (
        "products of an input of `guardbit discriminate`",
        "16,384",
        "rtl-vectors/src/discriminate/search.rs",
        "MAX_INPUT_TERMS: usize = ",
    ),
    ("width of its bias", "32 bits", "rtl-vectors/src/discriminate/search.rs", "MAX_BIAS_BITS: u32 = "),
    ("kept output of a simulator", "256 KiB", "rtl-vectors/src/check/process.rs", "KEPT: usize = "),
    ("height of a picture", "4000 pixels", "reports/src/plots/kit/figure.rs", "MOST_HEIGHT: u32 = "),
    ("pixels of a PNG file", "8 million", "reports/src/plots/png.rs", "MOST_PIXELS: f32 = "),
    ("rows of a table in a page", "2000", "reports/src/html/table.rs", "MOST_ROWS: usize = "),
    ("rows of the table of designs", "200", "reports/src/html/explore.rs", "MOST_ROWS: usize = "),
    ("elements of a list in a message", "16", "graph/src/brief.rs", "ELEMENTS: usize = "),
    ("characters of a text in a message", "400", "graph/src/brief.rs", "CHARACTERS: usize = "),
    ("characters of a message", "4000", "cli/src/printable.rs", "MOST: usize = "),
];

/// Returns the number at the start of a text: `2^28`, `1 GiB`, `16,384`, `8 million`, and in code `1 << 28`,
/// `10_000`, `8e6`.
fn number(text: &str) -> Option<u64> {
    let digits = |text: &str| text.replace([',', '_'], "").parse::<u64>().ok();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != ',' && c != '_').unwrap_or(text.len());
    let (first, rest) = (digits(&text[..end])?, &text[end..]);
    let power = |rest: &str| digits(&rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())]);
    Some(match rest {
        _ if rest.starts_with('^') => first.pow(u32::try_from(power(&rest[1..])?).ok()?),
        _ if rest.starts_with('e') => first * 10u64.pow(u32::try_from(power(&rest[1..])?).ok()?),
        _ if rest.starts_with(" << ") => first << power(&rest[4..])?,
        _ if rest.starts_with(" KiB") => first << 10,
        _ if rest.starts_with(" MiB") => first << 20,
        _ if rest.starts_with(" GiB") => first << 30,
        _ if rest.starts_with(" million") => first * 1_000_000,
        _ => first,
    })
}

/// Returns the limited quantity and its limit, per row of the tables.
fn table_rows(page: &str) -> Vec<(&str, &str)> {
    let rows = page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| what "));
    rows.map(|row| row[2..].split_once(" | ").unwrap()).collect()
}

#[test]
fn numbers_of_the_page_are_those_of_the_code() {
    let page = fs::read_to_string(root().join("docs/reference/limits.md")).unwrap();
    let rows = table_rows(&page);
    assert!(rows.len() > 70, "{}", rows.len());
    let mut wrong = Vec::new();
    for &(what, shown, file, before) in ROWS {
        // The row with the shortest name that starts with the text.
        let found = rows.iter().filter(|(name, _)| name.starts_with(what)).min_by_key(|(name, _)| name.len());
        if !found.is_some_and(|(_, limit)| limit.contains(shown)) {
            wrong.push(format!("the page has no row `{what}` with {shown}: {found:?}"));
        }
        if file == YAML_DEPTH {
            continue;
        }
        let code = fs::read_to_string(root().join(file)).unwrap();
        let found = code.split_once(before).and_then(|(_, rest)| number(rest));
        if found.is_none() || found != number(shown) {
            wrong.push(format!("`{what}`: the page has {shown}, {file} has {before}{found:?}"));
        }
    }
    for (name, limit) in rows {
        if !ROWS.iter().any(|&(what, shown, ..)| name.starts_with(what) && limit.contains(shown)) {
            wrong.push(format!("no constant is listed in this test for `{name}`: {limit}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The depth of YAML is that of its library, which has no constant for it.
#[test]
fn the_depth_of_yaml_is_that_of_the_page() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let parse = |depth| serde_yaml::from_str::<serde_yaml::Value>(&nested(depth)).is_ok();
    assert_eq!((parse(127), parse(129)), (true, false));
}

#[test]
fn numbers_are_read_in_every_form() {
    let forms = [
        ("2^28 elements", 1 << 28),
        ("1 << 28;", 1 << 28),
        ("64 KiB", 1 << 16),
        ("10_000;", 10_000),
        ("8 million", 8_000_000),
        ("8e6;", 8_000_000),
    ];
    for (text, value) in forms {
        assert_eq!(number(text), Some(value), "{text}");
    }
    assert_eq!(number("MAX"), None);
}
