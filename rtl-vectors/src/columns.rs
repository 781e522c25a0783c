//! Data files of a bundle, in every format.

use guardbit_files::npy_header;
use sha2::{Digest, Sha256};

use crate::array::{self, ArrayPart};
use crate::axis::{self, Stream};
use crate::beats::{self, Beats, FLAG_BITS, RUN_LAST};
use crate::bundle::Format;
use crate::manifest::{Arithmetic, FileInfo, Packing};
use crate::words::{Words, digits, slot};

/// Returns the SHA-256 in hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Returns bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// File with its description for the manifest.
pub(crate) struct DataFile {
    pub info: FileInfo,
    pub bytes: Vec<u8>,
}

/// Takes a column of words: its name, what it is, and its words.
type Show<'s> = dyn FnMut(&str, &'static str, Words) + 's;

/// Returns the data files of the unit.
pub(crate) fn data_files(
    beats: &Beats,
    arithmetic: &Arithmetic,
    packing: Packing,
    formats: &[Format],
) -> Vec<DataFile> {
    let mut files = Vec::new();
    // One column at a time: there may be millions of beats.
    let mut add = |name: &str, role: &'static str, words: Words| {
        // The exact sum is there as int64 in any case.
        let mut formats = formats.to_vec();
        if name == "exp_wide" && !formats.contains(&Format::Npy) {
            formats.push(Format::Npy);
        }
        files.extend(formatted(name, role, &words, &formats));
    };
    stimuli(beats, arithmetic, packing, &mut add);
    expected(beats, arithmetic, &mut add);
    if formats.contains(&Format::Axis) {
        files.extend(axis::streams(beats, arithmetic).into_iter().map(stream_file));
    }
    files
}

fn stimuli(beats: &Beats, arithmetic: &Arithmetic, packing: Packing, show: &mut Show<'_>) {
    let control = RUN_LAST + beats.levels as u32 + beats.lanes as u32;
    let lanes = |bits, values: &[i64]| Words::lanes(beats.lanes, bits, packing, values.to_vec());
    show("stim_a", "stimulus: activations", lanes(arithmetic.activation.bits, &beats.activations));
    show("stim_w", "stimulus: weights", lanes(arithmetic.weight.bits, &beats.weights));
    show("ctrl", "stimulus: control", Words::values(control, false, beats.ctrl.clone()));
    let per_dot = [
        ("stim_bias", "stimulus per dot product: bias", arithmetic.bias.input_bits, &beats.bias),
        (
            "stim_mult",
            "stimulus per dot product: multiplier",
            arithmetic.requantize.mult_bits,
            &beats.multiplier,
        ),
        ("stim_exp", "stimulus per dot product: exponent", 8, &beats.exponent),
    ];
    for (name, role, bits, values) in per_dot {
        show(name, role, Words::values(bits, true, values.clone()));
    }
}

fn expected(beats: &Beats, arithmetic: &Arithmetic, show: &mut Show<'_>) {
    let levels = beats.levels as u32;
    for (level, states) in arithmetic.levels.iter().zip(&beats.states) {
        let words = Words::values(level.acc_bits, level.acc_signed, states.iter().map(|s| s.acc).collect());
        show(&format!("exp_acc_{}", level.name), "expected: accumulator after each beat", words);
    }
    let per_beat = |f: &dyn Fn(usize, &beats::LevelState) -> i64| -> Vec<i64> {
        let beat = |beat: usize| (0..beats.levels).map(|level| f(level, &beats.states[level][beat])).sum();
        (0..beats.len()).map(beat).collect()
    };
    let flags = per_beat(&|level, s| (s.flags() as i64) << (level as u32 * FLAG_BITS));
    show("exp_flags", "expected: flags of every level", Words::values(levels * FLAG_BITS, false, flags));
    let mask = per_beat(&|level, s| i64::from(s.updated) << level);
    show("mask", "1: the level adds in this beat, compare", Words::values(levels, false, mask));
    let last = arithmetic.levels.last().map_or(32, |l| l.register.port_bits);
    let others = [
        ("exp_sum", "expected per finished dot product: delivered sum", last, &beats.sums),
        (
            "exp_out",
            "expected per finished dot product: output code",
            arithmetic.requantize.out_bits,
            &beats.codes,
        ),
        ("exp_wide", "exact sum after each beat, at unit 1", 64, &beats.wide),
    ];
    for (name, role, bits, values) in others {
        show(name, role, Words::values(bits, true, values.clone()));
    }
}

/// Returns one column as `.mem` and in the other formats.
pub(crate) fn formatted(name: &str, role: &str, words: &Words, formats: &[Format]) -> Vec<DataFile> {
    let others = formats.iter().filter_map(|&format| {
        let bytes = match format {
            Format::Dec => words.dec(),
            Format::Npy => npy(words),
            Format::Bin => words.bin(),
            Format::Mif => words.mif(),
            Format::Coe => words.coe(),
            // Streams combine several columns.
            Format::Axis => return None,
        };
        Some(data_file(name, format.name(), role, words, bytes))
    });
    std::iter::once(data_file(name, "mem", role, words, words.mem())).chain(others).collect()
}

fn stream_file(stream: Stream) -> DataFile {
    let info = FileInfo {
        words: Some(stream.words),
        bits: Some(stream.bits()),
        digits: Some(digits(stream.bits())),
        fields: Some(stream.fields),
        ..plain_info(&format!("{}.axis", stream.name), stream.role, &stream.text)
    };
    DataFile { info, bytes: stream.text }
}

/// Returns the files of `array/`.
pub(crate) fn array_files(part: &ArrayPart, arithmetic: &Arithmetic, formats: &[Format]) -> Vec<DataFile> {
    let info = &part.info;
    let lanes =
        |lanes: usize, bits: u32, values: &[i64]| Words::lanes(lanes, bits, Packing::Dense, values.to_vec());
    let columns = [
        (
            "stim_a",
            "array stimulus: activations",
            lanes(info.rows, arithmetic.activation.bits, &part.activations),
        ),
        ("stim_w", "array stimulus: weights", lanes(info.cols, arithmetic.weight.bits, &part.weights)),
        ("ctrl", "array stimulus: control", Words::values(array::ctrl_bits(), false, part.ctrl.clone())),
        (
            "exp_sum",
            "array expected: sums that leave the columns",
            lanes(info.cols, array::sum_bits(arithmetic), &part.sums),
        ),
        ("exp_mask", "1: the sum is that of an output, compare", lanes(info.cols, 1, &part.mask).unsigned()),
    ];
    columns
        .iter()
        .flat_map(|(name, role, words)| formatted(&format!("array/{name}"), role, words, formats))
        .collect()
}

fn data_file(name: &str, extension: &str, role: &str, words: &Words, bytes: Vec<u8>) -> DataFile {
    let slot_bits = match extension {
        "bin" => slot(words.lane_bits(), Packing::ByteSlot),
        _ => words.slot_bits(),
    };
    let info = FileInfo {
        words: Some(words.len()),
        bits: Some(words.bits),
        lanes: Some(words.per_word()),
        lane_bits: Some(words.lane_bits()),
        slot_bits: Some(slot_bits),
        digits: (extension == "mem").then(|| digits(words.bits)),
        signed: Some(words.signed),
        ..plain_info(&format!("{name}.{extension}"), role, &bytes)
    };
    DataFile { info, bytes }
}

/// Returns the description of a file without words.
pub(crate) fn plain_info(path: &str, role: &str, bytes: &[u8]) -> FileInfo {
    FileInfo {
        path: path.into(),
        role: role.into(),
        words: None,
        bits: None,
        lanes: None,
        lane_bits: None,
        slot_bits: None,
        digits: None,
        signed: None,
        fields: None,
        sha256: sha256(bytes),
    }
}

fn npy(words: &Words) -> Vec<u8> {
    let (values, per_word) = (words.all(), words.per_word());
    let mut bytes = match per_word {
        1 => npy_header("<i8", &[values.len()]),
        _ => npy_header("<i8", &[values.len() / per_word, per_word]),
    };
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    bytes
}
