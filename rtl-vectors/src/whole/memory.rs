//! Places of activations that stay in the SRAM between layers.

use guardbit_hwmodels::Program;

use super::layout::{MemoryPlan, ResidentInfo};

/// Returns the plan of a program. Tensors take their place in the order in which they are produced, each at the lowest
/// address that is free as long as it stays.
pub(super) fn plan(program: &Program) -> MemoryPlan {
    let size = u64::try_from(program.activation_sram_bits()).ok();
    let mut residents: Vec<ResidentInfo> = Vec::new();
    for resident in &program.residents {
        let bits = u64::try_from(resident.bits).unwrap_or(u64::MAX);
        let (from, until) = (resident.from.index(), resident.until.index());
        let mut others: Vec<(u64, u64)> = residents
            .iter()
            .filter(|other| other.from <= until && from <= other.until)
            .filter_map(|other| Some((other.address?, other.address? + other.bits)))
            .collect();
        others.sort_unstable();
        let free = others.iter().fold(
            0,
            |free, &(start, end)| {
                if free + bits <= start { free } else { end.max(free) }
            },
        );
        residents.push(ResidentInfo {
            tensor: program.graph.tensor(resident.tensor).name.clone(),
            from,
            until,
            address: size.is_none_or(|size| free.saturating_add(bits) <= size).then_some(free),
            bits,
            is_stored: resident.is_stored,
        });
    }
    MemoryPlan { bits: size, residents }
}
