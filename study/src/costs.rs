//! Cost models selected for a command.

use guardbit_files::Digest;
use guardbit_hwmodels::HwError;
use guardbit_hwmodels::cost::{CostModel, load_cost};
use serde::Serialize;

/// Cost model by name and content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct CostId {
    name: String,
    sha256: Digest,
}

impl CostId {
    pub fn of(model: &CostModel) -> Self {
        Self { name: model.name.clone(), sha256: Digest::of_bytes(format!("{model:?}").as_bytes()) }
    }
}

/// Loads the models with these names or paths, without duplicates.
pub(crate) fn load(names: &[String]) -> Result<Vec<CostModel>, HwError> {
    let mut models: Vec<CostModel> = Vec::new();
    for name in names {
        let model = load_cost(name)?;
        if !models.contains(&model) {
            models.push(model);
        }
    }
    Ok(models)
}
