//! What the layers of a program cost, and the network as a whole.

use crate::cost::{CostModel, Item, Part, items};
use crate::{ArrayKind, MacLayer, Program};

/// What the parts of one kind in one layer cost.
#[derive(Debug, Clone, PartialEq)]
pub struct PartCost {
    /// The kind.
    pub part: Part,
    /// Which: the level, the memory, or what of the array; empty where there is only one.
    pub of: String,
    /// Widths and sizes, in words.
    pub size: String,
    /// How many there are.
    pub instances: u64,
    /// How often they are used in an inference, all together.
    pub accesses: f64,
    /// What they cost.
    pub cost: CostOf,
}

/// Energy of an inference and hardware. `None` is what the model does not tell.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CostOf {
    /// In picojoules.
    pub energy_pj: Option<f64>,
    /// In the model's unit.
    pub area: Option<f64>,
    /// Flip-flops.
    pub flip_flops: Option<f64>,
}

/// What a network costs.
#[derive(Debug, Clone, PartialEq)]
pub struct NetworkCost {
    /// Part by part: energies of all layers together; hardware that serves all layers, or in arrays of kind `folded`, where each
    /// layer has its own, all of it.
    pub parts: Vec<PartCost>,
    /// The sums over the parts that the model tells.
    pub total: CostOf,
    /// Parts that are used, or there, whose energy the model does not tell.
    pub energy_without: Vec<String>,
    /// The same of areas.
    pub area_without: Vec<String>,
}

impl PartCost {
    /// Part and which of them: `adder acc`.
    pub fn label(&self) -> String {
        format!("{} {}", self.part.name(), self.of).trim_end().to_owned()
    }
}

/// What the parts of a layer cost by a model.
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
        // Arrays are told as a whole, or part by part.
        (Part::Array, false) | (Part::Multiplier | Part::Adder | Part::Register, true) => Vec::new(),
        _ => vec![cost(&item.of, model.rates(item))],
    }
}

/// What a program costs by a model: its layers, and the network as a whole.
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
    /// Adds the same parts of another layer; `beside` are there beside these, others serve both layers.
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
