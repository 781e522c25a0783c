//! Records of the nodes of a file.

/// A node of the file that a graph was read from, and its outcome. It does not affect results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileNode {
    /// Its name in the file, or the name of its first output if it has none.
    pub name: String,
    /// Its operator, by its name in the file's format.
    pub op: String,
    /// Its outcome.
    pub outcome: FileOutcome,
}

/// The outcome of a node of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileOutcome {
    /// These nodes were added for it, before passes ran. If there are none, its output is its input.
    Read(Vec<String>),
    /// Its outputs are constants.
    Constant,
    /// The node of the file with this name includes it.
    TakenIn(String),
    /// An input of the network includes it.
    OfInput,
    /// A state of the network includes it.
    OfState,
    /// Nothing reads its outputs.
    Unread,
}

impl FileNode {
    /// Returns the names of tensors in the record.
    pub(crate) fn names_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let names = match &mut self.outcome {
            FileOutcome::Read(names) => names.as_mut_slice(),
            _ => &mut [],
        };
        names.iter_mut()
    }
}
