//! Parts of a plan that are run apart, on many machines: which points each has, and how the parts become one folder again.

mod merge;
mod slurm;
mod status;

pub use merge::{MergeError, Unfinished};
pub(crate) use merge::{Merged, check_output};
pub use status::{FolderStatus, MissingPoint, State, Status, SweepStatus, status};

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{StudyError, TableFormat};

/// Part `index` of `count` of a plan's points: those from `points * (index - 1) / count` to `points * index / count`.
///
/// Points that share work stand beside each other in a plan, so parts are pieces of it. A part of a plan with fewer points than
/// parts may have none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "RawShard")]
pub struct Shard {
    index: usize,
    count: usize,
}

#[derive(Deserialize)]
struct RawShard {
    index: usize,
    count: usize,
}

impl TryFrom<RawShard> for Shard {
    type Error = ShardError;

    fn try_from(RawShard { index, count }: RawShard) -> Result<Self, ShardError> {
        Self::new(index, count).ok_or_else(|| ShardError::NoShard(format!("{index}/{count}")))
    }
}

/// A part that there cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShardError {
    /// A text that is none.
    #[error("`{0}` is no shard: write I/N, as 1/4 to 4/4, or slurm in a job array")]
    NoShard(String),
    /// A variable that a task of a job array has.
    #[error("{variable} {problem}: `slurm` is for a task of a job array (sbatch --array)")]
    Slurm {
        /// The variable.
        variable: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// An array of which tasks are left out.
    #[error("the tasks of this job array are not numbered evenly: write I/N, with the number of all shards")]
    Uneven,
}

impl Shard {
    /// Most parts.
    pub const MOST: usize = 1_000_000;

    /// Part `index` of `count`; `None` unless `index` is from 1 to `count`, and `count` at most [`MOST`](Self::MOST).
    pub fn new(index: usize, count: usize) -> Option<Self> {
        ((1..=count).contains(&index) && count <= Self::MOST).then_some(Self { index, count })
    }

    /// That of this task of a Slurm job array, by `SLURM_ARRAY_TASK_ID`, `_COUNT`, `_MIN` and `_STEP`; arrays may begin
    /// anywhere. `variable` looks one up.
    ///
    /// # Errors
    /// [`ShardError`] if one of them is missing, or the array's tasks are not numbered evenly.
    pub fn of_slurm(variable: impl Fn(&str) -> Option<String>) -> Result<Self, ShardError> {
        slurm::shard(variable)
    }

    /// From 1.
    pub fn index(self) -> usize {
        self.index
    }

    /// How many parts there are.
    pub fn count(self) -> usize {
        self.count
    }

    /// The indices of its points, of a plan with so many.
    pub fn points(self, points: usize) -> Range<usize> {
        let start = |part: usize| (points as u128 * part as u128 / self.count as u128) as usize;
        start(self.index - 1)..start(self.index)
    }
}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        let parsed = text.split_once('/').and_then(|(index, count)| {
            let number = |text: &str| text.parse::<usize>().ok();
            Self::new(number(index)?, number(count)?)
        });
        parsed.ok_or_else(|| ShardError::NoShard(text.into()))
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

/// What the manifest of a part says beside what that of the whole does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ShardJson {
    #[serde(flatten)]
    pub shard: Shard,
    /// Whether every point of it is stored.
    pub complete: bool,
    /// In what files the tables of the whole are written.
    #[serde(default, skip_serializing_if = "is_csv")]
    pub format: TableFormat,
    /// What the report of the whole says, which no machine needs the networks for then.
    pub about: guardbit_reports::About,
}

fn is_csv(format: &TableFormat) -> bool {
    *format == TableFormat::Csv
}

impl From<MergeError> for StudyError {
    fn from(error: MergeError) -> Self {
        Self::Merge(Box::new(error))
    }
}
