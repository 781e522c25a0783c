//! `costs.csv`: the cost of the parts of every layer, by each model.

use guardbit_hwmodels::cost::{CostModel, CostOf, NetworkCost, PartCost, network_cost};
use guardbit_hwmodels::{MacLayer, Program};

use super::table::table;
use crate::numbers::rounded;

table! {
    "costs.csv"
    /// Energy and hardware of one kind of part of one layer, or of the network as a whole, by one cost model.
    /// Figures that a model does not provide are blank.
    CostRow {
        /// Index of the layer over all operations of the graph; blank for the network as a whole.
        index: Option<usize>,
        /// Name of the layer; blank for the network as a whole.
        layer: String,
        /// The cost model, with the technology node that it was scaled to.
        model: String,
        /// Kind of part: multiplier, adder, register, array, sram, dram; `total` is the sum over the parts
        /// that the model provides.
        part: String,
        /// Which part: the level, the memory, or the part of the array.
        of: String,
        /// Widths and sizes; blank if they differ between layers.
        size: String,
        /// Number of instances. For the network as a whole: enough for every layer; in arrays of kind
        /// `folded`, the sum over all layers.
        instances: Option<u64>,
        /// Number of uses in one inference: products, additions, words of on-chip memories, bits of the
        /// external memory.
        accesses: Option<f64>,
        /// Energy of one inference.
        energy_pj: Option<f64> ["pJ"],
        /// Area, in `area_unit`.
        area: Option<f64>,
        /// Unit of the area.
        area_unit: String,
        /// Flip-flops.
        flip_flops: Option<f64>,
        /// Short name of the layer.
        name: String,
        /// What the row describes: a part of one `layer`, a part of the `network` as a whole, or its `total`. Only rows
        /// of the same scope may be added.
        scope: String,
    }
}

/// Returns the rows of a program by a model, and the cost of the network as a whole.
pub fn cost_rows(program: &Program, model: &CostModel) -> (Vec<CostRow>, NetworkCost) {
    let (layers, network) = network_cost(program, model);
    let mut rows = Vec::new();
    for (layer, parts) in program.mac_layers().zip(&layers) {
        rows.extend(parts.iter().map(|part| CostRow::new(Some(layer), part, model)));
    }
    rows.extend(network.parts.iter().map(|part| CostRow::new(None, part, model)));
    rows.push(CostRow::total(network.total, model));
    (rows, network)
}

/// Number of decimals of a figure, which keeps sums of decimals short.
const DECIMALS: i32 = 6;

impl CostRow {
    fn new(layer: Option<&MacLayer>, part: &PartCost, model: &CostModel) -> Self {
        Self {
            index: layer.map(|layer| layer.node.index()),
            layer: layer.map_or(String::new(), |layer| layer.name.clone()),
            part: part.part.name().to_owned(),
            of: part.of.clone(),
            size: part.size.clone(),
            instances: Some(part.instances),
            accesses: Some(rounded(part.accesses, DECIMALS)),
            name: layer.map_or(String::new(), |layer| layer.short_name.clone()),
            scope: if layer.is_some() { "layer" } else { "network" }.into(),
            ..Self::total(part.cost, model)
        }
    }

    fn total(cost: CostOf, model: &CostModel) -> Self {
        let short = |value: Option<f64>| value.map(|value| rounded(value, DECIMALS));
        Self {
            index: None,
            layer: String::new(),
            model: model.name.clone(),
            part: "total".into(),
            of: String::new(),
            size: String::new(),
            instances: None,
            accesses: None,
            energy_pj: short(cost.energy_pj),
            area: short(cost.area),
            area_unit: cost.area.map_or(String::new(), |_| model.area_unit.clone()),
            flip_flops: short(cost.flip_flops),
            name: String::new(),
            scope: "total".into(),
        }
    }
}
