//! Cost of the layers of a program, and of the network as a whole.

use crate::cost::{CostModel, Item, Part, items};
use crate::{ArrayKind, MacLayer, Program};

/// Cost of the parts of one kind in one layer.
#[derive(Debug, Clone, PartialEq)]
pub struct PartCost {
    /// Kind of the parts.
    pub part: Part,
    /// Level, memory or aspect of the array; empty if there is only one.
    pub of: String,
    /// Widths and sizes, in words.
    pub size: String,
    /// Number of instances.
    pub instances: u64,
    /// Number of accesses of all instances in one inference.
    pub accesses: f64,
    /// Cost of the parts.
    pub cost: CostOf,
}

/// Energy of an inference and hardware. `None` marks figures that the model does not provide.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CostOf {
    /// Energy in picojoules.
    pub energy_pj: Option<f64>,
    /// Area in the model's unit.
    pub area: Option<f64>,
    /// Flip-flops.
    pub flip_flops: Option<f64>,
}

/// Cost of a network.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct NetworkCost {
    /// Cost part by part. Energies are sums over all layers. Hardware serves all layers, except in arrays of
    /// kind `folded`, where each layer has its own and the sum is given.
    pub parts: Vec<PartCost>,
    /// Sums over the parts for which the model has figures.
    pub total: CostOf,
    /// Parts that are used or present, for which the model has no energy.
    pub energy_without: Vec<String>,
    /// Parts that are present, for which the model has no area.
    pub area_without: Vec<String>,
}

impl PartCost {
    /// Returns kind and name of the part, e.g. `adder acc`.
    pub fn label(&self) -> String {
        format!("{} {}", self.part.name(), self.of).trim_end().to_owned()
    }
}

/// Returns the cost of the parts of a layer by a model.
pub fn layer_costs(program: &Program, layer: &MacLayer, model: &CostModel) -> Vec<PartCost> {
    let accelerator = program.accelerator_of(layer.node);
    let items = items(&program.graph, accelerator, layer);
    items.iter().flat_map(|item| costs(item, model)).collect()
}

fn costs(item: &Item, model: &CostModel) -> Vec<PartCost> {
    let Item { part, instances, accesses, .. } = *item;
    let cost = |of: &str, rates: crate::cost::Rates| PartCost {
        part,
        of: of.to_owned(),
        size: item.describe(),
        instances,
        accesses,
        cost: CostOf {
            energy_pj: rates.energy.map(|energy| energy * accesses),
            area: rates.area.map(|area| area * instances as f64).filter(|_| instances > 0),
            flip_flops: rates.flip_flops.map(|count| count * instances as f64).filter(|_| instances > 0),
        },
    };
    match (part, model.tells_arrays()) {
        (Part::Array, true) => model.of_arrays(item).map(|(of, rates)| cost(of, rates)).collect(),
        // A model describes arrays either as a whole or part by part.
        (Part::Array, false) | (Part::Multiplier | Part::Adder | Part::Register, true) => Vec::new(),
        _ => vec![cost(&item.of, model.rates(item))],
    }
}

/// Returns the cost of a program by a model: of its layers, and of the network as a whole.
pub fn network_cost(program: &Program, model: &CostModel) -> (Vec<Vec<PartCost>>, NetworkCost) {
    let layers: Vec<Vec<PartCost>> =
        program.mac_layers().map(|layer| layer_costs(program, layer, model)).collect();
    let own_arrays = program.accelerator.array.kind == ArrayKind::Folded;
    let mut parts: Vec<PartCost> = Vec::new();
    for part in layers.iter().flatten() {
        match parts.iter_mut().find(|known| (known.part, &known.of) == (part.part, &part.of)) {
            Some(known) => known.join(part, own_arrays && !matches!(part.part, Part::Sram)),
            None => parts.push(part.clone()),
        }
    }
    let network = NetworkCost::new(parts, model);
    (layers, network)
}

impl PartCost {
    /// Adds the corresponding parts of another layer. With `beside`, these are further hardware; otherwise
    /// one instance serves both layers.
    fn join(&mut self, other: &Self, beside: bool) {
        let both = |a: Option<f64>, b: Option<f64>, join: fn(f64, f64) -> f64| Some(join(a?, b?));
        let hardware = |a, b| both(a, b, if beside { |a, b| a + b } else { f64::max });
        let cost = &mut self.cost;
        cost.energy_pj = both(cost.energy_pj, other.cost.energy_pj, |a, b| a + b);
        cost.area = hardware(cost.area, other.cost.area);
        cost.flip_flops = hardware(cost.flip_flops, other.cost.flip_flops);
        self.accesses += other.accesses;
        self.instances =
            if beside { self.instances + other.instances } else { self.instances.max(other.instances) };
        if self.size != other.size {
            self.size.clear();
        }
    }
}

impl NetworkCost {
    fn new(parts: Vec<PartCost>, model: &CostModel) -> Self {
        let [energies, areas, flip_flops] = model.tells();
        let sum = |told: bool, of: fn(&CostOf) -> Option<f64>| {
            told.then(|| parts.iter().filter_map(|part| of(&part.cost)).fold(0.0, |sum, cost| sum + cost))
        };
        let total = CostOf {
            energy_pj: sum(energies, |cost| cost.energy_pj),
            area: sum(areas, |cost| cost.area),
            flip_flops: sum(flip_flops, |cost| cost.flip_flops),
        };
        let without = |is: &dyn Fn(&PartCost) -> bool| -> Vec<String> {
            parts.iter().filter(|part| is(part)).map(PartCost::label).collect()
        };
        let energy_without = without(&|part| part.accesses > 0.0 && part.cost.energy_pj.is_none());
        let area_without = without(&|part| part.instances > 0 && part.cost.area.is_none());
        Self { total, energy_without, area_without, parts }
    }
}
