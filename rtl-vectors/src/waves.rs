//! Waveforms of the expected accumulators together with the exact sums, as VCD and FST for GTKWave and
//! Surfer.
//!
//! Beat `n` is at `10 n` ns. Registers have their values after the beat, without latency.

use std::io;

use fst_writer::{
    FstFileType, FstHeaderWriter, FstInfo, FstScopeType, FstSignalType, FstVarDirection, FstVarType,
    FstWriteError,
};
use vcd::{SimulationCommand, TimescaleUnit, Value};

use crate::VectorError;
use crate::beats::{Beats, CLEAR, LevelState, RUN_LAST, VALID};
use crate::manifest::{Arithmetic, Case};

/// Time from one beat to the next in nanoseconds: the clock period of the bundle's bench.
const NS_PER_BEAT: u64 = 10;
/// Name of the outermost scope.
const TOP: &str = "guardbit";

/// Waveform format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaveFormat {
    /// Value change dump, a text format.
    Vcd,
    /// Fast signal trace, a binary format of about a tenth of the size.
    Fst,
}

impl WaveFormat {
    /// All formats.
    pub const ALL: [Self; 2] = [Self::Vcd, Self::Fst];

    /// Returns the name, which is the file extension too.
    pub fn name(self) -> &'static str {
        match self {
            Self::Vcd => "vcd",
            Self::Fst => "fst",
        }
    }
}

impl std::str::FromStr for WaveFormat {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|f| f.name() == name);
        found.ok_or_else(|| format!("unknown format `{name}`; expected vcd or fst"))
    }
}

/// Signal with its value after every beat.
struct Signal {
    name: &'static str,
    bits: u32,
    values: Vec<i64>,
}

/// Signals of a level, or of the whole unit.
struct Scope {
    name: String,
    signals: Vec<Signal>,
}

/// Returns the waveforms of a bundle in `format`.
pub(crate) fn waves(
    beats: &Beats,
    arithmetic: &Arithmetic,
    cases: &[Case],
    format: WaveFormat,
) -> Result<Vec<u8>, VectorError> {
    let unit = unit(beats, cases);
    let levels = levels(beats, arithmetic);
    let written = match format {
        WaveFormat::Vcd => vcd(&unit, &levels, beats.len()).map_err(|e| e.to_string()),
        WaveFormat::Fst => fst(&unit, &levels, beats.len()).map_err(|e| e.to_string()),
    };
    written.map_err(|problem| VectorError::Data { file: format!("waves.{}", format.name()), problem })
}

/// Returns the signals of the whole unit.
fn unit(beats: &Beats, cases: &[Case]) -> Vec<Signal> {
    let ctrl = |bit: u32| beats.ctrl.iter().map(|c| c >> bit & 1).collect();
    let of_case = |(index, case): (usize, &Case)| std::iter::repeat_n(index as i64, case.beats);
    vec![
        Signal { name: "beat", bits: 32, values: (0..beats.len() as i64).collect() },
        Signal { name: "case", bits: 32, values: cases.iter().enumerate().flat_map(of_case).collect() },
        Signal { name: "valid", bits: 1, values: ctrl(VALID) },
        Signal { name: "clear", bits: 1, values: ctrl(CLEAR) },
        Signal { name: "exact", bits: 64, values: beats.wide.clone() },
    ]
}

fn levels(beats: &Beats, arithmetic: &Arithmetic) -> Vec<Scope> {
    let one = |(index, level): (u32, &crate::manifest::LevelInfo)| {
        let states = &beats.states[index as usize];
        let column = |f: &dyn Fn(&LevelState) -> i64| states.iter().map(f).collect::<Vec<i64>>();
        let flag = |name, f: &dyn Fn(&LevelState) -> bool| Signal {
            name,
            bits: 1,
            values: column(&|s| f(s).into()),
        };
        let run_last = beats.ctrl.iter().map(|c| c >> (RUN_LAST + index) & 1).collect();
        let signals = vec![
            Signal { name: "acc", bits: level.acc_bits, values: column(&|s| s.acc) },
            Signal { name: "exact", bits: 64, values: column(&|s| s.exact) },
            flag("overflow", &|s| s.high || s.low),
            flag("high", &|s| s.high),
            flag("low", &|s| s.low),
            flag("sticky", &|s| s.sticky),
            flag("updated", &|s| s.updated),
            Signal { name: "run_last", bits: 1, values: run_last },
        ];
        Scope { name: identifier(&level.name), signals }
    };
    (0..).zip(&arithmetic.levels).map(one).collect()
}

/// Returns `name` without characters that end a name in a VCD.
fn identifier(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// Returns the bits of `value`, the most significant first.
fn bits(value: i64, bits: u32) -> impl Iterator<Item = bool> {
    (0..bits).rev().map(move |bit| value >> bit & 1 == 1)
}

fn vcd(unit: &[Signal], levels: &[Scope], beats: usize) -> io::Result<Vec<u8>> {
    let mut writer = vcd::Writer::new(Vec::new());
    writer.version(&version())?;
    writer.timescale(1, TimescaleUnit::NS)?;
    writer.add_module(TOP)?;
    let mut signals = Vec::new();
    for signal in unit {
        signals.push((writer.add_wire(signal.bits, signal.name)?, signal));
    }
    for level in levels {
        writer.add_module(&level.name)?;
        for signal in &level.signals {
            signals.push((writer.add_wire(signal.bits, signal.name)?, signal));
        }
        writer.upscope()?;
    }
    writer.upscope()?;
    writer.enddefinitions()?;
    for beat in 0..beats {
        writer.timestamp(beat as u64 * NS_PER_BEAT)?;
        if beat == 0 {
            writer.begin(SimulationCommand::Dumpvars)?;
        }
        for &(id, signal) in &signals {
            if changes(&signal.values, beat) {
                let value = signal.values[beat];
                match signal.bits {
                    1 => writer.change_scalar(id, value & 1 == 1)?,
                    width => writer.change_vector(id, bits(value, width).map(Value::from))?,
                }
            }
        }
        if beat == 0 {
            writer.end()?;
        }
    }
    writer.timestamp(beats as u64 * NS_PER_BEAT)?;
    Ok(std::mem::take(writer.writer()))
}

fn fst(unit: &[Signal], levels: &[Scope], beats: usize) -> Result<Vec<u8>, FstWriteError> {
    let info = FstInfo {
        start_time: 0,
        timescale_exponent: -9,
        version: version(),
        // A bundle contains no time stamps.
        date: String::new(),
        file_type: FstFileType::Verilog,
    };
    let mut header = FstHeaderWriter::write_to_mem(&info)?;
    let mut signals = Vec::new();
    let none = FstVarDirection::Implicit;
    header.scope(TOP, "", FstScopeType::Module)?;
    for signal in unit {
        let kind = FstSignalType::bit_vec(signal.bits);
        signals.push((header.var(signal.name, kind, FstVarType::Wire, none, None)?, signal));
    }
    for level in levels {
        header.scope(&level.name, "", FstScopeType::Module)?;
        for signal in &level.signals {
            let kind = FstSignalType::bit_vec(signal.bits);
            signals.push((header.var(signal.name, kind, FstVarType::Wire, none, None)?, signal));
        }
        header.up_scope()?;
    }
    header.up_scope()?;
    let mut body = header.finish()?;
    let mut digits = Vec::new();
    for beat in 0..beats {
        body.time_change(beat as u64 * NS_PER_BEAT)?;
        for &(id, signal) in &signals {
            if changes(&signal.values, beat) {
                digits.clear();
                digits.extend(bits(signal.values[beat], signal.bits).map(|bit| b'0' + u8::from(bit)));
                body.signal_change(id, &digits)?;
            }
        }
    }
    body.time_change(beats as u64 * NS_PER_BEAT)?;
    Ok(body.finish()?.into_inner())
}

fn changes(values: &[i64], beat: usize) -> bool {
    beat == 0 || values[beat] != values[beat - 1]
}

fn version() -> String {
    format!("guardbit {}", env!("CARGO_PKG_VERSION"))
}
