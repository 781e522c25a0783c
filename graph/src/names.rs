//! Short names of nodes, for tables, plots and the command line.
//!
//! A node is named after its output tensor, and converters write long paths there:
//! `model/activation_1/Relu;model/conv2d_1/BiasAdd`. The short name is the distinctive part, `conv2d_1`. A short name
//! consists of ASCII letters, digits, `_` and `-`, starts with a letter, and has at most [`LENGTH`] characters. It is
//! unique, and it is not the full name of another node.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// Maximum length of a short name.
pub(crate) const LENGTH: usize = 28;

/// Maximum number of characters of a name that are used.
const LOOKED_AT: usize = 2000;

/// Parts of scoped names that describe an operation instead of a place, as TensorFlow and PyTorch write them.
const OPERATIONS: &[&str] = &[
    "Add",
    "AvgPool",
    "BatchNormalization",
    "BiasAdd",
    "Clip",
    "Conv",
    "Conv2D",
    "FusedBatchNormV",
    "Gemm",
    "MatMul",
    "Mul",
    "QuantizeLinear",
    "ReadVariableOp",
    "Relu",
    "Reshape",
    "Softmax",
    "Squeeze",
    "add",
    "add_fold",
    "convolution",
    "depthwise",
    "resource",
];

/// Suffixes that quantizers add to the name of the tensor they quantize.
const QUANTIZERS: &[&str] =
    &["_QuantizeLinear_Output", "_QuantizeLinear_Input", "_DequantizeLinear_Output", "_QuantizeLinear"];

/// Scopes that a converter merged into the layer before them.
const MERGED: &[&str] =
    &["activation", "batch_norm", "batch_normalization", "batchnorm", "bn", "re_lu", "relu"];

/// Names without meaning.
const EMPTY: &[&str] = &["", "identity", "identity_int", "partitionedcall", "statefulpartitionedcall"];

/// Words that YAML does not read as text.
const RESERVED: &[&str] = &["false", "null", "true"];

/// Maximum number of candidates before numbers are added.
const CANDIDATES: usize = 16;

/// The input of the choice of a short name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Named<'a> {
    /// The full name.
    pub name: &'a str,
    /// Name of the operation, the fallback for short names.
    pub op: &'a str,
    /// Whether the node chooses before others, which must not take the better names.
    pub first: bool,
}

/// Returns one short name per node. Full names must be unique.
pub(crate) fn short_names(nodes: &[Named<'_>]) -> Vec<String> {
    let mut chosen: Vec<Option<String>> = vec![None; nodes.len()];
    let mut taken: HashSet<String> = nodes.iter().map(|node| node.name.to_owned()).collect();
    for (node, chosen) in nodes.iter().zip(&mut chosen) {
        // A full name that is short already stays with its node.
        let short = plain(node.name).as_deref() == Some(node.name) && !names_quantizer(node.name);
        *chosen = short.then(|| node.name.to_owned());
    }
    for first in [true, false] {
        let open = |chosen: &[Option<String>]| {
            (0..nodes.len()).filter(|&i| nodes[i].first == first && chosen[i].is_none()).collect::<Vec<_>>()
        };
        let mut candidates: HashMap<usize, std::vec::IntoIter<String>> =
            open(&chosen).into_iter().map(|i| (i, candidates(&nodes[i]).into_iter())).collect();
        loop {
            let mut proposed: Vec<(usize, String)> = Vec::new();
            for i in open(&chosen) {
                proposed.extend(candidates.get_mut(&i).and_then(Iterator::next).map(|name| (i, name)));
            }
            if proposed.is_empty() {
                break;
            }
            let mut votes: HashMap<&str, usize> = HashMap::new();
            proposed.iter().for_each(|(_, name)| *votes.entry(name).or_default() += 1);
            let alone: Vec<_> =
                proposed.iter().filter(|(_, name)| votes[name.as_str()] == 1).cloned().collect();
            for (i, name) in alone {
                if taken.insert(name.clone()) {
                    chosen[i] = Some(name);
                }
            }
        }
        number(nodes, &open(&chosen), &mut chosen, &mut taken);
    }
    chosen.into_iter().flatten().collect()
}

/// Gives nodes without a distinctive part their own part with a number.
fn number(nodes: &[Named<'_>], open: &[usize], chosen: &mut [Option<String>], taken: &mut HashSet<String>) {
    let mut next: HashMap<(String, usize), usize> = HashMap::new();
    for &i in open {
        let base = own_name(&nodes[i]);
        chosen[i] = match taken.insert(base.clone()) {
            true => Some(base),
            false => (1..LENGTH).find_map(|digits| numbered(&base, digits, &mut next, taken)),
        };
    }
}

/// Returns `base` with the least number of `digits` digits, from 2 on, that is not taken.
///
/// `next` holds the first number that may be free, keyed by the kept part of a base, because long bases are truncated
/// to equal parts.
fn numbered(
    base: &str,
    digits: usize,
    next: &mut HashMap<(String, usize), usize>,
    taken: &mut HashSet<String>,
) -> Option<String> {
    let kept = base[..base.len().min(LENGTH - 1 - digits)].trim_end_matches(['_', '-']);
    let least = 10usize.checked_pow(digits as u32 - 1)?;
    let next = next.entry((kept.to_owned(), digits)).or_insert(least.max(2));
    while *next < least.checked_mul(10)? {
        let name = format!("{kept}_{next}");
        *next += 1;
        if taken.insert(name.clone()) {
            return Some(name);
        }
    }
    None
}

/// Returns names that could distinguish a node, the shortest first. Each starts with the node's own part.
fn candidates(node: &Named<'_>) -> Vec<String> {
    let own = own_name(node);
    let name = &looked_at(node.name);
    let paths: Vec<Scopes<'_>> = name.split(';').filter_map(Scopes::new).collect();
    let mut all = vec![own];
    if let Some(path) = telling(&paths) {
        let (own, next) = (path.parts[path.own], path.parts.get(path.own + 1));
        let above = path.parts[path.first.min(path.own)..path.own].iter().rev().take(CANDIDATES);
        all.extend(tail(own));
        all.extend(next.and_then(|next| joined(&[own, next])));
        all.extend(above.clone().filter_map(|scope| joined(&[scope, own])));
        if let Some(next) = next {
            all.extend(above.filter_map(|scope| joined(&[scope, own, next])));
        }
    }
    all.extend(paths.iter().filter_map(|path| plain(path.parts[path.own])));
    all.truncate(CANDIDATES);
    all
}

/// Returns the distinctive part of a node's name, or its operation if the name has no meaning.
fn own_name(node: &Named<'_>) -> String {
    let name = &looked_at(node.name);
    let paths: Vec<Scopes<'_>> = name.split(';').filter_map(Scopes::new).collect();
    let telling = telling(&paths).map(|path| path.parts[path.own]).unwrap_or_default();
    let cleaned = clean(telling);
    if is_empty(&cleaned) {
        return node.op.to_owned();
    }
    let named = if begins_well(&cleaned) { cleaned } else { format!("{}_{cleaned}", node.op) };
    cut(&named)
}

/// Returns the first path that is not about a merged scope.
fn telling<'p, 'a>(paths: &'p [Scopes<'a>]) -> Option<&'p Scopes<'a>> {
    paths.iter().find(|path| !is_merged(path.parts[path.own])).or(paths.first())
}

/// A path of scopes, `a/b/c`.
struct Scopes<'a> {
    parts: Vec<&'a str>,
    /// Index of the first part that may be used. The outermost of several parts is that of the network.
    first: usize,
    /// Index of the innermost part that is not an operation.
    own: usize,
}

impl<'a> Scopes<'a> {
    fn new(path: &'a str) -> Option<Self> {
        let path = path.split(':').next().unwrap_or_default();
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let first = usize::from(parts.len() > 2);
        let innermost =
            |wanted: &dyn Fn(&str) -> bool| (first..parts.len()).rev().find(|&i| wanted(parts[i]));
        let own = innermost(&|part| !is_operation(part) && !is_merged(part));
        // A layer may be named like an operation: `depthwise/relu` is `depthwise`, and `conv_1/relu` is `conv_1`.
        let before_merged =
            |i: &usize| parts.get(i + 1).is_some_and(|&next| is_merged(next) && !is_operation(next));
        let own = own
            .or_else(|| (first..parts.len()).rev().filter(before_merged).find(|&i| is_operation(parts[i])));
        let own = own.or_else(|| innermost(&|part| !is_operation(part))).unwrap_or(first);
        (own < parts.len()).then_some(Self { parts, first, own })
    }
}

/// Returns whether a part is an operation: `Conv2D1` and `Conv_output_0` are, `conv2d_1` is a layer.
fn is_operation(part: &str) -> bool {
    let part = part.strip_suffix("_output_0").unwrap_or(part);
    let name = part.trim_end_matches(|c: char| c.is_ascii_digit());
    OPERATIONS.iter().any(|operation| *operation == part || *operation == name)
}

fn is_merged(part: &str) -> bool {
    MERGED.contains(&stem(part).as_str())
}

/// Returns a name in lower case without the numbers that make it unique.
fn stem(name: &str) -> String {
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_');
    name.to_lowercase()
}

/// Returns `text` as a short name if it can be one without changes of meaning.
fn plain(text: &str) -> Option<String> {
    let cleaned = clean(text);
    (begins_well(&cleaned) && cleaned.len() <= LENGTH && !is_empty(&cleaned)).then_some(cleaned)
}

/// Returns whether a cleaned name has no meaning, or is not a text in YAML.
fn is_empty(cleaned: &str) -> bool {
    EMPTY.contains(&stem(cleaned).as_str()) || RESERVED.contains(&cleaned.to_lowercase().as_str())
}

/// Returns the end of a part that is too long, because numbers are at the end.
fn tail(part: &str) -> Option<String> {
    let cleaned = clean(part);
    let from = cleaned.len().checked_sub(LENGTH).filter(|&from| from > 0)?;
    let rest = cleaned[from..].trim_start_matches(|c: char| !c.is_ascii_alphabetic());
    begins_well(rest).then(|| rest.to_owned())
}

fn joined(parts: &[&str]) -> Option<String> {
    plain(&parts.join("_"))
}

fn begins_well(cleaned: &str) -> bool {
    cleaned.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// Returns a text in which everything but letters, digits and `-` is `_`. No `_` is at an end or next to another.
pub(crate) fn clean(text: &str) -> String {
    let mut cleaned = String::new();
    for c in text.chars() {
        let c = if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        if c != '_' || !cleaned.ends_with('_') {
            cleaned.push(c);
        }
    }
    cleaned.trim_matches(['_', '-']).to_owned()
}

fn cut(cleaned: &str) -> String {
    cleaned[..cleaned.len().min(LENGTH)].trim_end_matches(['_', '-']).to_owned()
}

/// Returns the start of a name, without suffixes of quantizers.
fn looked_at(name: &str) -> Cow<'_, str> {
    let start = name.char_indices().nth(LOOKED_AT).map_or(name, |(at, _)| &name[..at]);
    if !names_quantizer(start) {
        return start.into();
    }
    QUANTIZERS.iter().fold(start.to_owned(), |name, added| name.replace(added, "")).into()
}

fn names_quantizer(name: &str) -> bool {
    QUANTIZERS.iter().any(|added| name.contains(added))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shortened(names: &[(&str, &str)]) -> Vec<String> {
        let nodes: Vec<_> =
            names.iter().map(|&(name, op)| Named { name, op, first: op != "add" && op != "pad" }).collect();
        short_names(&nodes)
    }

    fn check(cases: &[(&str, &str)]) {
        let names: Vec<_> = cases.iter().map(|&(name, _)| (name, "conv2d")).collect();
        let expected: Vec<_> = cases.iter().map(|&(_, short)| short).collect();
        assert_eq!(shortened(&names), expected);
    }

    #[test]
    fn converters_names_are_shortened() {
        check(&[
            ("conv1", "conv1"),
            ("model/conv2d_1/Relu;model/conv2d_1/BiasAdd", "conv2d_1"),
            (
                "functional_1/activation_1/Relu;functional_1/batch_normalization_1/FusedBatchNormV3;\
                 functional_1/depthwise_conv2d/depthwise;functional_1/conv2d_4/Conv2D",
                "depthwise_conv2d",
            ),
            (
                "model/batch_normalization_2/FusedBatchNormV3;model/conv2d_2/BiasAdd/ReadVariableOp/resource",
                "conv2d_2",
            ),
            ("model/activation_2/Relu;model/add/add", "add"),
            ("model/conv2d/Conv2D", "conv2d"),
            ("model/dense/MatMul;model/dense/BiasAdd", "dense"),
            ("digits_1/conv_1/Relu;digits_1/conv_1/Squeeze1", "conv_1"),
            ("/features/features.0/conv1x1/Conv_output_0", "conv1x1"),
            ("conv/relu", "conv"),
            ("depthwise/relu", "depthwise"),
            ("pointwise/relu", "pointwise"),
            ("input.13_te_transform", "input_13_te_transform"),
            ("relu_1", "relu_1"),
        ]);
        check(&[
            ("conv1_QuantizeLinear_Output", "conv1"),
            ("conv2_QuantizeLinear_Input", "conv2"),
            ("/layers/conv3/Conv_output_0_QuantizeLinear_Output", "conv3"),
            ("input_QuantizeLinear_Output_nhwc", "input_nhwc"),
            ("_QuantizeLinear_Output", "conv2d"),
        ]);
    }

    #[test]
    fn what_tells_apart_is_kept() {
        let of_block =
            |block: &str, part: &str| format!("MobilenetV2/{block}/{part}/batch_norm/FusedBatchNormV3");
        let names = [
            (of_block("expanded_conv", "depthwise"), "expanded_conv_depthwise"),
            (of_block("expanded_conv", "project"), "expanded_conv_project"),
            (of_block("expanded_conv_1", "expand"), "expanded_conv_1_expand"),
            (of_block("expanded_conv_1", "depthwise"), "expanded_conv_1"),
            (of_block("expanded_conv_1", "project"), "expanded_conv_1_project"),
            (of_block("expanded_conv_2", "expand"), "expanded_conv_2_expand"),
            ("MobilenetV2/expanded_conv/Relu6".into(), "expanded_conv_Relu6"),
            ("MobilenetV2/Conv/batch_norm/FusedBatchNormV3".into(), "Conv"),
            ("MobilenetV2/Gemm/batch_norm/FusedBatchNormV3".into(), "Gemm"),
            ("net/unet_0/decoder_3/shortcut/conv1x1/conv/BiasAdd".into(), "decoder_3_conv"),
            ("net/unet_0/decoder_2/shortcut/conv1x1/conv/BiasAdd".into(), "decoder_2_conv"),
        ];
        check(&names.each_ref().map(|(name, short)| (name.as_str(), *short)));
    }

    #[test]
    fn names_that_say_nothing_become_operations() {
        check(&[
            ("StatefulPartitionedCall_1:0", "conv2d"),
            ("StatefulPartitionedCall_1:1", "conv2d_2"),
            ("Identity", "conv2d_3"),
            ("", "conv2d_4"),
            ("17", "conv2d_5"),
            ("null", "conv2d_6"),
            ("\u{1b}[31m\n;/", "conv2d_31m"),
        ]);
    }

    #[test]
    fn layers_choose_before_what_follows_them() {
        let names = [("m/conv/Relu", "pad"), ("m/conv/Conv2D", "conv2d"), ("m/conv/Add", "add")];
        assert_eq!(shortened(&names), ["conv_Relu", "conv", "conv_Add"]);
    }

    #[test]
    fn no_short_name_is_the_full_name_of_another_node() {
        check(&[("a/conv/Relu", "conv_Relu"), ("conv", "conv"), ("conv_2", "conv_2"), ("b/conv", "b_conv")]);
    }

    #[test]
    fn long_names_are_cut() {
        let long = "a".repeat(70_000);
        let other = format!("{long}b");
        check(&[(&long, &"a".repeat(LENGTH)), (&other, &format!("{}_2", "a".repeat(LENGTH - 2)))]);
    }

    /// Numbering continues across names that are equal after truncation.
    #[test]
    fn cut_names_share_their_numbers() {
        let bases: Vec<String> = (0..300).map(|i| format!("{}{i:04}", "a".repeat(LENGTH - 4))).collect();
        let twice: Vec<String> =
            bases.iter().flat_map(|base| [format!("x/{base}"), format!("y/{base}")]).collect();
        let names: Vec<(&str, &str)> = twice.iter().map(|name| (name.as_str(), "conv2d")).collect();
        let short = shortened(&names);
        for (at, kept, number) in
            [(0, "00_", 2), (7, "00_", 9), (8, "0_", 10), (97, "0_", 99), (98, "_", 100), (100, "01_", 2)]
        {
            assert_eq!(short[2 * at], bases[at]);
            assert_eq!(short[2 * at + 1], format!("{}{kept}{number}", "a".repeat(LENGTH - 4)));
        }
        assert_eq!(short.iter().collect::<HashSet<_>>().len(), names.len());
    }

    /// Generates names as converters write them, and any others.
    fn name() -> impl Strategy<Value = String> {
        let part = prop::sample::select(vec![
            "model",
            "conv2d",
            "conv2d_1",
            "batch_norm",
            "Relu",
            "Conv",
            "a",
            "1",
            "",
            "Identity",
            "x y",
            "é",
            "0x1",
        ]);
        let path = prop::collection::vec(part, 0..4).prop_map(|parts| parts.join("/"));
        let paths = prop::collection::vec(path, 0..3).prop_map(|paths| paths.join(";"));
        prop_oneof![4 => paths, 1 => any::<String>(), 1 => "[a-z]{20,40}", 1 => "[0-9]{1,3}"]
    }

    proptest! {
        #[test]
        fn short_names_are_unique_and_plain(
            names in prop::collection::hash_set(name(), 1..40),
            ops in prop::collection::vec(prop::sample::select(vec!["conv2d", "fully_connected", "add", "pad"]), 40),
        ) {
            let names: Vec<_> = names.iter().map(String::as_str).zip(ops).collect();
            let short = shortened(&names);
            prop_assert_eq!(&short, &shortened(&names), "stable");
            prop_assert_eq!(short.iter().collect::<HashSet<_>>().len(), names.len(), "unique");
            for (i, short) in short.iter().enumerate() {
                let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
                prop_assert!(short.chars().all(legal) && begins_well(short) && short.len() <= LENGTH, "{short:?}");
                prop_assert!(!RESERVED.contains(&short.to_lowercase().as_str()), "{short}");
                let other = names.iter().position(|(name, _)| name == short);
                prop_assert!(other.is_none_or(|at| at == i), "`{short}` is the full name of another node");
            }
        }
    }
}
