//! Folder of an exploration: simulation results and derived outputs.

use guardbit_files::Manifest;
use guardbit_reports::{ExploreRecord, explore_paths};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::explorer::Explorer;
use super::plan::Plan;
use crate::point_store::{Found, Head, Points, Stored, stored_text};
use crate::result_json::Made;
use crate::settings::ExploreRequest;
use crate::{Identity, StudyError};

/// File of the recommended accelerator.
pub(super) const RECOMMENDED: &str = "recommended.yaml";
/// Returns the file name of the accelerator of Pareto design `number`.
pub(super) fn design(number: usize) -> String {
    format!("designs/{number}.yaml")
}

/// Folder of outcomes, by the identity of the values that the hardware produces.
pub(super) const VALUES: &str = "values";
/// Folder of the results of searches, by the identity of their start.
pub(super) const SEARCHES: &str = "searches";

/// Contents of the file of an outcome or of the result of a search.
#[derive(Serialize)]
struct Seen<'a, T> {
    seen: &'a T,
}

/// Outcome or result of a search in its file.
#[derive(Deserialize)]
struct SeenBefore<T> {
    #[serde(flatten)]
    head: Head,
    seen: T,
}

impl<T: DeserializeOwned> Stored for SeenBefore<T> {
    fn head(&self) -> &Head {
        &self.head
    }
}

/// Part of the record that `explore.json` contains: nothing while the exploration is in progress.
#[derive(Serialize)]
struct Figures<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a ExploreRecord>,
}

impl Points for Plan {
    const MANIFEST: Manifest = Manifest::Explore;
    const SCHEMA: u32 = 1;

    fn identity(&self) -> Identity {
        self.identity()
    }

    fn paths(&self) -> Vec<String> {
        let designs = (0..self.most_designs()).map(design);
        explore_paths().into_iter().chain([RECOMMENDED.to_owned()]).chain(designs).collect()
    }

    fn kept(&self, _stored: usize, shown: &str) -> String {
        format!("simulated designs are kept in {shown}; run the same command again to continue")
    }
}

impl Plan {
    /// Returns the contents of `explore.json`, with the selected objectives and cost models, including defaults.
    pub fn content<'a>(&'a self, result: Option<&'a ExploreRecord>) -> Made<'a, impl Serialize> {
        let request = ExploreRequest {
            objectives: self.objectives.clone(),
            costs: self.models.iter().map(|model| model.name.clone()).collect(),
            ..self.request.clone()
        };
        Made::new(&self.subject, &self.base, request.listed(), Figures { result })
    }
}

impl Explorer<'_> {
    /// Returns the stored outcome or result of a search of this identity.
    pub fn seen<T: DeserializeOwned>(&self, folder: &str, key: Identity) -> Option<T> {
        match self.folder?.read(&file(folder, key), key) {
            Found::Same(SeenBefore { seen, .. }) => Some(seen),
            Found::Other | Found::Nothing => None,
        }
    }

    pub fn store_seen<T: Serialize>(&self, folder: &str, key: Identity, seen: &T) -> Result<(), StudyError> {
        let Some(store) = self.folder else { return Ok(()) };
        store.store(&file(folder, key), &stored_text(Plan::SCHEMA, key, &Seen { seen }))
    }
}

fn file(folder: &str, key: Identity) -> String {
    format!("{folder}/{key}.json")
}
