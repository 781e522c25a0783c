//! What an exploration works on.

use super::folder::ExploreFolder;
use super::plan::Plan;
use crate::Progress;

/// Exploration in progress.
pub(super) struct Explorer<'a> {
    pub plan: &'a Plan,
    pub folder: &'a ExploreFolder<'a>,
    pub progress: &'a dyn Progress,
}
