//! Circles of files within a crate: files that need each other, so that none can be read or changed alone.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::sources::{File, Files, files, module_of, named};

/// The crates whose files are looked at.
const CRATES: [&str; 17] = [
    "num",
    "documents",
    "files",
    "graph",
    "frontends",
    "hwmodels",
    "sim",
    "reports",
    "quantize",
    "study",
    "rtl-vectors",
    "rtl-vectors/capi",
    "library",
    "cli",
    "python",
    "fuzz",
    "testing",
];

/// The circles that remain: crate, number of files, their modules (each with those below it), and why they are one.
const KNOWN: &[(&str, usize, &str, &str)] = &[
    (
        "num",
        2,
        "format overflow",
        "A format bounds values, and an overflow mode says what lies beyond the bounds: two halves of one definition.",
    ),
    (
        "graph",
        14,
        "bias_scale builder checks effort float_products limits links model ops state",
        "A graph consists of operations, and operations are checked and costed on the graph's own tensors.",
    ),
    ("graph", 2, "patch", "A patch is assembled from its own fields."),
    (
        "frontends",
        3,
        "lib error frontend",
        "The error for an unknown format lists the formats, and every format returns that error.",
    ),
    (
        "frontends",
        12,
        "onnx::export",
        "Exporters of single operations call each other for operands, on the one writer of the network.",
    ),
    (
        "frontends",
        3,
        "onnx::normalise::fold",
        "Functions that fold a node take the parent's view of the node, and the parent's table lists them.",
    ),
    (
        "frontends",
        2,
        "tflite::normalise",
        "Functions that fold an operator take the parent's view of it, and the parent's table lists them.",
    ),
    (
        "frontends",
        2,
        "yaml::constants yaml::npy",
        "A constant may stand in a file, whose values become constants.",
    ),
    (
        "frontends",
        5,
        "yaml::file yaml::operations yaml::quantization yaml::schema yaml::values",
        "The types of the file and their JSON Schema describe each other.",
    ),
    (
        "hwmodels",
        31,
        "accelerator bounds::range file formats keys layer_overrides load names order reduction timing::chain timing::feed",
        "One row of `keys` defines the file's type, its check, the field of the accelerator and its documentation, so all of these need the table, and the table needs their types.",
    ),
    (
        "hwmodels",
        5,
        "timing::bound timing::cost timing::overlapped timing::search timing::traffic",
        "The cost of a layer includes its bound, which follows from the cost, and the search for tiles compares both.",
    ),
    ("hwmodels", 2, "lower::audit", "What a file says of its nodes extends the parent's list of decisions."),
    (
        "sim",
        6,
        "fast",
        "The entry of the fast engine and its tiles call each other for layers of several levels.",
    ),
    (
        "sim",
        17,
        "fast options stats",
        "The portable loops and their vectorized versions have the same shapes of data; options and statistics name vector instruction sets and settled sums.",
    ),
    ("sim", 2, "fast::levels::kernel fast::levels::sixteen", "Sixteen-bit trees are one form of the kernel."),
    ("sim", 2, "layer", "Groups of images are layers run on parts of one image."),
    (
        "sim",
        7,
        "reference trace",
        "The definition is read as a whole: a dot product, its operands and levels, and the steps that a trace shows.",
    ),
    ("quantize", 2, "calibrate", "Figures are taken from a finished calibration, which the parent runs."),
    (
        "quantize",
        7,
        "layer method watch",
        "The list of methods that choose for a layer names methods, which solve that layer's problem.",
    ),
    ("quantize", 4, "patterns", "A unit of the network has forms, and every pattern returns units."),
    ("quantize", 3, "simulated", "The simulated network is run on states of itself."),
    (
        "reports",
        3,
        "plots::kit::area plots::kit::figure plots::kit::sheet",
        "A figure draws on areas, and a sheet lays the panels of figures out again for its size.",
    ),
    (
        "study",
        52,
        "lib arguments array axes compare::folder error execute labels layer_input plot point_store quantize registers result_json run sample_events samples score settings shard size spool study_file subject sums sweep",
        "One table of arguments names the types of all commands, and one error type names what can be wrong with each.",
    ),
    (
        "rtl-vectors/capi",
        4,
        "error exports models pointers",
        "The codes of the C interface are in the file of the functions that return them, because the header is made of one file.",
    ),
    ("cli", 4, "commands::inspect", "Parts of the output share how the parent prints names and sizes."),
    ("cli", 2, "diagnostic output", "A failed output is a diagnostic, which is an output."),
    ("fuzz", 3, "lib mutate protobuf", "The mutator walks messages of the targets that the program lists."),
];

/// The circles among the files of a crate: sets of modules each of which needs, directly or not, all others.
///
/// A file that only lists those below it, in a constant or a call of a macro, does not need them.
fn circles(files: &Files) -> BTreeSet<BTreeSet<Vec<String>>> {
    let needs: BTreeMap<&Vec<String>, Vec<Vec<String>>> = files
        .keys()
        .map(|from| {
            let is_child = |to: &Vec<String>| to.len() == from.len() + 1 && to.starts_with(from);
            let needed = named(files, from).into_iter().filter(|(to, used)| *used || !is_child(to));
            (from, needed.map(|(to, _)| to).collect())
        })
        .collect();
    let reached = |from: &Vec<String>| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
        while let Some(module) = next.pop() {
            next.extend(needs[module].iter().filter(|to| seen.insert((*to).clone())));
        }
        seen
    };
    let reached: BTreeMap<&Vec<String>, BTreeSet<Vec<String>>> =
        files.keys().map(|from| (from, reached(from))).collect();
    let circle = |module: &Vec<String>| {
        let all = reached[module].iter().filter(|other| reached[other].contains(module)).cloned();
        all.collect::<BTreeSet<_>>()
    };
    files.keys().map(circle).filter(|circle| circle.len() > 1).collect()
}

/// The name of a module in the list above.
fn name(module: &[String]) -> String {
    if module.is_empty() { "lib".to_owned() } else { module.join("::") }
}

#[test]
fn only_known_circles_of_files_remain() {
    let mut missing: BTreeSet<_> =
        KNOWN.iter().map(|(name, count, modules, _)| (*name, *count, *modules)).collect();
    let mut new = String::new();
    for of in CRATES {
        let files = files(of);
        assert!(!files.is_empty(), "{of} has files");
        for circle in circles(&files) {
            let is_known = |modules: &str, module: &[String]| {
                let own = name(module);
                modules.split(' ').any(|known| own == known || own.starts_with(&format!("{known}::")))
            };
            let row = KNOWN.iter().find(|(known, count, modules, _)| {
                *known == of
                    && *count == circle.len()
                    && circle.iter().all(|module| is_known(modules, module))
            });
            match row {
                Some((known, count, modules, _)) => drop(missing.remove(&(*known, *count, *modules))),
                None => {
                    new += &format!("{of}, {} files:\n", circle.len());
                    for module in &circle {
                        let ties = named(&files, module).into_keys().filter(|to| circle.contains(to));
                        let ties: Vec<_> = ties.map(|to| name(&to)).collect();
                        new += &format!("    {} needs {}\n", name(module), ties.join(", "));
                    }
                }
            }
        }
    }
    assert!(
        new.is_empty(),
        "circles of files that are not in the list (move what they share to a file of its own):\n{new}"
    );
    assert!(missing.is_empty(), "circles in the list that are not there any more: {missing:?}");
}

/// Paths of files with their text.
type Sources<'a> = &'a [(&'a str, &'a str)];

/// What finds circles does find them.
#[test]
fn planted_circles_are_found() {
    let found = |sources: &[(&str, &str)]| {
        let files = sources.iter().map(|(path, text)| (module_of(path), File::read(text))).collect();
        circles(&files)
            .into_iter()
            .map(|circle| circle.iter().map(|one| name(one)).collect::<Vec<_>>())
            .collect::<Vec<_>>()
    };
    let parent = ("a.rs", "mod b; use b::run; pub struct Shared; fn all() { run(Shared) }");
    let cases: [(Sources<'_>, &[&[&str]]); 6] = [
        // A type of the parent.
        (
            &[("lib.rs", "mod a;"), parent, ("a/b.rs", "use super::Shared; pub fn run(_: Shared) {}")],
            &[&["a", "a::b"]],
        ),
        // By way of what the crate passes on, and of a path in code.
        (
            &[
                ("lib.rs", "mod a; mod b; pub use a::A; pub use b::B;"),
                ("a.rs", "pub struct A(crate::B);"),
                ("b.rs", "pub struct B; impl B { fn a(self) -> Option<crate::A> { None } }"),
            ],
            &[&["a", "b"]],
        ),
        // By way of a third file.
        (
            &[
                ("lib.rs", "mod a; mod b; mod c;"),
                ("a.rs", "use crate::b::B; pub struct A(B);"),
                ("b.rs", "use crate::c::{self, C}; pub struct B(C);"),
                ("c/mod.rs", "pub struct C(Box<crate::a::A>);"),
            ],
            &[&["a", "b", "c"]],
        ),
        // A list of kinds is none,
        (
            &[
                ("lib.rs", "mod a;"),
                (
                    "a/mod.rs",
                    "mod b; pub struct Kind; pub const ALL: &[Kind] = &[b::KIND]; kinds! { b::KIND }",
                ),
                ("a/b.rs", "use super::Kind; pub const KIND: Kind = Kind;"),
            ],
            &[],
        ),
        // neither are tests, comments and texts,
        (
            &[
                ("lib.rs", "mod a; mod b;"),
                ("a.rs", "use crate::b::B; pub struct A(B); // crate::b::B"),
                (
                    "b.rs",
                    "pub struct B; /// [`crate::a::A`]\nconst T: &str = \"crate::a::A\"; #[cfg(test)] mod tests { use crate::a::A; }",
                ),
            ],
            &[],
        ),
        // nor is what a file passes on of those below it.
        (
            &[
                ("lib.rs", "mod a;"),
                ("a/mod.rs", "mod b; pub use b::run; pub struct Shared;"),
                ("a/b.rs", "use super::Shared; pub fn run(_: Shared) {}"),
            ],
            &[],
        ),
    ];
    for (sources, expected) in cases {
        assert_eq!(found(sources), expected, "{sources:?}");
    }
}
