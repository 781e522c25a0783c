//! Shards for tasks of a Slurm job array.

use super::{Shard, ShardError};

/// Returns the shard of this task: tasks in the order of their numbers.
pub(super) fn shard(variable: impl Fn(&str) -> Option<String>) -> Result<Shard, ShardError> {
    let optional = |name: &'static str| {
        let parsed = |text: String| {
            let problem = || ShardError::Slurm {
                variable: name,
                problem: format!("is `{text}`, which is not a number"),
            };
            text.trim().parse::<usize>().map_err(|_| problem())
        };
        variable(name).map(parsed).transpose()
    };
    let number = |name: &'static str| {
        let missing = || ShardError::Slurm { variable: name, problem: "is not set".into() };
        optional(name)?.ok_or_else(missing)
    };
    let id = number("SLURM_ARRAY_TASK_ID")?;
    let count = number("SLURM_ARRAY_TASK_COUNT")?;
    let first = number("SLURM_ARRAY_TASK_MIN")?;
    let last = number("SLURM_ARRAY_TASK_MAX")?;
    let step = optional("SLURM_ARRAY_TASK_STEP")?.unwrap_or(1).max(1);
    // An array such as 1,3,7 does not reveal the index of this task.
    let is_even = last.checked_sub(first).is_some_and(|span| span % step == 0 && span / step + 1 == count);
    let place = id.checked_sub(first).filter(|place| is_even && place % step == 0);
    place.and_then(|place| Shard::new(place / step + 1, count)).ok_or(ShardError::Uneven)
}
