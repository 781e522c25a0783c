//! What an exploration works on.

use super::plan::Plan;
use crate::Progress;
use crate::point_store::PointStore;

/// Exploration in progress.
pub(super) struct Explorer<'a> {
    pub plan: &'a Plan,
    /// Folder that keeps results, if there is one.
    pub folder: Option<&'a PointStore<'a, Plan>>,
    pub progress: &'a dyn Progress,
}
