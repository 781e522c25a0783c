//! Changes inputs that are nearly valid, because random bytes never pass a check for a magic number.

use crate::{Choices, protobuf};

/// Returns one of `seeds`, changed in a few places that `bytes` choose.
pub(crate) fn mutated(seeds: &[Vec<u8>], bytes: &[u8]) -> Vec<u8> {
    let mut choices = Choices::new(bytes);
    let Some(mut input) = (!seeds.is_empty()).then(|| choices.one(seeds)) else { return bytes.to_vec() };
    for _ in 0..choices.below(4) {
        input = protobuf::with_another_integer(&input, &mut choices).unwrap_or(input);
    }
    for _ in 0..choices.below(8) {
        let at = choices.below(input.len() as u64 + 1) as usize;
        let end = (at + choices.below(17) as usize).min(input.len());
        match choices.below(6) {
            0 => input.truncate(at),
            1 => drop(input.drain(at..end)),
            2 => {
                let piece = input[at..end].to_vec();
                input.splice(at..at, piece);
            }
            3 => {
                let number =
                    choices.one(&[0, 1, -1, 127, 128, 255, 256, 65535, 1 << 31, 1 << 32, i64::MAX, i64::MIN]);
                let width = choices.one(&[1, 2, 4, 8]);
                let bytes = number.to_le_bytes();
                input.splice(at..(at + width).min(input.len()), bytes[..width].iter().copied());
            }
            4 => {
                let word = choices.one(WORDS);
                input.splice(at..end, word.bytes());
            }
            _ => input.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << choices.below(8)),
        }
    }
    input
}

/// Words that readers of text formats may fail on.
const WORDS: &[&str] = &[
    "0",
    "-1",
    "4294967295",
    "18446744073709551615",
    "1e308",
    ".nan",
    "-.inf",
    "~",
    "[]",
    "{}",
    "\n",
    "\u{1b}[2J",
    "\u{202e}",
    "&a",
    "*a",
    "<<: *a",
    "'",
    "\"",
    "..",
    "/dev/zero",
    "all",
    "auto",
    ": ",
    "- ",
    "[[",
    "{{",
    "#",
];
