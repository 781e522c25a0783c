//! What a network costs by one model.

use guardbit_hwmodels::Program;
use guardbit_hwmodels::cost::{CostModel, NetworkCost};
use serde::{Deserialize, Serialize};

use crate::numbers::rounded;
use crate::tables::{CostRow, cost_rows};

/// Energy of an inference and hardware of a network, by one cost model. The figures are the sums over what the model tells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CostRecord {
    /// The model, with the technology that it was scaled to.
    pub model: String,
    /// Where its figures are from.
    pub source: String,
    /// What no figure of it covers.
    pub leaves_out: String,
    /// Energy of one inference, in picojoules.
    pub energy_pj: Option<f64>,
    /// Parts whose energy the model does not tell.
    pub energy_without: Vec<String>,
    /// Area.
    pub area: Option<f64>,
    /// Unit of the area.
    pub area_unit: String,
    /// Parts whose area the model does not tell.
    pub area_without: Vec<String>,
    /// Flip-flops.
    pub flip_flops: Option<f64>,
}

impl CostRecord {
    /// What a program costs by a model, part by part and as a whole.
    pub fn of(program: &Program, model: &CostModel) -> (Self, Vec<CostRow>) {
        let (rows, network) = cost_rows(program, model);
        (Self::new(network, model), rows)
    }

    fn new(network: NetworkCost, model: &CostModel) -> Self {
        let short = |value: Option<f64>| value.map(|value| rounded(value, 6));
        let NetworkCost { total, energy_without, area_without, .. } = network;
        Self {
            model: model.name.clone(),
            source: model.source.clone(),
            leaves_out: model.leaves_out.clone(),
            energy_pj: short(total.energy_pj),
            energy_without: if total.energy_pj.is_some() { energy_without } else { Vec::new() },
            area: short(total.area),
            area_unit: model.area_unit.clone(),
            area_without: if total.area.is_some() { area_without } else { Vec::new() },
            flip_flops: short(total.flip_flops),
        }
    }

    /// Its figures, a line each: `aladdin-40nm: 12.3 uJ without dram`.
    pub fn lines(&self) -> Vec<(String, String)> {
        let without = |parts: &[String]| match parts {
            [] => String::new(),
            parts => format!(" without {}", parts.join(", ")),
        };
        let mut lines = Vec::new();
        if let Some(energy) = self.energy_pj {
            lines.push((
                format!("energy, {}", self.model),
                format!("{energy} pJ{}", without(&self.energy_without)),
            ));
        }
        if let Some(area) = self.area {
            let unit = &self.area_unit;
            lines.push((
                format!("area, {}", self.model),
                format!("{area} {unit}{}", without(&self.area_without)),
            ));
        }
        if let Some(count) = self.flip_flops {
            lines.push((format!("flip-flops, {}", self.model), count.to_string()));
        }
        lines
    }
}
