//! LUTs and flip-flops of an accumulator, from a synthesis tool.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::process::Command;
use std::str::FromStr;
use std::sync::Mutex;

use guardbit_graph::Graph;
use guardbit_hwmodels::bounds::product_range;
use guardbit_hwmodels::{MacLayer, Reduce, Register};
use guardbit_num::Overflow;

use crate::StudyError;

/// Who is asked for areas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AreaTool {
    /// Yosys, mapped to the 6-input LUTs of AMD's 7 series without DSP blocks.
    Yosys,
}

/// Area of one accumulator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Area {
    pub lut: u64,
    pub ff: u64,
}

/// A tool that is there, with what it said so far.
pub(super) struct Synthesis {
    version: String,
    known: Mutex<HashMap<Accumulator, Area>>,
}

/// One serial level: what decides its area.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Accumulator {
    addend_bits: u32,
    bits: u32,
    signed: bool,
    overflow: Overflow,
}

impl FromStr for AreaTool {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "yosys" => Ok(Self::Yosys),
            _ => Err(format!("unknown tool `{name}`; there is yosys")),
        }
    }
}

impl Synthesis {
    /// The tool, if it is installed.
    pub fn new(tool: AreaTool) -> Result<Self, StudyError> {
        let AreaTool::Yosys = tool;
        let failed = |problem: String| StudyError::Area { problem };
        let output = Command::new("yosys").arg("-V").output().map_err(|e| failed(format!("yosys: {e}")))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let version = text.lines().next().filter(|line| output.status.success() && !line.is_empty());
        let version = version.ok_or_else(|| failed("yosys does not tell its version".into()))?.to_owned();
        Ok(Self { version, known: Mutex::default() })
    }

    /// The tool, its version and what it maps to.
    pub fn describe(&self) -> String {
        format!("{}, synth_xilinx -family xc7 -nodsp", self.version)
    }

    /// The levels of a layer together; `None` for what there is no circuit of here: adder trees, registers without a
    /// width, overflow modes other than wrap and the saturating ones.
    pub fn layer(&self, graph: &Graph, layer: &MacLayer) -> Result<Option<Area>, StudyError> {
        let product = product_range(graph, layer);
        let datapath = &layer.datapath;
        let mut addend_bits = match datapath.product.register {
            Register::Auto => product.shift_right(datapath.product.shift, datapath.product.round).bits(true),
            Register::Fixed { format, .. } => format.bits(),
        };
        let mut sum = Area::default();
        for level in &datapath.levels {
            let (Register::Fixed { format, overflow }, Reduce::Serial) = (level.register, level.reduce)
            else {
                return Ok(None);
            };
            let signed = format.is_signed();
            let accumulator = Accumulator { addend_bits, bits: format.bits(), signed, overflow };
            let Some(area) = self.accumulator(accumulator)? else { return Ok(None) };
            sum = Area { lut: sum.lut + area.lut, ff: sum.ff + area.ff };
            addend_bits = format.bits() - level.shift.min(format.bits() - 1);
        }
        Ok(Some(sum))
    }

    fn accumulator(&self, accumulator: Accumulator) -> Result<Option<Area>, StudyError> {
        let Some(verilog) = accumulator.verilog() else { return Ok(None) };
        let mut known = self.known.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(&area) = known.get(&accumulator) {
            return Ok(Some(area));
        }
        let area = synthesize(&verilog)?;
        known.insert(accumulator, area);
        Ok(Some(area))
    }
}

impl Accumulator {
    /// A register with its adder and a flag that says whether the last addition overflowed.
    fn verilog(self) -> Option<String> {
        let Self { addend_bits, bits, signed: true, overflow } = self else { return None };
        let wide = addend_bits.max(bits) + 1;
        let (top, sign) = (bits - 1, wide - 1);
        // The bits from the sign of the register upward are equal where the sum fits.
        let (high, low) = (format!("{{1'b0, {{{top}{{1'b1}}}}}}"), format!("{{1'b1, {{{top}{{1'b0}}}}}}"));
        let kept = format!("exact[{top}:0]");
        let otherwise = match overflow {
            Overflow::Wrap => kept.clone(),
            Overflow::Saturate => format!("exact[{sign}] ? {low} : {high}"),
            Overflow::SaturateSymmetric => format!("exact[{sign}] ? {{{low} | 1'b1}} : {high}"),
            Overflow::SaturateZero => format!("{bits}'d0"),
            _ => return None,
        };
        let least = if overflow == Overflow::SaturateSymmetric {
            format!(" & (exact[{top}:0] != {low})")
        } else {
            String::new()
        };
        let mut text = String::new();
        let _ = write!(
            text,
            "module accumulator(input clk, input clear, input signed [{a}:0] addend,\n\
             \x20                  output reg signed [{top}:0] sum, output reg overflow);\n\
             \x20 wire signed [{sign}:0] exact = sum + addend;\n\
             \x20 wire fits = ((&exact[{sign}:{top}]) | ~(|exact[{sign}:{top}])){least};\n\
             \x20 always @(posedge clk)\n\
             \x20   if (clear) begin sum <= 0; overflow <= 0; end\n\
             \x20   else begin sum <= fits ? {kept} : {otherwise}; overflow <= !fits; end\n\
             endmodule\n",
            a = addend_bits - 1,
        );
        Some(text)
    }
}

/// Runs the tool on a module called `accumulator`.
fn synthesize(verilog: &str) -> Result<Area, StudyError> {
    let failed = |problem: String| StudyError::Area { problem };
    let folder = tempfile::tempdir().map_err(|e| failed(e.to_string()))?;
    fs::write(folder.path().join("accumulator.v"), verilog).map_err(|e| failed(e.to_string()))?;
    let script = "read_verilog accumulator.v; synth_xilinx -family xc7 -flatten -noiopad -nodsp -top accumulator; \
                  tee -q -o stat.json stat -json";
    let output = Command::new("yosys").args(["-q", "-p", script]).current_dir(folder.path()).output();
    let output = output.map_err(|e| failed(format!("yosys: {e}")))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(failed(format!("yosys failed: {}", said.lines().last().unwrap_or_default())));
    }
    let text = fs::read_to_string(folder.path().join("stat.json")).map_err(|e| failed(e.to_string()))?;
    area_of(&text).ok_or_else(|| failed("yosys gave statistics that cannot be read".into()))
}

/// LUTs and flip-flops in yosys' statistics.
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
    use super::*;

    #[test]
    fn statistics_are_read() {
        let text = r#"{"design": {"num_cells_by_type": {"BUFG": 1, "CARRY4": 5, "FDRE": 15, "LUT2": 16, "LUT5": 13}}}"#;
        assert_eq!(area_of(text), Some(Area { lut: 29, ff: 15 }));
        assert_eq!(area_of("no statistics"), None);
    }

    /// The modules that are synthesized, mode by mode.
    #[test]
    fn every_mode_has_its_module() {
        let of = |overflow| Accumulator { addend_bits: 16, bits: 14, signed: true, overflow }.verilog();
        let text = of(Overflow::Saturate).unwrap();
        assert!(text.contains("wire signed [16:0] exact") && text.contains("&exact[16:13]"), "{text}");
        assert!(of(Overflow::Wrap).is_some() && of(Overflow::SaturateZero).is_some());
        assert_eq!(of(Overflow::Sticky), None);
    }
}
