//! Rewords messages of the YAML library in plain English.

/// Returns a message without the names of Rust's types.
pub fn plain_words(message: &str) -> String {
    let message = message.replace("` as u128", "`").replace("` as i128", "`");
    // The found value comes first and may contain any text.
    let Some((found, expected)) = message.rsplit_once(", expected ") else { return message };
    let (expected, place) = expected.split_at(expected.find(" at line ").unwrap_or(expected.len()));
    let words = match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number of at least 0",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        _ if expected.starts_with("struct ") => "a map of keys",
        _ => return message,
    };
    format!("{found}, expected {words}{place}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_type_of_rust_is_named() {
        for (message, plain) in [
            (
                "sweep: invalid type: string \"x\", expected struct RawSweep at line 4 column 8",
                "sweep: invalid type: string \"x\", expected a map of keys at line 4 column 8",
            ),
            (
                "schema: invalid type: integer `99999999999999999999` as u128, expected u64",
                "schema: invalid type: integer `99999999999999999999`, expected a whole number of at least 0",
            ),
            (
                "invalid type: string \"1, expected u8\", expected i64",
                "invalid type: string \"1, expected u8\", expected a whole number",
            ),
            ("unknown field `a`, expected one of `b`, `c`", "unknown field `a`, expected one of `b`, `c`"),
            ("did not find expected key", "did not find expected key"),
        ] {
            assert_eq!(plain_words(message), plain);
        }
    }
}
