//! Shards: parts of a plan that run separately on many machines. Defines the points of each, and merges them.

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

/// Shard `index` of `count`: the points from `points * (index - 1) / count` to `points * index / count` of a
/// plan.
///
/// Points that share work are adjacent in a plan, so shards are contiguous. A shard of a plan with fewer
/// points than shards may be empty.
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

/// Invalid shard.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShardError {
    /// Text that is not a shard.
    #[error("invalid shard `{0}`: expected I/N, e.g. 1/4, or slurm in a job array")]
    NoShard(String),
    /// Problem with an environment variable of a job array's task.
    #[error("{variable} {problem}: `slurm` is for a task of a job array (sbatch --array)")]
    Slurm {
        /// Name of the variable.
        variable: &'static str,
        /// Description of the problem.
        problem: String,
    },
    /// Job array whose tasks are not numbered evenly.
    #[error(
        "the tasks of this job array are not numbered consecutively: write I/N, where N is the number of \
         shards"
    )]
    Uneven,
}

impl Shard {
    /// Maximum number of shards.
    pub const MOST: usize = 1_000_000;

    /// Returns shard `index` of `count`; `None` unless `index` is from 1 to `count`, and `count` at most
    /// [`MOST`](Self::MOST).
    pub fn new(index: usize, count: usize) -> Option<Self> {
        ((1..=count).contains(&index) && count <= Self::MOST).then_some(Self { index, count })
    }

    /// Returns the shard of this task of a Slurm job array, from `SLURM_ARRAY_TASK_ID`, `_COUNT`, `_MIN` and
    /// `_STEP`; the array may start at any number. `variable` looks up one variable.
    ///
    /// # Errors
    /// [`ShardError`] if a variable is missing, or the array's tasks are not numbered evenly.
    pub fn of_slurm(variable: impl Fn(&str) -> Option<String>) -> Result<Self, ShardError> {
        slurm::shard(variable)
    }

    /// Returns the index, from 1.
    pub fn index(self) -> usize {
        self.index
    }

    /// Returns the number of shards.
    pub fn count(self) -> usize {
        self.count
    }

    /// Returns the indices of the shard's points in a plan of `points` points.
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

/// Keys that the manifest of a shard has in addition to those of the whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ShardJson {
    #[serde(flatten)]
    pub shard: Shard,
    /// Whether every point of the shard is stored.
    pub complete: bool,
    /// File format of the tables of the whole.
    #[serde(default, skip_serializing_if = "is_csv")]
    pub format: TableFormat,
    /// Report description of the whole, so that a merge does not need the networks.
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
