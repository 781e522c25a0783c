//! Manifests of results: the tool, the identity, the inputs, the settings, the results and the files.

use guardbit_files::{FileEntry, ListedSettings, Manifest, Staging};
use guardbit_hwmodels::Accelerator;
use serde::Serialize;
use serde_json::Value;

use crate::identity::DependsOn;
use crate::subject::{FileId, HwId, InputId, Subject};
use crate::{Identity, StudyError};

/// Version of the manifests of a run, a sizing and a quantization.
const SCHEMA: u32 = 3;

/// Manifest of a results folder. `C` is the type of its contents.
#[derive(Serialize)]
pub(crate) struct ResultJson<C> {
    schema: u32,
    tool: crate::Tool,
    command: &'static str,
    identity: Identity,
    #[serde(flatten)]
    content: C,
    files: Vec<FileEntry>,
}

/// Contents for one network on one accelerator. `R` is the type of the result.
#[derive(Serialize)]
pub(crate) struct Made<'a, R> {
    model: &'a FileId,
    hw: HwId,
    input: &'a InputId,
    labels: &'a Option<FileId>,
    settings: ListedSettings,
    #[serde(flatten)]
    result: R,
}

impl<C: Serialize> ResultJson<C> {
    /// Returns the manifest of complete results with their files; results in progress have no files.
    pub fn new(
        manifest: Manifest,
        schema: u32,
        identity: Identity,
        content: C,
        files: Vec<FileEntry>,
    ) -> Self {
        let command = manifest.file().trim_end_matches(".json");
        Self { schema, tool: crate::TOOL, command, identity, content, files }
    }

    /// Returns whether an existing manifest has the same version and command.
    pub fn is_same_kind(&self, found: &Value) -> bool {
        found["schema"] == self.schema && found["command"] == self.command
    }

    /// Returns whether an existing manifest has the same version, command and identity.
    pub fn is_same(&self, found: &Value) -> bool {
        self.is_same_kind(found) && found["identity"] == self.identity.to_string()
    }
}

impl<'a, R: Serialize> Made<'a, R> {
    /// Returns the contents for `subject` on `hw`.
    pub fn new(subject: &'a Subject, hw: &Accelerator, settings: ListedSettings, result: R) -> Self {
        let (model, input, labels) = (&subject.model, &subject.input, &subject.labels_file);
        Self { model, hw: HwId::of(hw), input, labels, settings, result }
    }
}

/// Contents for a single result. `D` is the type of the settings that decide the result.
#[derive(Serialize)]
struct Single<'a, D, R> {
    depends_on: DependsOn<D>,
    #[serde(flatten)]
    made: Made<'a, R>,
}

/// Adds the manifest of a result of `subject` on `hw`; all other files must have been added.
pub(crate) fn write_single(
    staging: &mut Staging<'_>,
    manifest: Manifest,
    subject: &Subject,
    hw: &Accelerator,
    deciding: impl Serialize,
    settings: ListedSettings,
    result: impl Serialize,
) -> Result<(), StudyError> {
    let depends_on = subject.depends_on(hw, deciding);
    let identity = depends_on.identity();
    let content = Single { depends_on, made: Made::new(subject, hw, settings, result) };
    let json = ResultJson::new(manifest, SCHEMA, identity, content, staging.entries());
    Ok(staging.write(manifest.file(), &crate::sealed(&json))?)
}
