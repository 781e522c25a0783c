//! Design of the user, which replaces the reference design of the MAC unit.

use std::path::{Path, PathBuf};

use super::simulator::Simulator;
use crate::VectorError;
use crate::manifest::Need;
use crate::profile::DutProfile;

/// Greatest size of a source file in bytes.
const MAX_SOURCE: u64 = 1 << 26;

/// Design under test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dut {
    /// Source files, in the order of compilation: SystemVerilog, or VHDL if all names end with `.vhd` or `.vhdl`.
    pub files: Vec<PathBuf>,
    /// Name of the top module in SystemVerilog; `gb_dut` if `None`.
    pub top: Option<String>,
    /// Ports of the top module.
    pub profile: DutProfile,
    /// Expected latency.
    pub latency: DutLatency,
    /// Number of runs with idle cycles and resets, each with a seed of its own.
    pub seeds: u32,
    /// Cases that need one of these are skipped.
    pub without: Vec<Need>,
}

/// Latency that a design must have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DutLatency {
    /// That of the manifest.
    #[default]
    Contract,
    /// Any.
    Any,
    /// Clock cycles from a beat to the accumulators and sums that contain it; any for the codes.
    Cycles(u32),
}

impl std::str::FromStr for DutLatency {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "any" => Ok(Self::Any),
            "contract" => Ok(Self::Contract),
            number => number.parse().map(Self::Cycles).map_err(|_| {
                format!("invalid latency `{text}`: expected contract, any or a number of cycles")
            }),
        }
    }
}

impl Dut {
    /// Returns whether the design is in VHDL.
    pub fn is_vhdl(&self) -> bool {
        let is_vhdl = |file: &PathBuf| file.extension().is_some_and(|end| end == "vhd" || end == "vhdl");
        self.files.iter().all(is_vhdl)
    }

    /// Returns the reason why `simulator` cannot run the design, if there is one.
    pub(super) fn refuses(&self, simulator: Simulator) -> Option<String> {
        match (self.is_vhdl(), simulator) {
            (true, Simulator::Ghdl) => {
                let is_known = self.profile == DutProfile::Full || self.profile.is_stream();
                let reason = "a design in VHDL is an entity gb_mac with all of its ports, or with profile stream or axis an \
                              entity gb_stream or gb_axis";
                (!is_known || self.top.is_some()).then(|| reason.into())
            }
            (true, _) => Some("the design is in VHDL".into()),
            (false, Simulator::Ghdl) => Some("the design is in SystemVerilog".into()),
            (false, _) => None,
        }
    }

    /// Returns the adapter that connects the design to the bench, unless it is a `gb_dut` with all ports.
    pub(super) fn adapter(&self) -> Option<String> {
        let is_direct =
            self.profile == DutProfile::Full && self.top.as_deref().is_none_or(|top| top == "gb_dut");
        let end = if self.is_vhdl() { "vhd" } else { "sv" };
        (!is_direct).then(|| format!("adapters/gb_dut_{}.{end}", self.profile.name()))
    }

    /// Copies the sources to `work`, and returns their paths there. Files that they include are looked for in
    /// the folders of the sources.
    pub(super) fn copied(&self, work: &Path) -> Result<Vec<String>, VectorError> {
        let folder = work.join("dut");
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| VectorError::Write { path, source }
        };
        std::fs::create_dir_all(&folder).map_err(failed(&folder))?;
        let mut copies = Vec::new();
        for (index, file) in self.files.iter().enumerate() {
            let read = guardbit_files::read(file, MAX_SOURCE);
            let text = read.map_err(|source| VectorError::Read { path: file.clone(), source })?;
            let name = format!("dut/{index}_{}", file.file_name().unwrap_or_default().to_string_lossy());
            std::fs::write(work.join(&name), text).map_err(failed(&work.join(&name)))?;
            copies.push(name);
        }
        Ok(copies)
    }

    /// Returns the folders of the sources, for files that they include.
    pub(super) fn folders(&self) -> Vec<PathBuf> {
        let mut folders: Vec<PathBuf> = Vec::new();
        for file in &self.files {
            let folder =
                file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        folders
    }
}
