//! Contents of `run.json` and `size.json`: inputs and results.

use guardbit_files::FileEntry;
use guardbit_hwmodels::Accelerator;
use serde::Serialize;

use crate::Identity;
use crate::identity::DependsOn;
use crate::subject::{FileId, HwId, InputId, Subject};

/// Version of these files.
const SCHEMA: u32 = 3;

/// JSON of a results folder. `D` is the type of the settings that decide the results, `S` of all settings,
/// `R` of the result.
#[derive(Serialize)]
pub(crate) struct ResultJson<'a, D, S, R> {
    schema: u32,
    tool: crate::Tool,
    command: &'static str,
    identity: Identity,
    depends_on: DependsOn<D>,
    model: &'a FileId,
    hw: HwId,
    input: &'a InputId,
    labels: &'a Option<FileId>,
    settings: S,
    #[serde(flatten)]
    result: R,
    files: Vec<FileEntry>,
}

impl<'a, D: Serialize, S: Serialize, R: Serialize> ResultJson<'a, D, S, R> {
    /// Returns the JSON of `subject` on `hw`.
    pub fn new(
        command: &'static str,
        subject: &'a Subject,
        hw: &Accelerator,
        deciding: D,
        settings: S,
        result: R,
        files: Vec<FileEntry>,
    ) -> Self {
        let depends_on = subject.depends_on(hw, deciding);
        Self {
            schema: SCHEMA,
            tool: crate::TOOL,
            command,
            identity: depends_on.identity(),
            depends_on,
            model: &subject.model,
            hw: HwId::of(hw),
            input: &subject.input,
            labels: &subject.labels_file,
            settings,
            result,
            files,
        }
    }
}
