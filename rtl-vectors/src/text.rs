//! Sanitizes external text for generated SystemVerilog and VHDL. All such text passes through this module.
//! Makefiles, Python and C files of a bundle contain none.

/// Greatest length of a text in characters.
const LONGEST: usize = 120;

/// Returns a text for a line comment: ASCII characters that neither end the comment nor have a meaning in
/// one.
pub(crate) fn comment(text: &str) -> String {
    let legal = |c: char| c.is_ascii_alphanumeric() || " -_.+,()/:#".contains(c);
    text.chars().take(LONGEST).map(|c| if legal(c) { c } else { '_' }).collect()
}

/// Returns a text for a string, as part of a file name.
pub(crate) fn file_part(text: &str) -> String {
    let legal = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    text.chars().take(LONGEST).map(|c| if legal(c) { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_a_comment_or_a_string() {
        for (text, in_comment, in_string) in [
            ("fpga-int14-os", "fpga-int14-os", "fpga-int14-os"),
            ("a 16 x 16, (rev. 2)", "a 16 x 16, (rev. 2)", "a_16_x_16___rev__2_"),
            ("a\nmodule b;\\", "a_module b__", "a_module_b__"),
            ("*/ `x $(y) \"z\" %d\0", "_/ _x _(y) _z_ _d_", "____x___y___z___d_"),
            ("\u{202e}ä", "__", "__"),
        ] {
            assert_eq!((comment(text).as_str(), file_part(text).as_str()), (in_comment, in_string));
        }
        assert_eq!(comment(&"x".repeat(5000)).len(), LONGEST);
    }
}
