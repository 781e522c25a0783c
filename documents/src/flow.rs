//! YAML in flow style: a value on one line.

use serde_yaml::{Number, Value};

/// Returns a value as text that is read as the same value.
pub fn text(value: &Value) -> String {
    write(value, Number::to_string)
}

/// Returns a value as text like [`text`]. A real number that is exactly a float32 has the fewest digits that give this
/// float32.
pub fn text_in_float32(value: &Value) -> String {
    write(value, float32)
}

fn write(value: &Value, number: fn(&Number) -> String) -> String {
    let text = |value: &Value| write(value, number);
    match value {
        Value::Null => "null".into(),
        Value::Bool(value) => value.to_string(),
        Value::Number(value) => number(value),
        Value::String(text) => word(text),
        Value::Sequence(values) => format!("[{}]", values.iter().map(text).collect::<Vec<_>>().join(", ")),
        Value::Mapping(map) => {
            let entry = |(key, value): (&Value, &Value)| format!("{}: {}", text(key), text(value));
            format!("{{{}}}", map.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
        Value::Tagged(tagged) => text(&tagged.value),
    }
}

fn float32(number: &Number) -> String {
    let Some(wide) = number.as_f64().filter(|_| number.is_f64()) else { return number.to_string() };
    let short = format!("{:?}", wide as f32);
    match short.parse::<f64>() {
        _ if wide.is_nan() => ".nan".into(),
        _ if wide.is_infinite() => if wide > 0.0 { ".inf" } else { "-.inf" }.into(),
        Ok(read) if f64::from(read as f32) == wide => short,
        _ => format!("{wide:?}"),
    }
}

/// Returns a text, in quotes unless it is a plain word of YAML.
fn word(text: &str) -> String {
    const OTHERWISE: [&str; 12] =
        ["null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", "inf", "infinity"];
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "_./-".contains(c));
    if starts && plain && !OTHERWISE.iter().any(|other| text.eq_ignore_ascii_case(other)) {
        return text.into();
    }
    let escaped = |c: char| match c {
        '"' | '\\' => format!("\\{c}"),
        c if c.is_ascii_graphic() || c == ' ' || !c.is_ascii() && c.is_alphanumeric() => c.to_string(),
        c => format!("\\U{:08x}", u32::from(c)),
    };
    format!("\"{}\"", text.chars().map(escaped).collect::<String>())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn texts_and_numbers_are_read_as_they_were(words in prop::collection::vec(".*", 0..4), bits in any::<u32>()) {
            let real = f32::from_bits(bits);
            let values = [words.iter().cloned().map(Value::from).collect(), vec![Value::from(f64::from(real))]].concat();
            let read: Vec<Value> = serde_yaml::from_str(&text_in_float32(&Value::Sequence(values))).unwrap();
            for (word, read) in words.iter().zip(&read) {
                prop_assert_eq!(read.as_str(), Some(word.as_str()));
            }
            let wide = f64::from(real) / 3.0;
            let again: f64 = serde_yaml::from_str(&text(&Value::from(wide))).unwrap();
            prop_assert!(again.to_bits() == wide.to_bits() || again.is_nan() && wide.is_nan(), "{} is {}", wide, again);
            let number = read.last().and_then(Value::as_f64).unwrap() as f32;
            prop_assert!(number.to_bits() == bits || number.is_nan() && real.is_nan(), "{} is {}", real, number);
        }
    }
}
