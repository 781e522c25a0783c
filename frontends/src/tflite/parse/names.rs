//! Names of tensors.

use std::collections::HashSet;

use guardbit_graph::{MAX_NAME_BYTES, plain_name};

/// Unique names: an empty or taken one gets `#` and a number appended.
#[derive(Debug, Default)]
pub(crate) struct Names(HashSet<String>);

impl Names {
    /// A plain name that nothing else has, made of the one stored for tensor `number`, and what a user should know of it if
    /// more than the number changed.
    pub fn give(&mut self, stored: &str, number: usize) -> (String, Option<String>) {
        let plain = plain_name(stored);
        let note = (plain != stored).then(|| match stored.len() {
            ..=MAX_NAME_BYTES => "its name holds control characters, for which `_` stands here".into(),
            length => format!("its name has {length} bytes and is cut here"),
        });
        (self.invent(&plain, number), note)
    }

    /// `plain`, or that with `#number` appended until nothing else has the name.
    pub fn invent(&mut self, plain: &str, number: usize) -> String {
        let mut name = plain.to_owned();
        while name.is_empty() || self.0.contains(&name) {
            name.push_str(&format!("#{number}"));
        }
        self.0.insert(name.clone());
        name
    }
}
