//! Resources of an accelerator, each of which can be doubled.

use crate::load::{MAX_ELEMENTS, MAX_RATE, MAX_SIDE};
use crate::{Accelerator, Terms};

/// Resource that can be doubled on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Resource {
    /// Ports of activations and of weights.
    OperandPorts,
    /// Port of sums.
    AccumulatorPort,
    /// SRAM of activations.
    ActivationSram,
    /// SRAM of weights.
    WeightSram,
    /// SRAM of sums.
    AccumulatorSram,
    /// Rate of external memory.
    Dram,
    /// Clock. External memory keeps its speed: it transfers half as many bytes per cycle, and its latency in
    /// cycles doubles.
    Clock,
    /// Rows of the array. Chains of sums as long as a column grow with it; memories and ports do not.
    Rows,
    /// Columns of the array.
    Cols,
    /// Clock of the host, with which its operations and its memory get faster.
    Host,
}

impl Resource {
    /// All resources.
    pub const ALL: [Self; 10] = [
        Self::OperandPorts,
        Self::AccumulatorPort,
        Self::ActivationSram,
        Self::WeightSram,
        Self::AccumulatorSram,
        Self::Dram,
        Self::Clock,
        Self::Rows,
        Self::Cols,
        Self::Host,
    ];

    /// Returns the key of the accelerator that sets the resource.
    pub fn key(self) -> &'static str {
        match self {
            Self::OperandPorts => "memory.sram_bytes_per_cycle",
            Self::AccumulatorPort => "memory.accumulator_bytes_per_cycle",
            Self::ActivationSram => "memory.activation_kib",
            Self::WeightSram => "memory.weight_kib",
            Self::AccumulatorSram => "memory.accumulator_kib",
            Self::Dram => "memory.dram_bytes_per_cycle",
            Self::Clock => "clock_mhz",
            Self::Rows => "array.rows",
            Self::Cols => "array.cols",
            Self::Host => "host.clock_mhz",
        }
    }

    /// Returns the amount of the resource that an accelerator has.
    pub fn of(self, accelerator: &Accelerator) -> f64 {
        let Accelerator { memory, array, clock_mhz, host, .. } = accelerator;
        match self {
            Self::OperandPorts => memory.sram_bytes_per_cycle,
            Self::AccumulatorPort => memory.accumulator_bytes_per_cycle,
            Self::ActivationSram => memory.activation_kib,
            Self::WeightSram => memory.weight_kib,
            Self::AccumulatorSram => memory.accumulator_kib,
            Self::Dram => memory.dram_bytes_per_cycle,
            Self::Clock => *clock_mhz,
            Self::Rows => array.rows as f64,
            Self::Cols => array.cols as f64,
            Self::Host => host.clock_mhz.unwrap_or(*clock_mhz),
        }
    }

    /// Returns the accelerator with the resource doubled in every layer, and no other change; `None` if the
    /// value would exceed that of its key.
    pub fn doubled(self, accelerator: &Accelerator) -> Option<Accelerator> {
        let mut doubled = accelerator.clone();
        self.double(&mut doubled);
        doubled.layers.values_mut().for_each(|own| self.double(own));
        let fits = |own: &Accelerator| {
            let array = own.array;
            self.of(own) <= MAX_RATE
                && array.rows.max(array.cols) <= MAX_SIDE
                && array.rows * array.cols * array.cores <= MAX_ELEMENTS
        };
        (fits(&doubled) && doubled.layers.values().all(fits)).then_some(doubled)
    }

    fn double(self, own: &mut Accelerator) {
        let twice = self.of(own) * 2.0;
        let (memory, array) = (&mut own.memory, &mut own.array);
        match self {
            Self::OperandPorts => memory.sram_bytes_per_cycle *= 2.0,
            Self::AccumulatorPort => memory.accumulator_bytes_per_cycle *= 2.0,
            Self::ActivationSram => memory.activation_kib *= 2.0,
            Self::WeightSram => memory.weight_kib *= 2.0,
            Self::AccumulatorSram => memory.accumulator_kib *= 2.0,
            Self::Dram => memory.dram_bytes_per_cycle *= 2.0,
            Self::Clock => {
                own.clock_mhz *= 2.0;
                memory.dram_bytes_per_cycle /= 2.0;
                memory.dram_latency_cycles *= 2;
            }
            Self::Rows => {
                let column = Terms::Count(array.rows);
                array.rows *= 2;
                if own.dataflow.moves_sums() {
                    let chains = own.datapath.levels.iter_mut().filter(|level| level.terms == column);
                    chains.for_each(|level| level.terms = Terms::Count(array.rows));
                }
            }
            Self::Cols => array.cols *= 2,
            Self::Host => own.host.clock_mhz = Some(twice),
        }
    }
}
