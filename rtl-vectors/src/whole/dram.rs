//! One image of the memory outside of the accelerator: constants and inputs, and room for what the layers write.

use super::layout::{Dram, DramRegion, Image, LayerLayout, MemoryPlan, WeightLayout};
use crate::manifest::FileInfo;

/// Name of the file.
const FILE: &str = "dram.mem";
/// Bytes of a word of the file, and of which every region begins at a multiple.
const WORD: usize = 8;
const ALIGNMENT: u64 = 64;

/// Returns the map of the memory, and its content.
pub(super) fn dram(
    images: &[Image],
    layers: &[LayerLayout],
    memory: &MemoryPlan,
    files: &[(FileInfo, Vec<u8>)],
) -> (Dram, Vec<u8>) {
    let mut dram = Dram {
        file: FILE.into(),
        word_bytes: WORD,
        alignment: ALIGNMENT,
        bytes: 0,
        regions: Vec::new(),
        on_chip: Vec::new(),
    };
    let mut bytes = Vec::new();
    let mut place = |file: &str, is_given: bool| {
        let Some((info, text)) = files.iter().find(|(info, _)| info.path == file) else { return };
        let size = info.bits.unwrap_or(1).div_ceil(8) as usize;
        bytes.resize(bytes.len().next_multiple_of(ALIGNMENT as usize), 0);
        dram.regions.push(DramRegion {
            file: file.into(),
            address: bytes.len() as u64,
            word_bytes: size,
            words: info.words.unwrap_or(0),
            is_given,
        });
        for line in text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
            bytes.extend(if is_given { word(line, size) } else { vec![0; size] });
        }
    };
    for layer in layers {
        if let WeightLayout::Constant { file, .. } = &layer.weights {
            place(file, true);
        }
        for file in [&layer.bias, &layer.mult, &layer.exp, &layer.zero_points] {
            place(file, true);
        }
    }
    let stays = |image: &Image| {
        let mut residents = memory.residents.iter();
        residents.any(|one| one.tensor == image.tensor && !one.is_stored && one.address.is_some())
    };
    let (on_chip, outside): (Vec<_>, Vec<_>) = images.iter().partition(|image| stays(image));
    let (given, written): (Vec<_>, Vec<_>) = outside.into_iter().partition(|image| image.writer.is_none());
    given.iter().for_each(|image| place(&image.file, true));
    written.iter().for_each(|image| place(&image.file, false));
    dram.on_chip = on_chip.into_iter().map(|image| image.file.clone()).collect();
    bytes.resize(bytes.len().next_multiple_of(ALIGNMENT as usize), 0);
    dram.bytes = bytes.len() as u64;
    let mut text = Vec::with_capacity(bytes.len() / WORD * (2 * WORD + 1));
    for word in bytes.chunks(WORD) {
        let digits: String = word.iter().rev().map(|byte| format!("{byte:02x}")).collect();
        text.extend(digits.into_bytes());
        text.push(b'\n');
    }
    (dram, text)
}

/// Returns the bytes of a word in hexadecimal digits, the least significant one first.
fn word(digits: &[u8], size: usize) -> Vec<u8> {
    let value = |digit: &u8| (*digit as char).to_digit(16).unwrap_or(0) as u8;
    let pair = |pair: &[u8]| pair.iter().fold(0, |byte, digit| byte << 4 | value(digit));
    let mut bytes: Vec<u8> = digits.rchunks(2).map(pair).collect();
    bytes.resize(size, 0);
    bytes
}
