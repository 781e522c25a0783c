//! Reads memory files of other programs: what `$readmemh` reads and `$writememh` writes.

use crate::words::{field, sign_extend};

/// Words of a memory file, with the digits that are not known.
#[derive(Debug, Clone, Default)]
pub(super) struct Memory {
    bits: u32,
    words: Vec<Word>,
}

#[derive(Debug, Clone, Default)]
struct Word {
    /// 64 bits each, the least significant first.
    value: Vec<u64>,
    /// 1 where a bit is `x` or `z`.
    unknown: Vec<u64>,
}

impl Memory {
    /// Reads words of `bits` bits: hexadecimal digits, `x`, `z` and `_`, `@ADDRESS`, and comments.
    ///
    /// # Errors
    /// A description of what is wrong, with its line.
    pub fn parse(text: &[u8], bits: u32, most: usize) -> Result<Self, String> {
        let text = std::str::from_utf8(text).map_err(|_| "is not a text".to_owned())?;
        let (mut words, mut next, mut in_comment) = (Vec::<Word>::new(), 0usize, false);
        for (line, rest) in text.lines().enumerate() {
            let wrong = |what: String| format!("line {}: {what}", line + 1);
            for token in uncommented(rest, &mut in_comment).split_ascii_whitespace() {
                if let Some(address) = token.strip_prefix('@') {
                    next =
                        usize::from_str_radix(address, 16).ok().filter(|&at| at < most).ok_or_else(|| {
                            wrong(format!("address @{} is not among the {most} words", shown(address)))
                        })?;
                    continue;
                }
                if next >= most {
                    return Err(wrong(format!("there are more than {most} words")));
                }
                let word = Word::parse(token, bits).ok_or_else(|| {
                    wrong(format!("`{}` is not a hexadecimal word of {bits} bits", shown(token)))
                })?;
                if words.len() <= next {
                    words.resize(next + 1, Word::unknown(bits));
                }
                words[next] = word;
                next += 1;
            }
        }
        Ok(Self { bits, words })
    }

    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Returns value `lane` of a word, each of `bits` bits; `None` if some of its bits are not known.
    pub fn value(&self, word: usize, lane: usize, bits: u32, signed: bool) -> Option<i64> {
        let word = self.words.get(word)?;
        let lsb = lane as u32 * bits;
        (lsb + bits <= self.bits && field(&word.unknown, lsb, bits) == 0).then(|| {
            let value = field(&word.value, lsb, bits);
            if signed { sign_extend(value, bits) } else { value as i64 }
        })
    }
}

impl Word {
    fn unknown(bits: u32) -> Self {
        let limbs = bits.div_ceil(64) as usize;
        Self { value: vec![0; limbs], unknown: vec![u64::MAX; limbs] }
    }

    fn parse(token: &str, bits: u32) -> Option<Self> {
        let limbs = bits.div_ceil(64) as usize;
        let mut word = Self { value: vec![0; limbs], unknown: vec![0; limbs] };
        let mut place = 0;
        for digit in token.bytes().rev().filter(|&digit| digit != b'_') {
            let (value, unknown) = match (digit as char).to_digit(16) {
                Some(value) => (u64::from(value), 0),
                None if b"xXzZ".contains(&digit) => (0, 15),
                None => return None,
            };
            match place / 16 < limbs {
                true => {
                    word.value[place / 16] |= value << (place % 16 * 4);
                    word.unknown[place / 16] |= unknown << (place % 16 * 4);
                }
                false if value == 0 => {}
                false => return None,
            }
            place += 1;
        }
        (place > 0).then_some(word)
    }
}

/// Returns a line without comments. `inside` is whether it begins, and then ends, inside `/* */`.
fn uncommented(mut line: &str, inside: &mut bool) -> String {
    let mut kept = String::new();
    loop {
        if *inside {
            let Some(end) = line.find("*/") else { return kept };
            (line, *inside) = (&line[end + 2..], false);
            kept.push(' ');
        }
        let (short, long) = (line.find("//"), line.find("/*"));
        match (short, long) {
            (Some(short), long) if long.is_none_or(|long| short < long) => return kept + &line[..short],
            (_, Some(long)) => {
                kept += &line[..long];
                (line, *inside) = (&line[long + 2..], true);
            }
            _ => return kept + line,
        }
    }
}

/// Truncates a word of a file for a message.
fn shown(text: &str) -> String {
    text.chars().take(40).map(|c| if c.is_control() { '?' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_files_of_simulators_are_read() {
        let text = "// 0x00000000\nff 0x\n/* two\nlines */ 1_2 @5 7f // end\n";
        let memory = Memory::parse(text.as_bytes(), 8, 6).unwrap();
        let value = |word, signed| memory.value(word, 0, 8, signed);
        assert_eq!((value(0, true), value(0, false), value(1, true)), (Some(-1), Some(255), None));
        assert_eq!((value(2, true), value(3, true), value(5, true)), (Some(0x12), None, Some(127)));
        assert_eq!((memory.value(1, 1, 4, false), memory.value(5, 2, 4, false)), (Some(0), None));
        for (text, said) in [
            ("12\nno", "line 2: `no` is not a hexadecimal word of 8 bits"),
            ("@6", "line 1: address @6 is not among the 6 words"),
            ("1 2 3 4 5 6 7", "line 1: there are more than 6 words"),
            ("10000000000000000ff", "line 1: `10000000000000000ff` is not a hexadecimal word of 8 bits"),
        ] {
            assert_eq!(Memory::parse(text.as_bytes(), 8, 6).unwrap_err(), said);
        }
    }
}
