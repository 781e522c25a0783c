//! What an accelerator has of something, and the same accelerator with twice as much of it.

use crate::load::{MAX_ELEMENTS, MAX_RATE, MAX_SIDE};
use crate::{Accelerator, Terms};

/// What can be doubled by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Resource {
    /// The ports of activations and of weights.
    OperandPorts,
    /// The port of sums.
    AccumulatorPort,
    /// The SRAM of activations.
    ActivationSram,
    /// The SRAM of weights.
    WeightSram,
    /// The SRAM of sums.
    AccumulatorSram,
    /// The rate of the memory outside.
    Dram,
    /// The clock, with a memory outside that stays as fast as it is: it passes half as many bytes in a cycle, and its latency has
    /// twice as many cycles.
    Clock,
    /// The rows of the array. Chains of sums that are as long as a column grow with it; memories and ports do not.
    Rows,
    /// The columns of the array.
    Cols,
}

impl Resource {
    /// Every one.
    pub const ALL: [Self; 9] = [
        Self::OperandPorts,
        Self::AccumulatorPort,
        Self::ActivationSram,
        Self::WeightSram,
        Self::AccumulatorSram,
        Self::Dram,
        Self::Clock,
        Self::Rows,
        Self::Cols,
    ];

    /// The key of the accelerator that says how much of it there is.
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
        }
    }

    /// How much of it an accelerator has.
    pub fn of(self, accelerator: &Accelerator) -> f64 {
        let Accelerator { memory, array, clock_mhz, .. } = accelerator;
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
        }
    }

    /// The accelerator with twice as much of it in every layer, and nothing else changed; `None` beyond what a key may hold.
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
        }
    }
}
