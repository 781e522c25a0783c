//! `points.csv` and `pareto.csv`: the designs of an exploration.

use super::table::table;
use crate::Fraction;

/// Name of the table of the Pareto front.
pub(crate) const PARETO: &str = "pareto.csv";

table! {
    "points.csv"
    /// One design: a point of the axes, or a design found within the budget. One column per axis follows; it
    /// is blank if widths were searched.
    #[derive(Default)]
    PointRow {
        /// Number of the design: the points of the axes in order, then the designs found within the budget.
        point: usize,
        /// `axes`: a point of the axes; `mixed`: found within the budget, with different widths per layer;
        /// `uniform`: found within the budget, with one width per level.
        design: String,
        /// Widths of every level, over all layers.
        widths: String,
        /// Cycles of one inference on the accelerator.
        cycles: u64 ["cycles"],
        /// Time of one inference at the clock, on the accelerator and then on the host.
        latency_us: f64 ["us"],
        /// Cycles of the host in one inference, in the accelerator's clock.
        host_cycles: u64 ["cycles"],
        /// Cycles of one inference if host and accelerator work at the same time, except where one waits for
        /// a result of the other.
        overlapped_cycles: u64 ["cycles"],
        /// Area by `area_model`, in `area_unit`: the sum of all parts that the model provides for every
        /// design.
        area: Option<f64>,
        /// Unit of the area.
        area_unit: String,
        /// The cost model of the area.
        area_model: String,
        /// Energy of one inference by `energy_model`: the sum of all parts that the model provides for every
        /// design.
        energy_pj: Option<f64> ["pJ"],
        /// The cost model of the energy.
        energy_model: String,
        /// The resource that leaves the fewest cycles of an inference if it is twice as fast, over all
        /// layers: `host`, or a resource as in `bound` of bottlenecks.csv. Blank if nothing takes time.
        bound: String,
        /// Cycles of accelerator and host with the resource in `bound` twice as fast, as a ratio to the
        /// design's cycles; near 1 if no single resource helps.
        bound_ratio: Option<f64>,
        /// The resource that leaves the fewest cycles of the accelerator if it is twice as fast; the host
        /// does not count. Blank if no layer runs on the accelerator.
        accelerator_bound: String,
        /// Cycles of the accelerator with the resource in `accelerator_bound` twice as fast, as a ratio to
        /// `cycles`.
        accelerator_bound_ratio: Option<f64>,
        /// Products that the layers need, as a share of the products that the array could compute in all
        /// cycles.
        utilization: Option<Fraction>,
        /// Samples that were run.
        samples: u64,
        /// Accuracy.
        accuracy: Option<Fraction> = right / samples,
        /// Accuracy of the exact network.
        accuracy_exact: Option<Fraction> = right_exact / samples,
        /// Samples whose top-1 class is that of the exact network.
        top1_agreement: Option<Fraction> = agreeing / samples,
        /// Lower end of Wilson's 95 % interval of the accuracy, or of the agreement if designs are compared
        /// by it.
        interval_low: Option<Fraction>,
        /// Upper end of that interval.
        interval_high: Option<Fraction>,
        /// Output codes that differ from the exact network.
        output_mismatch: Option<u64>,
        /// Share of all output codes that differ; a budget `mismatch=...` limits it.
        mismatch_share: Option<Fraction>,
        /// Whether the design is within the budget; blank without a budget.
        within: Option<bool>,
        /// Whether the design is on the Pareto front of accuracy and objectives.
        front: bool,
        /// Whether the design is recommended: the lowest first objective within the budget.
        recommended: bool,
        /// Group of designs that provably compute the same values; equal numbers mean the same group.
        values: usize,
        /// Source of the values: `simulated`, `shared` with another design of the same group, or `nothing
        /// overflows`.
        ran: String,
        /// The overflow that was trapped: nothing else was counted.
        trapped: Option<String>,
        /// Samples whose top-1 class is that of the exact network.
        agreeing: Option<u64>,
        /// Samples that the exact network classifies as labelled.
        right_exact: Option<u64>,
        /// Samples that the narrow hardware classifies as labelled.
        right: Option<u64>,
        /// Warnings of `guardbit hw check --model`, separated by ` | `.
        warnings: String,
    }
}

table! {
    "sensitivity.csv"
    /// Effect of doubling a single key of the chosen design: the recommended design, or else the design on
    /// the Pareto front with the lowest first objective. The first row is the design unchanged. Ratios are
    /// relative to that row.
    #[derive(Default)]
    SensitivityRow {
        /// Number of the design.
        point: usize,
        /// The key whose value is doubled; blank in the first row. Doubling `clock_mhz` does not speed up the
        /// external memory. Doubling `array.rows` lengthens chains of sums that are as long as a column;
        /// memories and ports do not grow with the array.
        doubled: String,
        /// The value of the key in the design.
        value: Option<f64>,
        /// Cycles of one inference.
        cycles: u64 ["cycles"],
        /// Ratio to the first row.
        cycles_ratio: Option<f64>,
        /// Time of one inference at the clock.
        latency_us: f64 ["us"],
        /// Ratio to the first row.
        latency_ratio: Option<f64>,
        /// Area, in the unit and by the model of `points.csv`.
        area: Option<f64>,
        /// Ratio to the first row.
        area_ratio: Option<f64>,
        /// Energy of one inference.
        energy_pj: Option<f64> ["pJ"],
        /// Ratio to the first row.
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
