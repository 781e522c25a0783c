//! Names of tensors.

use std::collections::HashSet;

use guardbit_graph::{MAX_NAME_BYTES, plain_name};

/// Unique names. An empty or taken name gets `#` and a number appended.
#[derive(Debug, Default)]
pub(crate) struct Names(HashSet<String>);

impl Names {
    /// Returns a unique, displayable name made from the stored name of tensor `number`.
    ///
    /// The second value is a note for the user if more than the number changed.
    pub fn give(&mut self, stored: &str, number: usize) -> (String, Option<String>) {
        let plain = plain_name(stored);
        let note = (plain != stored).then(|| match stored.len() {
            ..=MAX_NAME_BYTES => "control characters of its name are replaced by `_`".into(),
            length => format!("its name has {length} bytes and is truncated"),
        });
        (self.invent(&plain, number), note)
    }

    /// Returns `plain`, with `#number` appended until the name is unique.
    pub fn invent(&mut self, plain: &str, number: usize) -> String {
        let mut name = plain.to_owned();
        while name.is_empty() || self.0.contains(&name) {
            name.push_str(&format!("#{number}"));
        }
        self.0.insert(name.clone());
        name
    }
}
