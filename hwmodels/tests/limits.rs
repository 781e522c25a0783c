//! Growing accelerator files and overrides: time and memory grow linearly with the text, and excessive input
//! is refused immediately.
//!
//! Each measurement is a process of its own, which runs this test with [`CASE`] set.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use guardbit_hwmodels::{Accelerator, HwError, from_yaml, load};

const CASE: &str = "GUARDBIT_LIMITS_CASE";

/// Kind of text, the function that generates it, and the sizes of its smallest and greatest measurement.
type Case = (&'static str, fn(usize) -> Input, [usize; 2]);

const CASES: &[Case] = &[
    ("layers", layers, [500, 8000]),
    ("layers with common overrides", layers_and_sets, [500, 8000]),
    ("overrides of a layer", long_layer, [500, 4000]),
    ("overrides of the command line", sets, [60, 960]),
    ("names of layers with dots", dotted, [1000, 16_000]),
    ("comments", comments, [20_000, 320_000]),
    ("a long line with an error", long_line, [20_000, 320_000]),
    ("aliases", aliases, [1000, 16_000]),
    ("permutations", permutations, [500, 8000]),
];

/// Input from which an accelerator is loaded.
struct Input {
    text: String,
    sets: Vec<String>,
}

impl Input {
    fn text(text: String) -> Self {
        Self { text, sets: Vec::new() }
    }

    fn read(&self) -> Result<Accelerator, HwError> {
        from_yaml(&self.text, "hw.yaml", &self.sets)
    }
}

fn lines(start: &str, count: usize, line: impl Fn(usize) -> String) -> String {
    let mut text = start.to_owned();
    for i in 0..count {
        let _ = writeln!(text, "{}", line(i));
    }
    text
}

fn layers(count: usize) -> Input {
    Input::text(lines("schema: 1\nlayers:\n", count, |i| {
        format!("  conv{i}: {{bias.bits: {}}}", 20 + i % 40)
    }))
}

fn layers_and_sets(count: usize) -> Input {
    let sets = (0..50).map(|i| format!("accumulation.acc.bits={}", 10 + i)).collect();
    Input { sets, ..layers(count) }
}

fn long_layer(count: usize) -> Input {
    // Each override applies to the whole file; the last one wins.
    let sets = (0..count.min(900)).map(|i| format!("layers.conv.bias.bits={}", 20 + i % 40));
    let text = lines("schema: 1\nlayers:\n", count, |i| format!("  c{i}: {{}}"));
    Input { text, sets: sets.collect() }
}

fn sets(count: usize) -> Input {
    let sets = (0..count).map(|i| format!("array.rows={}", 1 + i)).collect();
    Input { text: "schema: 1\n".into(), sets }
}

fn dotted(count: usize) -> Input {
    let set = format!("layers.{}bias.bits=20", "a.".repeat(count));
    Input { text: "schema: 1\n".into(), sets: vec![set] }
}

fn comments(count: usize) -> Input {
    Input::text(format!("schema: 1\n{}", "#\n".repeat(count)))
}

fn long_line(count: usize) -> Input {
    Input::text(format!("schema: 1\ndescription: \"{}\"\narray: {{rows: 0}}\n", "x".repeat(count)))
}

fn aliases(count: usize) -> Input {
    Input::text(lines("schema: 1\nlayers:\n  a: &a {bias.bits: 20}\n", count, |i| format!("  c{i}: *a")))
}

/// Returns a permutation with as many elements as there are layers with overrides, which all share it.
fn permutations(count: usize) -> Input {
    let numbers: Vec<String> = (0..count).rev().map(|i| i.to_string()).collect();
    let start = format!(
        "schema: 1\nreduction_order: {{walk: file, permutations: [{}]}}\nlayers:\n",
        numbers.join(", ")
    );
    Input::text(lines(&start, count, |i| format!("  conv{i}: {{bias.bits: {}}}", 20 + i % 40)))
}

/// Returns processor time in hundredths of a second and greatest memory in KiB of this process.
fn used() -> Option<(u64, u64)> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let memory = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // After the process name in brackets, which may contain any character, `utime` is field 12.
    let time = stat.rsplit(')').next()?.split_whitespace().nth(11)?.parse().ok()?;
    Some((time, memory.trim().strip_suffix(" kB")?.parse().ok()?))
}

/// Runs one measurement, in a process of its own.
#[test]
fn child() {
    let Ok(case) = std::env::var(CASE) else { return };
    let (name, size) = case.split_once('=').unwrap();
    let (_, input, _) = CASES.iter().find(|(other, ..)| *other == name).unwrap();
    let input = input(size.parse().unwrap());
    let (_, before) = used().unwrap();
    let read = input.read();
    let (time, memory) = used().unwrap();
    drop(read);
    println!("used {time} {}", memory - before);
}

fn measure(name: &str, size: usize) -> (u64, u64) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "limits::child", "--nocapture"])
        .env(CASE, format!("{name}={size}"))
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let used = stdout.split("used ").nth(1).unwrap_or_else(|| panic!("{name}={size}: {output:?}"));
    let mut numbers = used.split_whitespace().map(|number| number.parse().unwrap());
    (numbers.next().unwrap(), numbers.next().unwrap())
}

/// Eight and sixteen times the text takes at most three times the proportional time and memory; a quadratic
/// reader would take eight and sixteen times as much.
#[test]
fn time_and_memory_grow_as_the_text() {
    if !Path::new("/proc/self/status").exists() {
        eprintln!("skipped: there is no /proc to measure with");
        return;
    }
    for (name, _, [small, large]) in CASES {
        let factor = (large / small) as u64;
        let (few, many) = (measure(name, *small), measure(name, *large));
        // The clock has a resolution of hundredths of a second, and memory that of pages.
        let (time, memory) = ((few.0 + 3) * factor * 3, (few.1 + 512) * factor * 3);
        assert!(many.0 <= time, "{name}: {} s/100 of {small}, {} of {large}", few.0, many.0);
        assert!(many.1 <= memory, "{name}: {} KiB of {small}, {} of {large}", few.1, many.1);
        println!("{name}: {few:?} of {small}, {many:?} of {large}");
    }
}

/// Returns the error of a text, after at most a second or two of processor time.
fn refused(text: &str, sets: &[String]) -> HwError {
    let error = from_yaml(text, "hw.yaml", sets).unwrap_err();
    assert!(!error.help().is_empty(), "{}", error.code());
    error
}

#[test]
fn what_is_too_much_is_said() {
    let check = |text: &str, sets: &[String], code: &str, message: &str| {
        let error = refused(text, sets);
        let start: String = text.chars().take(80).collect();
        assert_eq!(error.code(), code, "{start}");
        assert!(error.message().contains(message), "{start}: {}", error.message());
    };
    let deep = "[".repeat(50_000);
    check(&format!("schema: 1\nx: {deep}"), &[], "guardbit::hw::yaml", "more than 64 levels deep");
    check(&format!("schema: 1\n{}", "- ".repeat(20_000)), &[], "guardbit::hw::yaml", "");
    check(&"#".repeat((1 << 20) + 1), &[], "guardbit::hw::yaml", "expected at most 1048576");
    let bomb = (1..9).fold("a0: &a0 {x: 1}\n".to_owned(), |text, i| {
        let before = vec![format!("*a{}", i - 1); 10].join(", ");
        format!("{text}  a{i}: &a{i} {{x: [{before}]}}\n")
    });
    check(&format!("schema: 1\nlayers:\n  {bomb}"), &[], "guardbit::hw::yaml", "8 values per byte");
    let long = "y".repeat(400_000);
    let repeated = lines(&format!("schema: 1\nlayers:\n  a: {{x: &a {long}}}\n"), 20_000, |i| {
        format!("  c{i}: {{x: *a}}")
    });
    check(&repeated, &[], "guardbit::hw::yaml", "8 values per byte");
    let levels = "{name: a}, ".repeat(100);
    check(&format!("schema: 1\naccumulation: [{levels}]"), &[], "guardbit::hw::accumulation", "more than 64");
    let levels: String = (0..17).map(|i| format!("{{name: a{i}}}, ")).collect();
    check(&format!("schema: 1\naccumulation: [{levels}]"), &[], "guardbit::hw::accumulation", "17 levels");
    check(
        &format!("schema: 1\noffload: [{}]", "conv2d, ".repeat(100)),
        &[],
        "guardbit::hw::offload",
        "more than 64",
    );
    check(&format!("schema: 1\nreduction_order: [{}]", "kh, ".repeat(100)), &[], "guardbit::hw::order", "");
    check(&format!("schema: 1\ndescription: {long}"), &[], "guardbit::hw::text", "1000");
    check(&format!("schema: 1\naccumulation: [{{name: {long}}}]"), &[], "guardbit::hw::level_name", "");
    let many = lines("schema: 1\nlayers:\n", 20_000, |i| format!("  c{i}: {{}}"));
    check(&many, &[], "guardbit::hw::value", "more than 16384");
    check(
        "schema: 1\narray: {rows: 65536, cols: 65536}",
        &[],
        "guardbit::hw::array",
        "expected at most 1048576",
    );
    check(
        "schema: 1\narray: {rows: 8192, cols: 8192}",
        &[],
        "guardbit::hw::array",
        "expected at most 1048576",
    );

    let set = |set: String, code: &str, message: &str| check("schema: 1", &[set], code, message);
    set(format!("{}=1", "a".repeat(100_000)), "guardbit::hw::set", "expected at most 65536");
    set(format!("{}a=1", "a.".repeat(30_000)), "guardbit::hw::unknown_key", "30001 parts");
    set(format!("layers.c.{}a=1", "bias.".repeat(9_000)), "guardbit::hw::unknown_key", "parts");
    set(format!("name={}", "[".repeat(50_000)), "guardbit::hw::set", "more than 64 levels deep");
    let inner = "*a, ".repeat(5000);
    set(format!("x=[&a [{}], {inner}]", "1, ".repeat(5000)), "guardbit::hw::set", "aliases that expand");
    check(
        "schema: 1",
        &vec!["array.rows=1".into(); 1001],
        "guardbit::hw::set",
        "1001 overrides; expected at most 1000",
    );
}

/// Creates a folder with files, and returns the result of loading the last one.
fn loaded(files: &[(&str, &str)]) -> Result<Accelerator, HwError> {
    let dir = tempfile::tempdir().unwrap();
    let mut last = dir.path().to_owned();
    for (name, text) in files {
        last = dir.path().join(name);
        std::fs::write(&last, text).unwrap();
    }
    load(&last.to_string_lossy(), &[])
}

#[test]
fn marks_and_line_ends_of_other_systems() {
    let plain = "schema: 1\nname: a\narray:\n  rows: 3\n";
    let expected = loaded(&[("hw.yaml", plain)]).unwrap();
    for text in [
        format!("\u{feff}{plain}"),
        plain.replace('\n', "\r\n"),
        format!("\u{feff}{}", plain.replace('\n', "\r\n")),
    ] {
        assert_eq!(loaded(&[("hw.yaml", &text)]).unwrap(), expected, "{text:?}");
        assert_eq!(from_yaml(&text, "hw.yaml", &[]).unwrap(), expected, "{text:?}");
        let base = loaded(&[("base.yaml", &text), ("hw.yaml", "schema: 1\nname: a\nextends: base.yaml\n")]);
        assert_eq!(base.unwrap(), expected, "{text:?}");
    }
}

#[test]
fn files_that_extend_are_files_and_few() {
    let chain: Vec<(String, String)> = (0..9)
        .map(|i| {
            (
                format!("{i}.yaml"),
                if i == 0 { "schema: 1\n".into() } else { format!("schema: 1\nextends: {}.yaml\n", i - 1) },
            )
        })
        .collect();
    let chain: Vec<(&str, &str)> = chain.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    assert_eq!(loaded(&chain[..8]).unwrap().array.rows, 16);
    assert_eq!(loaded(&chain).unwrap_err().code(), "guardbit::hw::extends_chain");
    for base in ["/dev/zero", "/dev/stdin", ".", "/proc/self/mem"] {
        let error = loaded(&[("hw.yaml", &format!("schema: 1\nextends: {base}\n"))]).unwrap_err();
        assert_eq!(error.code(), "guardbit::hw::read", "{base}");
        let error = load(base, &[]).unwrap_err();
        assert_eq!(error.code(), "guardbit::hw::read", "{base}");
    }
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    if !Command::new("mkfifo").arg(&pipe).status().is_ok_and(|status| status.success()) {
        eprintln!("skipped: there is no mkfifo");
        return;
    }
    assert_eq!(load(&pipe.to_string_lossy(), &[]).unwrap_err().code(), "guardbit::hw::read");
}
