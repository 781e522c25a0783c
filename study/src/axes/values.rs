//! Lists of values as text.

/// Maximum number of values of an axis.
const MOST: i64 = 10_000;

/// Returns the values of a list with ranges expanded.
pub(super) fn split(text: &str) -> Result<Vec<String>, String> {
    let mut values = Vec::new();
    for part in parts(text)? {
        match part.split_once("..") {
            Some((low, high)) => values.extend(range(part, low, high)?),
            None if part.is_empty() => return Err("a value is missing".into()),
            None => values.push(part.into()),
        }
        if values.len() as i64 > MOST {
            return Err(format!("has more than {MOST} values"));
        }
    }
    Ok(values)
}

/// Returns the parts between commas outside of brackets.
fn parts(text: &str) -> Result<Vec<&str>, String> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0u32, 0);
    for (at, character) in text.char_indices() {
        match character {
            '[' | '{' => depth += 1,
            ']' | '}' => {
                let outer = depth.checked_sub(1);
                depth = outer.ok_or_else(|| format!("unmatched `{character}`"))?;
            }
            ',' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    if depth == 0 { Ok(parts) } else { Err("unclosed bracket".into()) }
}

/// Returns the whole numbers of `low..=high`. Text that is not a numeric range, such as a path, is a single
/// value.
fn range(part: &str, low: &str, high: &str) -> Result<Vec<String>, String> {
    let number = |text: &str| text.trim().parse::<i64>().ok();
    let (Some(low), Some(end)) = (number(low), number(high.strip_prefix('=').unwrap_or(high))) else {
        return Ok(vec![part.into()]);
    };
    if !high.starts_with('=') {
        return Err(format!("`{part}` is ambiguous: write {low}..={end} to include {end}"));
    }
    if low > end || end.saturating_sub(low) >= MOST {
        return Err(format!("`{part}` has no values, or more than {MOST}"));
    }
    Ok((low..=end).map(|value| value.to_string()).collect())
}

#[cfg(test)]
mod tests {
    use super::split;

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(split(text).unwrap(), expected, "{text}");
    }

    #[test]
    fn lists() {
        check("8", &["8"]);
        check("12..=14,16", &["12", "13", "14", "16"]);
        check("-1..=1", &["-1", "0", "1"]);
        check("wrap, saturate", &["wrap", "saturate"]);
        check("[kh,kw,ic],[ic,kh,kw]", &["[kh,kw,ic]", "[ic,kh,kw]"]);
        check("../a.tflite,b..c.onnx", &["../a.tflite", "b..c.onnx"]);
        check("{axes: [ic], walk: sorted}", &["{axes: [ic], walk: sorted}"]);
        for bad in ["", "1,,2", "8..10", "9..=8", "0..=99999999999", "[1,2", "1]"] {
            assert!(split(bad).is_err(), "{bad}");
        }
    }
}
