//! Cost of a network by one model.

use guardbit_hwmodels::Program;
use guardbit_hwmodels::cost::{CostModel, NetworkCost};
use serde::{Deserialize, Serialize};

use crate::numbers::{self, grouped, rounded};
use crate::tables::{CostRow, cost_rows};

/// Energy of an inference and hardware of a network, by one cost model. Each figure sums over the parts for
/// which the model has data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CostRecord {
    /// Name of the model, with the technology to which it was scaled.
    pub model: String,
    /// Source of its figures.
    pub source: String,
    /// Costs that none of its figures covers.
    pub leaves_out: String,
    /// Energy of one inference, in picojoules.
    pub energy_pj: Option<f64>,
    /// Parts for which the model has no energy.
    pub energy_without: Vec<String>,
    /// Area.
    pub area: Option<f64>,
    /// Unit of the area.
    pub area_unit: String,
    /// Parts for which the model has no area.
    pub area_without: Vec<String>,
    /// Flip-flops.
    pub flip_flops: Option<f64>,
}

impl CostRecord {
    /// Returns the cost of a program by a model, as a whole and part by part.
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

    /// Returns the figures, one per line, e.g. `energy, aladdin-40nm` and `12.3 µJ without dram`; `exact` writes every
    /// digit.
    pub fn lines(&self, exact: bool) -> Vec<(String, String)> {
        let without = |parts: &[String]| match parts {
            [] => String::new(),
            parts => format!(" without {}", parts.join(", ")),
        };
        let whole = |value: f64| {
            if exact || value < 100.0 { value.to_string() } else { grouped(value.round() as u64) }
        };
        let mut lines = Vec::new();
        if let Some(energy) = self.energy_pj {
            lines.push((
                format!("energy, {}", self.model),
                if exact { format!("{energy} pJ") } else { numbers::energy(energy) }
                    + &without(&self.energy_without),
            ));
        }
        if let Some(area) = self.area {
            let unit = &self.area_unit;
            lines.push((
                format!("area, {}", self.model),
                format!("{} {unit}{}", whole(area), without(&self.area_without)),
            ));
        }
        if let Some(count) = self.flip_flops {
            lines.push((format!("flip-flops, {}", self.model), whole(count)));
        }
        lines
    }
}
