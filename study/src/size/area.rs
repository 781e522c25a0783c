//! LUTs and flip-flops of an accumulator from a synthesis tool.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::process::Command;
use std::str::FromStr;
use std::sync::Mutex;

use guardbit_graph::Graph;
use guardbit_hwmodels::bounds::product_range;
use guardbit_hwmodels::{Check, FloatMacLayer, Level, MacLayer, Reduce, Register, ShiftRounding};
use guardbit_num::{MAX_BITS, Overflow, Rounding};

use crate::StudyError;
use crate::settings::ReferenceRtl;

/// Maximum inputs of an adder tree that is synthesized: larger ones take minutes.
const MAX_LANES: usize = 64;

/// Tool that determines areas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AreaTool {
    /// Yosys, mapping to the 6-input LUTs of AMD's 7 series without DSP blocks.
    Yosys,
}

/// Area of one accumulator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Area {
    pub lut: u64,
    pub ff: u64,
}

/// Installed tool, with its results so far.
pub(super) struct Synthesis {
    version: String,
    rtl: ReferenceRtl,
    known: Mutex<HashMap<Circuit, Area>>,
}

/// Parameters of one level that determine its area.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Circuit {
    reduce: Reduce,
    /// Number of values that arrive at a time.
    lanes: usize,
    addend_bits: u32,
    /// Width; `None` is wide enough for everything.
    bits: Option<u32>,
    signed: bool,
    overflow: Overflow,
    hand_over: bool,
    /// Bits by which an exact sum of a run exceeds its values.
    growth: u32,
    shift: u32,
    round: Rounding,
}

impl FromStr for AreaTool {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "yosys" => Ok(Self::Yosys),
            _ => Err(format!("unknown tool `{name}`; expected yosys")),
        }
    }
}

impl Synthesis {
    /// Prepares the tool for these files, if it is installed.
    pub fn new(tool: AreaTool, rtl: ReferenceRtl) -> Result<Self, StudyError> {
        let AreaTool::Yosys = tool;
        let failed = |problem: String| StudyError::Area { problem };
        let output = Command::new("yosys").arg("-V").output().map_err(|e| failed(format!("yosys: {e}")))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let version = text.lines().next().filter(|line| output.status.success() && !line.is_empty());
        let version = version.ok_or_else(|| failed("yosys did not print its version".into()))?.to_owned();
        Ok(Self { version, rtl, known: Mutex::default() })
    }

    /// Returns the tool, its version and its target.
    pub fn describe(&self) -> String {
        format!("{}, synth_xilinx -family xc7 -nodsp, reference RTL", self.version)
    }

    /// Returns the area of a layer's levels together, each as the module of the reference RTL. Returns `None`
    /// for levels without a circuit: a serial register without a width, a tree over more than [`MAX_LANES`]
    /// values, overflow that stops the run, random rounding.
    pub fn layer(&self, graph: &Graph, layer: &MacLayer) -> Result<Option<Area>, StudyError> {
        let product = product_range(graph, layer);
        let datapath = &layer.datapath;
        let mut addend_bits = match datapath.product.register {
            Register::Auto => product.shift_right(datapath.product.shift, datapath.product.round).bits(true),
            Register::Fixed { format, .. } => {
                // Values between the modules are signed.
                let bits = format.bits() + u32::from(!format.is_signed());
                bits - datapath.product.shift.min(bits - 1)
            }
        };
        let mut values = layer.order.len();
        let mut sum = Area::default();
        for level in &datapath.levels {
            let run = level.terms.run_length(values);
            let Some(circuit) = Circuit::of(level, run, addend_bits) else { return Ok(None) };
            let area = self.circuit(circuit)?;
            sum = Area { lut: sum.lut + area.lut, ff: sum.ff + area.ff };
            addend_bits = circuit.leaving_bits();
            values = values.div_ceil(run.max(1));
        }
        Ok(Some(sum))
    }

    fn circuit(&self, circuit: Circuit) -> Result<Area, StudyError> {
        let mut known = self.known.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(&area) = known.get(&circuit) {
            return Ok(area);
        }
        let verilog = circuit.verilog();
        let files = self.rtl.integer.iter().copied().chain([("accumulator.sv", verilog.as_str())]);
        let area = Self::synthesize(files)?;
        known.insert(circuit, area);
        Ok(area)
    }

    /// Returns the area of the unit of a layer of floating-point codes. Returns `None` if there is no reference RTL of
    /// it.
    pub fn float_layer(&self, layer: &FloatMacLayer) -> Result<Option<Area>, StudyError> {
        let files = (self.rtl.float)(layer);
        let files = files.as_deref().map(|files| files.iter().map(|(name, text)| (*name, text.as_str())));
        files.map(Self::synthesize).transpose()
    }

    /// Runs the tool on files, by name and text, of which the last has a module called `accumulator`.
    fn synthesize<'a>(files: impl Iterator<Item = (&'a str, &'a str)>) -> Result<Area, StudyError> {
        let failed = |problem: String| StudyError::Area { problem };
        let folder = guardbit_files::Scratch::new("guardbit-area-").map_err(|e| failed(e.to_string()))?;
        let mut script = String::new();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).map_err(|e| failed(e.to_string()))?;
            let _ = write!(script, "read_verilog -defer -sv {name}; ");
        }
        script += "synth_xilinx -family xc7 -flatten -noiopad -nodsp -top accumulator; tee -q -o stat.json stat -json";
        let output = Command::new("yosys").args(["-q", "-p", &script]).current_dir(folder.path()).output();
        let output = output.map_err(|e| failed(format!("yosys: {e}")))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(failed(format!("yosys failed: {}", said.lines().last().unwrap_or_default())));
        }
        let text = fs::read_to_string(folder.path().join("stat.json")).map_err(|e| failed(e.to_string()))?;
        area_of(&text).ok_or_else(|| failed("cannot read the statistics of yosys".into()))
    }
}

impl Circuit {
    /// Returns a level that takes `run` values of `addend_bits` at a time.
    fn of(level: &Level, run: usize, addend_bits: u32) -> Option<Self> {
        let (bits, signed, overflow) = match level.register {
            Register::Auto => (None, true, Overflow::Wrap),
            Register::Fixed { format, overflow } => (Some(format.bits()), format.is_signed(), overflow),
        };
        let at_once = level.reduce.takes_run_at_once();
        let lanes = if at_once { run.max(1) } else { 1 };
        let buildable = if at_once { lanes <= MAX_LANES } else { bits.is_some() };
        let hand_over = level.check == Check::HandOver;
        let growth = if at_once || hand_over { run.max(1).next_power_of_two().ilog2() } else { 0 };
        let ShiftRounding::Fixed(round) = level.round else { return None };
        (buildable && !overflow.keeps_exact()).then_some(Self {
            growth,
            reduce: level.reduce,
            lanes,
            addend_bits,
            bits,
            signed,
            overflow,
            hand_over,
            shift: level.shift,
            round,
        })
    }

    /// Returns the bits of the level's register, including a sign.
    fn held_bits(&self) -> u32 {
        let exact = (self.addend_bits + self.growth).min(MAX_BITS);
        match (self.bits, self.reduce.takes_run_at_once()) {
            (None, _) => exact,
            (Some(_), false) if self.hand_over => exact,
            // A single value passes unchanged.
            (Some(_), true) => self.fitted_bits(exact).max(self.addend_bits),
            (Some(_), false) => self.fitted_bits(exact),
        }
    }

    /// Returns the bits of the level's output, including a sign.
    fn leaving_bits(&self) -> u32 {
        let held = self.held_bits();
        let bits = if self.reduce.takes_run_at_once() { held } else { self.fitted_bits(held) };
        bits - self.shift.min(bits - 1)
    }

    /// Returns the bits of a fitted sum including a sign, if sums are fitted.
    fn fitted_bits(&self, exact: u32) -> u32 {
        self.bits.map_or(exact, |bits| bits + u32::from(!self.signed))
    }

    /// Returns the module of the reference RTL with its parameters. All lanes are used, and the flags are
    /// those of the last addition.
    fn verilog(&self) -> String {
        let (addend, leaving, lanes) = (self.addend_bits, self.leaving_bits(), self.lanes);
        // Without a register within a run, the visible value is the output.
        let held = if self.reduce.takes_run_at_once() { leaving } else { self.held_bits() };
        format!(
            "module accumulator(input logic clk, rst_n, clear, valid, run_last, input logic [{top}:0] x,\n\
             \x20 output logic signed [{y}:0] y, output logic signed [{a}:0] acc, output logic high, low);\n\
             \x20 {module} #(.LANES({lanes}), .IN_W({addend}), .ACC_W({held}), .BITS({bits}), .IS_SIGNED({signed}),\n\
             \x20   .MODE({mode}), .HAND_OVER({hand_over}), .SHIFT({shift}), .ROUND({round}), .OUT_W({leaving}), .INIT_W(2)) u (\n\
             \x20   .clk(clk), .rst_n(rst_n), .clear(clear), .valid(valid), .run_last(run_last), .keep({{{lanes}{{1'b1}}}}),\n\
             \x20   .x(x), .init(2'sb00), .y(y), .acc(acc), .updated(), .high(high), .low(low), .sticky());\n\
             endmodule\n",
            top = lanes * addend as usize - 1,
            y = leaving - 1,
            a = held - 1,
            module = self.reduce.module(),
            bits = self.bits.unwrap_or(0),
            signed = u8::from(self.signed),
            mode = self.overflow.code(),
            hand_over = u8::from(self.hand_over),
            shift = self.shift,
            round = self.round.code(),
        )
    }
}

/// Reads LUTs and flip-flops from the statistics of Yosys.
fn area_of(statistics: &str) -> Option<Area> {
    // Some versions print remarks before the object.
    let json = &statistics[statistics.find('{')?..];
    let parsed: serde_json::Value = serde_json::from_str(json).ok()?;
    let mut area = Area::default();
    for (cell, count) in parsed["design"]["num_cells_by_type"].as_object()? {
        let count = count.as_u64()?;
        if cell.strip_prefix("LUT").is_some_and(|size| size.parse::<u32>().is_ok()) {
            area.lut += count;
        } else if ["FDRE", "FDSE", "FDCE", "FDPE"].contains(&cell.as_str()) {
            area.ff += count;
        }
    }
    Some(area)
}

#[cfg(test)]
mod tests {
    use guardbit_hwmodels::Terms;
    use guardbit_num::Format;

    use super::*;

    #[test]
    fn statistics_are_read() {
        let text = r#"{"design": {"num_cells_by_type": {"BUFG": 1, "CARRY4": 5, "FDRE": 15, "LUT2": 16, "LUT5": 13}}}"#;
        assert_eq!(area_of(text), Some(Area { lut: 29, ff: 15 }));
        assert_eq!(area_of("no statistics"), None);
    }

    fn level(reduce: Reduce, bits: Option<(u32, bool)>, overflow: Overflow) -> Level {
        let register = bits.map_or(Register::Auto, |(bits, signed)| Register::Fixed {
            format: Format::new(bits, signed).unwrap(),
            overflow,
        });
        let (check, round) = (Check::EachAdd, ShiftRounding::Fixed(Rounding::Floor));
        Level { name: "acc".into(), reduce, terms: Terms::All, register, check, shift: 0, round }
    }

    /// Synthesized modules, one per kind.
    #[test]
    fn every_kind_has_its_module() {
        let of = |level: &Level, run| Circuit::of(level, run, 16).map(|circuit| circuit.verilog());
        let serial = |bits, signed, mode| level(Reduce::Serial, Some((bits, signed)), mode);
        let text = of(&serial(14, true, Overflow::Saturate), 100).unwrap();
        assert!(
            text.contains("gb_level #(.LANES(1), .IN_W(16), .ACC_W(14)") && text.contains(".MODE(1)"),
            "{text}"
        );
        let text = of(&serial(14, false, Overflow::Sticky), 100).unwrap();
        assert!(
            text.contains(".ACC_W(15)") && text.contains(".IS_SIGNED(0)") && text.contains(".MODE(4)"),
            "{text}"
        );
        // Ten values of 16 bits need 4 more bits.
        let text = of(&level(Reduce::Tree, None, Overflow::Wrap), 10).unwrap();
        assert!(
            text.contains("gb_tree #(.LANES(10), .IN_W(16), .ACC_W(20), .BITS(0)")
                && text.contains(".OUT_W(20)"),
            "{text}"
        );
        assert_eq!(of(&level(Reduce::Serial, None, Overflow::Wrap), 10), None);
        assert_eq!(of(&level(Reduce::Tree, None, Overflow::Wrap), 1000), None);
        assert_eq!(of(&serial(14, true, Overflow::Trap), 10), None);
    }
}
