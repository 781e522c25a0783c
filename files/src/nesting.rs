//! How deep brackets can nest in a YAML text: a parser's time grows with depth times length.

/// Most depth times length of a YAML text that is read: a fraction of a second in the parser.
const MOST_WORK: usize = 1 << 28;

/// Whether a YAML text can be parsed in time that is in proportion to its length.
///
/// The depth of its brackets is taken from above, without a parser: a bracket counts as closed where the one that
/// opens it stands before it on the same line, with neither a quote nor a `#` between the start of the line and its
/// end. All others, in texts and comments too, count as open to the end of the file.
pub fn nests_little(yaml: &str) -> bool {
    let mut depth = 0usize;
    let mut deepest = 0usize;
    for line in yaml.split('\n') {
        let mut here = 0usize;
        let mut is_plain = true;
        for byte in line.bytes() {
            match byte {
                b'[' | b'{' => here += 1,
                b']' | b'}' if is_plain => here = here.saturating_sub(1),
                b'"' | b'\'' | b'#' => is_plain = false,
                _ => {}
            }
            deepest = deepest.max(depth + here);
        }
        depth += here;
    }
    deepest.saturating_mul(yaml.len()) <= MOST_WORK
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_deep_texts_are_too_much() {
        let long = "layer: {accumulation.acc.bits: 16, x: [1, 2]}\n".repeat(100_000);
        let quoted = "\"layer\": {bits: 16}\n".repeat(2_000);
        for fine in ["", "[[[]]]", "a: \"[[\" # [0, 1)\n", &long, &quoted, &"[".repeat(1_000)] {
            assert!(nests_little(fine), "{} bytes", fine.len());
        }
        let open = "[".repeat(50_000);
        let hidden = format!("a: it's\n{}b: '\n]]]]\n' # ]]]]\n", "[\n]'\n".repeat(25_000));
        let wide = format!("{}{}", "[".repeat(1_000), "1, ".repeat(200_000));
        for deep in [&open, &hidden, &wide] {
            assert!(!nests_little(deep), "{} bytes", deep.len());
        }
    }
}
