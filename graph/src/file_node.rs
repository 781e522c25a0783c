//! What became of the nodes of a file.

/// A node of the file that a graph was read from, and what became of it. It decides nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileNode {
    /// Its name in the file; that of its first output where it has none.
    pub name: String,
    /// Its operator, as the file's format calls it.
    pub op: String,
    /// What became of it.
    pub outcome: FileOutcome,
}

/// What became of a node of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileOutcome {
    /// Nodes of these names were added for it, before passes; without any it stands for what it reads.
    Read(Vec<String>),
    /// Its outputs are constants.
    Constant,
    /// The node of the file of this name took it in.
    TakenIn(String),
    /// An input of the network took it in.
    OfInput,
    /// A state of the network took it in.
    OfState,
    /// Nothing reads its outputs.
    Unread,
}

impl FileNode {
    /// Names of tensors in the record.
    pub(crate) fn names_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let names = match &mut self.outcome {
            FileOutcome::Read(names) => names.as_mut_slice(),
            _ => &mut [],
        };
        names.iter_mut()
    }
}
