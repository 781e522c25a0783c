//! Data files as AXI4-Stream transfers, one per line: `{TUSER, TLAST, TKEEP, TDATA}` in hexadecimal digits as
//! in `.mem`.
//!
//! Every lane occupies whole bytes, sign-extended (or zero-extended, if unsigned), with lane 0 in the lowest
//! bytes. TKEEP has one bit per byte and marks the lanes in use. Cycles without a beat have no transfer.

use bitvec::prelude::*;

use crate::beats::{Beats, CLEAR, FLAG_BITS, RUN_LAST, VALID};
use crate::manifest::{Arithmetic, Field, Packing};
use crate::words::{digits, push_hex, slot};

/// AXI4-Stream file.
pub(crate) struct Stream {
    /// Name of the data file from which it is derived.
    pub name: String,
    /// Content of a transfer.
    pub role: &'static str,
    /// Bits of TDATA, TKEEP, TLAST and TUSER, the least significant first.
    pub fields: Vec<Field>,
    /// Number of transfers.
    pub words: usize,
    /// Text of the file.
    pub text: Vec<u8>,
}

impl Stream {
    /// Creates a stream of `lanes` values of `bits` bits per transfer, with `user_bits` bits of TUSER.
    fn new(name: &str, role: &'static str, lanes: usize, bits: u32, user_bits: u32) -> Self {
        let bytes = lanes as u32 * slot(bits, Packing::ByteSlot) / 8;
        let mut fields = Vec::new();
        let mut lsb = 0;
        for (name, bits) in [("tdata", 8 * bytes), ("tkeep", bytes), ("tlast", 1), ("tuser", user_bits)] {
            if bits > 0 {
                fields.push(Field { name: name.into(), lsb, bits });
                lsb += bits;
            }
        }
        Self { name: name.into(), role, fields, words: 0, text: Vec::new() }
    }

    /// Returns the number of bits of a transfer.
    pub fn bits(&self) -> u32 {
        self.fields.iter().map(|f| f.bits).sum()
    }

    /// Appends one transfer in which the first `keep` of `lanes` are in use.
    fn push(&mut self, lanes: &[i64], keep: usize, last: bool, user: u64) {
        let mut word = bitvec![u64, Lsb0; 0; self.bits() as usize];
        let (data, rest) = word.split_at_mut(self.fields[0].bits as usize);
        let (kept, rest) = rest.split_at_mut(self.fields[1].bits as usize);
        for (place, &value) in data.chunks_exact_mut(data_slot(&self.fields, lanes.len())).zip(lanes) {
            let mask = u64::MAX >> (64 - place.len());
            place.store_le(value as u64 & mask);
        }
        kept[..keep * self.fields[1].bits as usize / lanes.len()].fill(true);
        rest.set(0, last);
        if rest.len() > 1 {
            rest[1..].store_le(user);
        }
        let digits = digits(self.bits());
        push_hex(&mut self.text, word.as_raw_slice(), digits);
        self.words += 1;
    }
}

fn data_slot(fields: &[Field], lanes: usize) -> usize {
    fields[0].bits as usize / lanes
}

/// Returns every stream of a bundle.
pub(crate) fn streams(beats: &Beats, arithmetic: &Arithmetic) -> Vec<Stream> {
    let levels = beats.levels as u32;
    let keep_at = RUN_LAST + levels;
    let mut streams = Vec::new();
    let operands = [
        (
            "stim_a",
            "AXI4-Stream, a transfer per beat: activations; TLAST ends the dot product, TUSER is \
                    {run_last of every level, clear}",
            arithmetic.activation.bits,
            &beats.activations,
        ),
        (
            "stim_w",
            "AXI4-Stream, a transfer per beat: weights; TLAST and TUSER as in stim_a.axis",
            arithmetic.weight.bits,
            &beats.weights,
        ),
    ];
    for (name, role, bits, values) in operands {
        let mut stream = Stream::new(name, role, beats.lanes, bits, 1 + levels);
        for (lanes, &ctrl) in values.chunks_exact(beats.lanes).zip(&beats.ctrl) {
            if ctrl >> VALID & 1 == 1 {
                let keep = (ctrl >> keep_at).count_ones() as usize;
                let user = ctrl as u64 >> CLEAR & ((1 << (1 + levels)) - 1);
                stream.push(lanes, keep, ctrl >> (keep_at - 1) & 1 == 1, user);
            }
        }
        streams.push(stream);
    }
    for (index, (level, states)) in (0u32..).zip(arithmetic.levels.iter().zip(&beats.states)) {
        let role = "AXI4-Stream, a transfer per addition: accumulator; TLAST ends the run, TUSER is \
                    {sticky, low, high, overflow}";
        let name = format!("exp_acc_{}", level.name);
        let mut stream = Stream::new(&name, role, 1, level.acc_bits, FLAG_BITS);
        for (state, &ctrl) in states.iter().zip(&beats.ctrl).filter(|(state, _)| state.updated) {
            stream.push(&[state.acc], 1, ctrl >> (RUN_LAST + index) & 1 == 1, state.flags());
        }
        streams.push(stream);
    }
    let last = arithmetic.levels.last().map_or(32, |l| l.register.port_bits);
    let per_dot = [
        (
            "stim_bias",
            "AXI4-Stream, a transfer per dot product started: bias",
            arithmetic.bias.input_bits,
            &beats.bias,
        ),
        ("exp_sum", "AXI4-Stream, a transfer per dot product finished: delivered sum", last, &beats.sums),
        (
            "exp_out",
            "AXI4-Stream, a transfer per dot product finished: output code",
            arithmetic.requantize.out_bits,
            &beats.codes,
        ),
    ];
    for (name, role, bits, values) in per_dot {
        let mut stream = Stream::new(name, role, 1, bits, 0);
        values.iter().for_each(|&value| stream.push(&[value], 1, true, 0));
        streams.push(stream);
    }
    streams
}
