//! Names of tensors that tables, plots, archives and terminals can hold.

use std::borrow::Cow;

use crate::GraphError;

/// Maximum length of a tensor's name in bytes.
pub const MAX_NAME_BYTES: usize = 1024;

/// The replacement of a character that cannot be displayed.
const STAND_IN: char = '_';

/// Checks that a name is not empty, not too long, and displayable.
pub(crate) fn check(name: &str) -> Result<(), GraphError> {
    let fail = |problem: String| Err(GraphError::Name { name: plain_name(name).into(), problem });
    if name.is_empty() {
        return fail("is empty".into());
    }
    if name.len() > MAX_NAME_BYTES {
        return fail(format!("has {} bytes; expected at most {MAX_NAME_BYTES}", name.len()));
    }
    match name.chars().find(|&c| !is_plain(c)) {
        Some(c) => fail(format!("contains the control character U+{:04X}", u32::from(c))),
        None => Ok(()),
    }
}

/// Returns `name` in a form that a tensor can have: `_` for every control character, and at most 256 bytes if it has
/// more than [`MAX_NAME_BYTES`].
///
/// Different names may become equal.
pub fn plain_name(name: &str) -> Cow<'_, str> {
    const CUT: usize = 256;
    let kept = match name.len() {
        0..=MAX_NAME_BYTES => name,
        _ => &name[..name.floor_char_boundary(CUT)],
    };
    match kept.chars().all(is_plain) {
        true => kept.into(),
        false => kept.chars().map(|c| if is_plain(c) { c } else { STAND_IN }).collect::<String>().into(),
    }
}

/// Returns whether a character is displayable: not a control character, not one that ends a line or changes the
/// direction of text, and not one that XML forbids.
fn is_plain(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        && !matches!(c, '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_plain(name: &str, expected: &str) {
        assert_eq!(plain_name(name), expected);
        assert_eq!(check(name).is_ok(), name == expected, "{name:?}");
        assert!(check(&plain_name(name)).is_ok(), "{name:?}");
    }

    #[test]
    fn names_are_plain() {
        for name in ["a", "model/conv2d_1/Relu;model/conv2d_1/BiasAdd:0", "../../x", "é 雪", "=1+2"] {
            check_plain(name, name);
        }
        check_plain("\u{1b}]0;pwn\u{7}\u{9b}2J\r\n", "_]0;pwn__2J__");
        check_plain("a\u{202e}b\u{2028}c\u{ffff}d\u{0}", "a_b_c_d_");
        check_plain(&"é".repeat(512), &"é".repeat(512));
        check_plain(&"é".repeat(513), &"é".repeat(128));
        assert!(check("").is_err());
    }
}
