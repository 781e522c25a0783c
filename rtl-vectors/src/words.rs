//! Words of data files: lanes packed into words, and words as text and bytes.

use std::fmt::Write as _;

use bitvec::prelude::*;

use crate::manifest::Packing;

/// Columns of words of one width, which form one data file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    /// Width of a word in bits.
    pub bits: u32,
    /// Whether a word (of one lane) is two's complement.
    pub signed: bool,
    data: Data,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Data {
    /// One value per word, up to 64 bits.
    Values(Vec<i64>),
    /// Several lanes per word, lane 0 in the least significant bits.
    Lanes { lanes: usize, lane_bits: u32, slot: u32, values: Vec<i64> },
}

/// Returns the number of bits from one lane of `bits` bits to the next.
pub fn slot(bits: u32, packing: Packing) -> u32 {
    match packing {
        Packing::Dense => bits,
        Packing::ByteSlot => bits.div_ceil(8) * 8,
    }
}

/// Returns the number of hexadecimal digits of a word.
pub fn digits(bits: u32) -> usize {
    bits.div_ceil(4) as usize
}

impl Words {
    /// Creates words of one value each.
    pub fn values(bits: u32, signed: bool, values: Vec<i64>) -> Self {
        Self { bits, signed, data: Data::Values(values) }
    }

    /// Creates words of `lanes` values each.
    pub fn lanes(lanes: usize, lane_bits: u32, packing: Packing, values: Vec<i64>) -> Self {
        let slot = slot(lane_bits, packing);
        Self { bits: slot * lanes as u32, signed: true, data: Data::Lanes { lanes, lane_bits, slot, values } }
    }

    /// Returns the words with their values as unsigned binary numbers.
    pub fn unsigned(self) -> Self {
        Self { signed: false, ..self }
    }

    /// Returns the number of words.
    pub fn len(&self) -> usize {
        match &self.data {
            Data::Values(values) => values.len(),
            Data::Lanes { lanes, values, .. } => values.len() / lanes,
        }
    }

    /// Returns whether there are no words.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns `$readmemh` text in its portable form: exactly `ceil(bits / 4)` lower-case digits per line,
    /// unused top bits 0.
    pub fn mem(&self) -> Vec<u8> {
        let digits = digits(self.bits);
        let mut text = Vec::with_capacity(self.len() * (digits + 1));
        self.for_each_word(|word| push_hex(&mut text, word, digits));
        text
    }

    /// Returns decimal text: one word per line, lanes separated by spaces, lane 0 first.
    pub fn dec(&self) -> Vec<u8> {
        use std::io::Write;
        let mut text = Vec::new();
        let per_line = match &self.data {
            Data::Values(_) => 1,
            Data::Lanes { lanes, .. } => *lanes,
        };
        for line in self.all().chunks(per_line) {
            for (lane, value) in line.iter().enumerate() {
                if lane > 0 {
                    text.push(b' ');
                }
                // Writing to memory cannot fail.
                let _ = write!(text, "{value}");
            }
            text.push(b'\n');
        }
        text
    }

    /// Returns the values in binary, lane 0 first, each in whole bytes, least significant byte first,
    /// sign-extended (or zero-extended, if unsigned).
    pub fn bin(&self) -> Vec<u8> {
        let bytes = (slot(self.lane_bits(), Packing::ByteSlot) / 8) as usize;
        let mask = if self.signed { u64::MAX } else { u64::MAX >> (64 - self.lane_bits().clamp(1, 64)) };
        let value = |&value: &i64| (value as u64 & mask).to_le_bytes().into_iter().take(bytes);
        self.all().iter().flat_map(value).collect()
    }

    /// Returns the width of a value in bits.
    pub fn lane_bits(&self) -> u32 {
        match &self.data {
            Data::Values(_) => self.bits,
            Data::Lanes { lane_bits, .. } => *lane_bits,
        }
    }

    /// Returns the number of bits from one value of a word to the next.
    pub fn slot_bits(&self) -> u32 {
        match &self.data {
            Data::Values(_) => self.bits,
            Data::Lanes { slot, .. } => *slot,
        }
    }

    /// Returns all values, lane 0 first within a word.
    pub fn all(&self) -> &[i64] {
        match &self.data {
            Data::Values(values) | Data::Lanes { values, .. } => values,
        }
    }

    /// Returns the number of values per word.
    pub fn per_word(&self) -> usize {
        match &self.data {
            Data::Values(_) => 1,
            Data::Lanes { lanes, .. } => *lanes,
        }
    }

    /// Calls `show` with every word as 64-bit limbs, the least significant first.
    pub(crate) fn for_each_word(&self, mut show: impl FnMut(&[u64])) {
        match &self.data {
            Data::Values(values) => {
                let mask = u64::MAX >> (64 - self.bits.clamp(1, 64));
                values.iter().for_each(|&value| show(&[value as u64 & mask]));
            }
            Data::Lanes { lanes, lane_bits, slot, values } => {
                let mut word = bitvec![u64, Lsb0; 0; (self.bits as usize).max(1)];
                // In a byte slot the sign extends to the slot's end; dense lanes fill their slot.
                debug_assert!(lane_bits <= slot);
                for lane_values in values.chunks_exact(*lanes) {
                    for (lane, &value) in lane_values.iter().enumerate() {
                        let start = lane * *slot as usize;
                        let mask = u64::MAX >> (64 - slot);
                        word[start..start + *slot as usize].store_le(value as u64 & mask);
                    }
                    show(word.as_raw_slice());
                }
            }
        }
    }
}

/// Appends a line of `digits` hexadecimal digits.
pub(crate) fn push_hex(text: &mut Vec<u8>, word: &[u64], digits: usize) {
    text.extend((0..digits).rev().map(|digit| HEX[nibble(word, digit)]));
    text.push(b'\n');
}

/// Words of a `$readmemh` text, as 64-bit limbs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mem {
    /// Number of limbs per word.
    limbs: usize,
    all: Vec<u64>,
}

impl Mem {
    /// Reads lines that have exactly the number of digits of a word of `bits` bits.
    pub fn parse(text: &[u8], bits: u32) -> Result<Self, String> {
        let digits = digits(bits);
        let (limbs, lines) = (digits.div_ceil(16).max(1), text.chunks_exact(digits + 1));
        if !lines.remainder().is_empty() {
            return Err(format!("{} bytes are not a whole number of lines of {digits} digits", text.len()));
        }
        let mut all = vec![0; lines.len() * limbs];
        for (index, (line, word)) in lines.zip(all.chunks_exact_mut(limbs)).enumerate() {
            let (newline, hex) = line.split_last().unwrap_or((&0, line));
            for (place, digit) in hex.iter().rev().enumerate() {
                let value = (*digit as char).to_digit(16).filter(|_| *newline == b'\n');
                let value =
                    value.ok_or_else(|| format!("line {} is not {digits} hexadecimal digits", index + 1))?;
                word[place / 16] |= u64::from(value) << (place % 16 * 4);
            }
        }
        Ok(Self { limbs, all })
    }

    /// Returns the number of words.
    pub fn len(&self) -> usize {
        self.all.len() / self.limbs
    }

    /// Returns a word; empty if there is no such word.
    pub fn word(&self, index: usize) -> &[u64] {
        self.all.chunks_exact(self.limbs).nth(index).unwrap_or_default()
    }
}

/// Returns `bits` bits from `lsb` on, at most 64. Bits beyond the word are 0.
pub(crate) fn field(word: &[u64], lsb: u32, bits: u32) -> u64 {
    let all = word.view_bits::<Lsb0>();
    let [start, end] = [lsb, lsb + bits].map(|at| all.len().min(at as usize));
    // A load needs at least one bit.
    if start < end { all[start..end].load_le() } else { 0 }
}

/// Returns `bits` bits from `lsb` on as two's complement.
pub(crate) fn signed_field(word: &[u64], lsb: u32, bits: u32) -> i64 {
    sign_extend(field(word, lsb, bits), bits)
}

/// Returns `value` of `bits` bits as two's complement.
pub(crate) fn sign_extend(value: u64, bits: u32) -> i64 {
    let up = 64 - bits.clamp(1, 64);
    ((value << up) as i64) >> up
}

const HEX: &[u8; 16] = b"0123456789abcdef";

fn nibble(word: &[u64], digit: usize) -> usize {
    (word.get(digit / 16).copied().unwrap_or(0) >> (digit % 16 * 4) & 15) as usize
}

impl Words {
    /// Returns an Intel (Quartus) memory initialization file in hexadecimal.
    pub fn mif(&self) -> Vec<u8> {
        let mut text = format!(
            "DEPTH = {};\nWIDTH = {};\nADDRESS_RADIX = HEX;\nDATA_RADIX = HEX;\nCONTENT BEGIN\n",
            self.len(),
            self.bits
        );
        for (address, word) in self.hex().lines().enumerate() {
            // Writing to memory does not fail.
            let _ = writeln!(text, "{address:x} : {word};");
        }
        (text + "END;\n").into_bytes()
    }

    /// Returns an AMD (Vivado) coefficient file in hexadecimal two's complement.
    pub fn coe(&self) -> Vec<u8> {
        let words = self.hex();
        let words = words.strip_suffix('\n').unwrap_or(&words).replace('\n', ",\n");
        let head = "memory_initialization_radix=16;\nmemory_initialization_vector=\n";
        format!("{head}{words};\n").into_bytes()
    }

    /// Returns one word per line, in hexadecimal.
    fn hex(&self) -> String {
        String::from_utf8(self.mem()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Lanes of every width and packing are read back from the text of a memory file.
        #[test]
        fn lanes_are_read_back(
            values in prop::collection::vec(any::<i64>(), 12),
            lanes in prop::sample::select(vec![1usize, 2, 3, 4, 6]),
            bits in 1u32..=64,
            packing in prop::sample::select(vec![Packing::Dense, Packing::ByteSlot]),
        ) {
            let values: Vec<i64> = values.into_iter().map(|value| sign_extend(value as u64, bits)).collect();
            let words = Words::lanes(lanes, bits, packing, values.clone());
            let mem = Mem::parse(&words.mem(), words.bits).unwrap();
            let lane = |index: usize| (index % lanes) as u32 * words.slot_bits();
            let read = |index: usize| signed_field(mem.word(index / lanes), lane(index), bits);
            prop_assert_eq!((0..values.len()).map(read).collect::<Vec<_>>(), values);
            prop_assert_eq!(field(mem.word(mem.len()), 0, bits), 0, "a word that is not there");
        }
    }
}
