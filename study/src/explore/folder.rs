//! Folder of an exploration: simulation results and derived outputs.

use guardbit_files::{
    Digest, Document, Existing, FileEntry, FolderError, Manifest, Staging, Target, UNSEALED, is_sealed,
    read_text, seal_text,
};
use guardbit_reports::{ExploreRecord, Pages, explore_paths, pages_of};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::found::Found;
use super::outcome::Outcome;
use super::plan::Plan;
use crate::arguments::Listed;
use crate::settings::ExploreRequest;
use crate::subject::{FileId, HwId, InputId};
use crate::{Identity, StudyError};

/// Version of `explore.json` and of the files with simulation results.
const SCHEMA: u32 = 1;
const COMMAND: &str = "explore";
const MANIFEST: &str = Manifest::Explore.file();
/// File of the recommended accelerator.
pub(super) const RECOMMENDED: &str = "recommended.yaml";
/// Returns the file name of the accelerator of Pareto design `number`.
pub(super) fn design(number: usize) -> String {
    format!("designs/{number}.yaml")
}

/// Maximum bytes of a file.
const LIMIT: u64 = 1 << 28;

/// Output folder that belongs to one exploration.
pub(super) struct ExploreFolder<'a> {
    target: &'a Target,
    staging: Staging<'a>,
    stored: std::cell::RefCell<Vec<String>>,
}

/// Contents of `explore.json`. While the exploration is in progress it has no result and lists no files.
#[derive(Serialize)]
struct ExploreJson<'a> {
    schema: u32,
    tool: crate::Tool,
    command: &'static str,
    identity: Identity,
    model: &'a FileId,
    hw: HwId,
    input: &'a InputId,
    labels: &'a Option<FileId>,
    settings: Listed,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Summary<'a>>,
    files: Vec<FileEntry>,
}

/// Part of the record that `explore.json` contains.
#[derive(Serialize)]
struct Summary<'a> {
    #[serde(flatten)]
    record: &'a ExploreRecord,
}

/// Sealed simulation results.
#[derive(Serialize)]
struct Stored<'a, T> {
    schema: u32,
    tool: crate::Tool,
    identity: Identity,
    seen: &'a T,
    sha256: &'static str,
}

#[derive(Deserialize)]
struct Read<T> {
    schema: u32,
    identity: Identity,
    seen: T,
}

impl<'a> ExploreFolder<'a> {
    /// Opens a new folder, or one with an unfinished exploration of equal identity.
    pub fn open(target: &'a Target, existing: Existing, plan: &Plan) -> Result<Self, StudyError> {
        let json = ExploreJson::new(plan, None, Vec::new());
        let text = read_text(&target.path().join(MANIFEST), LIMIT).unwrap_or_default();
        let found: Value = serde_json::from_str(&text).ok().filter(|_| is_sealed(&text)).unwrap_or_default();
        let mut staging = target.stage()?;
        let same = found["schema"] == json.schema
            && found["command"] == json.command
            && found["identity"] == json.identity.to_string();
        if existing == Existing::Refuse && same {
            let mut paths = explore_paths();
            paths.push(RECOMMENDED.to_owned());
            paths.extend((0..plan.most_designs()).map(design));
            staging.require_ours(paths.iter().map(String::as_str))?;
        } else {
            target.check(existing)?;
            staging.write(MANIFEST, &crate::sealed(&json))?;
            staging.publish(existing)?;
        }
        let shown = target.shown().display().to_string();
        target
            .keeps(format!("simulated designs are kept in {shown}; run the same command again to continue"));
        Ok(Self { target, staging, stored: std::cell::RefCell::default() })
    }

    /// Returns the pages to write: the requested ones and the existing ones, so that no page is left without
    /// an owner.
    pub fn pages(&self, asked: Pages) -> Pages {
        let has = pages_of(|path| self.target.path().join(path).exists());
        Pages { plots: asked.plots || has.plots, report: asked.report || has.report }
    }

    /// Returns the stored outcome of these values.
    pub fn outcome(&self, key: Identity) -> Option<Outcome> {
        self.read(&format!("values/{key}.json"), key)
    }

    pub fn store_outcome(&self, key: Identity, outcome: &Outcome) -> Result<(), StudyError> {
        self.store(format!("values/{key}.json"), key, outcome)
    }

    /// Returns the stored result of a search.
    pub fn search(&self, key: Identity) -> Option<Vec<Found>> {
        self.read(&format!("searches/{key}.json"), key)
    }

    pub fn store_search(&self, key: Identity, found: &[Found]) -> Result<(), StudyError> {
        self.store(format!("searches/{key}.json"), key, &found)
    }

    fn read<T: DeserializeOwned>(&self, path: &str, key: Identity) -> Option<T> {
        let text = read_text(&self.target.path().join(path), LIMIT).ok().filter(|text| is_sealed(text))?;
        let read: Read<T> = serde_json::from_str(&text).ok()?;
        let same = read.schema == SCHEMA && read.identity == key;
        same.then(|| {
            self.stored.borrow_mut().push(path.to_owned());
            read.seen
        })
    }

    fn store<T: Serialize>(&self, path: String, identity: Identity, seen: &T) -> Result<(), StudyError> {
        let stored = Stored { schema: SCHEMA, tool: crate::TOOL, identity, seen, sha256: UNSEALED };
        let text = seal_text(&serde_json::to_string(&stored).unwrap_or_default());
        self.staging.put(&path, text.as_bytes())?;
        self.stored.borrow_mut().push(path);
        Ok(())
    }

    /// Adds the derived outputs, and lists every file in the manifest.
    pub fn complete(
        &self,
        plan: &Plan,
        record: &ExploreRecord,
        documents: &[Document],
    ) -> Result<(), StudyError> {
        let of_document =
            |(path, bytes): &Document| FileEntry { path: path.clone(), sha256: Digest::of_bytes(bytes) };
        let mut kept = self.stored.borrow().clone();
        kept.sort();
        kept.dedup();
        let of_kept = |name: &String| {
            let path = self.target.path().join(name);
            let sha256 = Digest::of_file(&path);
            let failed = |source| FolderError::Read { path, source };
            Ok(FileEntry { path: name.clone(), sha256: sha256.map_err(failed)? })
        };
        let kept = kept.iter().map(of_kept).collect::<Result<Vec<_>, FolderError>>()?;
        let mut files: Vec<FileEntry> = documents.iter().map(of_document).chain(kept).collect();
        files.sort();
        let json = ExploreJson::new(plan, Some(record), files);
        self.staging.complete(&(MANIFEST.to_owned(), crate::sealed(&json)), documents)?;
        self.target.keeps(format!("the results in {} are complete", self.target.shown().display()));
        Ok(())
    }
}

impl<'a> ExploreJson<'a> {
    fn new(plan: &'a Plan, record: Option<&'a ExploreRecord>, files: Vec<FileEntry>) -> Self {
        let (request, subject) = (&plan.request, &plan.subject);
        Self {
            schema: SCHEMA,
            tool: crate::TOOL,
            command: COMMAND,
            identity: plan.identity(),
            model: &subject.model,
            hw: HwId::of(&plan.base),
            input: &subject.input,
            labels: &subject.labels_file,
            // The selected objectives and cost models, including defaults.
            settings: ExploreRequest {
                objectives: plan.objectives.clone(),
                costs: plan.models.iter().map(|model| model.name.clone()).collect(),
                ..request.clone()
            }
            .listed(),
            result: record.map(|record| Summary { record }),
            files,
        }
    }
}
