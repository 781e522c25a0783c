//! Changes integers in ONNX files. The length of an integer depends on its value, and the lengths of all messages
//! around it depend on the integer. Changing bytes in place therefore seldom leaves a readable file.

use crate::Choices;

/// The fields of a message that hold messages, and the fields that hold integers.
struct Level {
    messages: &'static [(u64, &'static Level)],
    integers: &'static [u64],
}

const MODEL: Level = Level { messages: &[(7, &GRAPH)], integers: &[] };
const GRAPH: Level = Level { messages: &[(1, &NODE), (5, &TENSOR), (11, &INPUT)], integers: &[] };
const NODE: Level = Level { messages: &[(5, &ATTRIBUTE)], integers: &[] };
const ATTRIBUTE: Level = Level { messages: &[(5, &TENSOR)], integers: &[3, 8] };
const TENSOR: Level = Level { messages: &[], integers: &[1, 5, 7] };
const INPUT: Level = Level { messages: &[(2, &TYPE)], integers: &[] };
const TYPE: Level = Level { messages: &[(1, &TENSOR_TYPE)], integers: &[] };
const TENSOR_TYPE: Level = Level { messages: &[(2, &SHAPE)], integers: &[] };
const SHAPE: Level = Level { messages: &[(1, &DIMENSION)], integers: &[] };
const DIMENSION: Level = Level { messages: &[], integers: &[1] };

/// Returns the model with one of its integers changed, or `None` if `model` is not an ONNX file.
pub(crate) fn with_another_integer(model: &[u8], choices: &mut Choices<'_>) -> Option<Vec<u8>> {
    let mut count = 0;
    rewritten(model, &MODEL, &mut |value| {
        count += 1;
        value
    })?;
    let mut left = choices.below(count);
    let number = choices.between(i64::MIN, i64::MAX);
    let number =
        choices.one(&[number, -1, 0, 1, 2, 3, 1 << 16, 1 << 31, 1 << 33, 1 << 62, i64::MAX, i64::MIN]);
    rewritten(model, &MODEL, &mut |value| {
        let chosen = left == 0;
        left = left.wrapping_sub(1);
        if chosen { number as u64 } else { value }
    })
}

/// Returns a message whose integers are replaced by the results of `change`.
fn rewritten(message: &[u8], level: &Level, change: &mut impl FnMut(u64) -> u64) -> Option<Vec<u8>> {
    let (mut rest, mut made) = (message, Vec::new());
    while !rest.is_empty() {
        let key = number(&mut rest)?;
        write(&mut made, key);
        let field = key >> 3;
        match key & 7 {
            0 => {
                let value = number(&mut rest)?;
                write(&mut made, if level.integers.contains(&field) { change(value) } else { value });
            }
            2 => {
                let length = usize::try_from(number(&mut rest)?).ok()?;
                let (bytes, after) = rest.split_at_checked(length)?;
                rest = after;
                let inner = level.messages.iter().find(|(of, _)| *of == field);
                let bytes = match inner {
                    Some((_, level)) => rewritten(bytes, level, change)?,
                    None => bytes.to_vec(),
                };
                write(&mut made, bytes.len() as u64);
                made.extend(bytes);
            }
            kind @ (1 | 5) => {
                let (bytes, after) = rest.split_at_checked(if kind == 1 { 8 } else { 4 })?;
                rest = after;
                made.extend(bytes);
            }
            _ => return None,
        }
    }
    Some(made)
}

/// Reads a varint: seven bits to a byte, the lowest first.
fn number(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 127) << shift;
        if byte < 128 {
            return Some(value);
        }
    }
    None
}

fn write(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 128 {
        bytes.push(value as u8 | 128);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Every file of the corpus stays equal if no integer changes, and differs if one does.
#[test]
fn files_are_rewritten() {
    let target = crate::TARGETS.iter().find(|target| target.name == "onnx").expect("it is in the list");
    for (path, bytes) in target.corpus() {
        let mut count = 0;
        let same = rewritten(&bytes, &MODEL, &mut |value| {
            count += 1;
            value
        });
        assert_eq!(same.as_ref(), Some(&bytes), "{}", path.display());
        assert!(count > 0, "{}", path.display());
        let changed = with_another_integer(&bytes, &mut Choices::new(&[0, 0, 10]));
        assert!(changed.is_some_and(|changed| changed != bytes), "{}", path.display());
    }
}
