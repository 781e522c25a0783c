//! `points.csv` and `pareto.csv`: the designs of an exploration.

use super::table::table;
use crate::Fraction;

/// Name of the table of the Pareto front.
pub(crate) const PARETO: &str = "pareto.csv";

table! {
    "points.csv"
    /// A design: a point of the axes, or one that was found within the budget. A column per axis follows; it is
    /// blank where widths were searched.
    #[derive(Default)]
    PointRow {
        /// Number of the design: the points of the axes in order, then those that were found.
        point: usize,
        /// `axes`: a point of the axes; `mixed`: found within the budget, with widths of its own for every layer; `uniform`: the
        /// same with one width per level.
        design: String,
        /// Widths of every level, over all layers.
        widths: String,
        /// Cycles of one inference on the accelerator.
        cycles: u64 ["cycles"],
        /// Time of one inference at the clock, on the accelerator and then on the host.
        latency_us: f64 ["us"],
        /// Cycles of what the host runs in one inference, in the accelerator's clock.
        host_cycles: u64 ["cycles"],
        /// Cycles of one inference in which host and accelerator work at the same time, as far as one does not wait for what
        /// the other makes.
        overlapped_cycles: u64 ["cycles"],
        /// Area, in the unit and by the model beside it: of all parts that it tells of every design.
        area: Option<f64>,
        /// Unit of the area.
        area_unit: String,
        /// The cost model of the area.
        area_model: String,
        /// Energy of one inference, by the model beside it: of all parts that it tells of every design.
        energy_pj: Option<f64> ["pJ"],
        /// The cost model of the energy.
        energy_model: String,
        /// The resource that leaves the fewest cycles of an inference when it is twice as fast, as `bound` of bottlenecks.csv, over
        /// all layers: `compute`, `mapping`, the port of a memory, `dram`, or `host`; blank where nothing takes time.
        bound: String,
        /// Cycles of accelerator and host with that resource twice as fast, over those of the design: near 1 where no resource
        /// alone helps.
        bound_ratio: Option<f64>,
        /// Products that are needed, over those that the array could have made in all cycles.
        utilization: Option<Fraction>,
        /// Samples that were run.
        samples: u64,
        /// Accuracy.
        accuracy: Option<Fraction> = right / samples,
        /// Accuracy of the exact network.
        accuracy_exact: Option<Fraction> = right_exact / samples,
        /// Samples whose top-1 class is that of the exact network.
        top1_agreement: Option<Fraction> = agreeing / samples,
        /// Lower end of Wilson's interval of 95 % of what designs are compared by: the accuracy or the agreement.
        interval_low: Option<Fraction>,
        /// Its upper end.
        interval_high: Option<Fraction>,
        /// Output codes that differ from the exact network.
        output_mismatch: Option<u64>,
        /// The share of all output codes that differ: what a budget `mismatch=...` bounds.
        mismatch_share: Option<Fraction>,
        /// Whether it is within the budget; blank without one.
        within: Option<bool>,
        /// Whether no other design loses no more, takes no more of any objective, and less of something.
        front: bool,
        /// Whether it is recommended: of those within the budget the one with the least of the first objective.
        recommended: bool,
        /// Designs of the same number provably have the same values.
        values: usize,
        /// How its values are known: `simulated`, `shared` with another design of the same number, or `nothing overflows`.
        ran: String,
        /// The overflow that was trapped: nothing else was counted.
        trapped: Option<String>,
        /// Samples whose top-1 class is that of the exact network.
        agreeing: Option<u64>,
        /// Samples that the exact network classifies as labelled.
        right_exact: Option<u64>,
        /// Samples that the narrow hardware classifies as labelled.
        right: Option<u64>,
        /// What `guardbit hw check --model` warns of, separated by ` | `.
        warnings: String,
    }
}

table! {
    "sensitivity.csv"
    /// What doubling one thing of the chosen design alone changes: the recommended one, or of those that no other beats the one
    /// with the least of the first objective. The first row is the design as it is. Ratios are to that row; below 1 is less.
    #[derive(Default)]
    SensitivityRow {
        /// Number of the design.
        point: usize,
        /// The key whose value is twice as large; blank in the first row. With `clock_mhz` the memory outside stays as fast as it is,
        /// in time. With `array.rows` chains of sums as long as a column grow; memories and ports do not grow with the array.
        doubled: String,
        /// The value of the key in the design.
        value: Option<f64>,
        /// Cycles of one inference.
        cycles: u64 ["cycles"],
        /// Their ratio.
        cycles_ratio: Option<f64>,
        /// Time of one inference at the clock.
        latency_us: f64 ["us"],
        /// Its ratio.
        latency_ratio: Option<f64>,
        /// Area, in the unit and by the model of `points.csv`.
        area: Option<f64>,
        /// Its ratio.
        area_ratio: Option<f64>,
        /// Energy of one inference.
        energy_pj: Option<f64> ["pJ"],
        /// Its ratio.
        energy_ratio: Option<f64>,
    }
}

impl PointRow {
    /// Returns the design's cost by an objective: `cycles`, `latency`, `area` or `energy`. Returns `None` if
    /// that figure is unknown.
    pub fn takes(&self, objective: &str) -> Option<f64> {
        match objective {
            "cycles" => Some(self.cycles as f64),
            "latency" => Some(self.latency_us),
            "area" => self.area,
            "energy" => self.energy_pj,
            _ => None,
        }
    }
}
