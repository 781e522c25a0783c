//! Parses text into the typed file.

use std::fmt;

use guardbit_documents::{Document, Form};
use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::problem::HwError;
use super::rules::MAX_LEVELS;
use super::typed;
use crate::file::AcceleratorFile;

/// Greatest size of a file in bytes.
pub(super) const MOST_BYTES: u64 = 1 << 20;

pub(super) const FORM: Form = Form { name: "an accelerator", most_bytes: MOST_BYTES };

/// Parses the text of a file.
pub(super) fn parse(text: &str, name: &str) -> Result<AcceleratorFile, HwError> {
    let read = Document::new(FORM, name, text).and_then(|document| document.read());
    read.map_err(|mut fault| {
        // A text that is not read at all may be one that takes long to read.
        if !fault.path.steps().is_empty() {
            fault.path = fault.path.named("accumulation", &level_names(text));
        }
        typed::explain(fault).into()
    })
}

/// Returns the names of the levels of `accumulation`; empty if its levels do not have text as names.
fn level_names(text: &str) -> Vec<Option<String>> {
    #[derive(Deserialize)]
    struct Levels {
        accumulation: Option<List>,
    }
    let file = serde_yaml::from_str::<Levels>(text);
    file.ok().and_then(|file| file.accumulation).map_or(Vec::new(), |List(names)| names)
}

/// Names of the first levels.
struct List(Vec<Option<String>>);

impl<'de> Deserialize<'de> for List {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Level {
            name: Option<String>,
        }
        struct Names;
        impl<'de> Visitor<'de> for Names {
            type Value = List;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<List, A::Error> {
                let mut names = Vec::new();
                while names.len() < MAX_LEVELS
                    && let Some(level) = list.next_element::<Level>()?
                {
                    names.push(level.name);
                }
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(List(names))
            }
        }
        deserializer.deserialize_seq(Names)
    }
}
