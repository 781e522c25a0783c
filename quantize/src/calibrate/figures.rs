//! Figures of calibration about tensors and units.

use guardbit_graph::TensorId;

use super::Calibration;
use crate::patterns::Output;
use crate::simulated::Reading;
use crate::statistics::{self, Likeness};
use crate::{LayerClass, TensorCodes};

/// Result of a unit after calibration.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitFigures {
    /// Full name of its output.
    pub name: String,
    /// Name of the pattern that it matches.
    pub pattern: &'static str,
    /// Class of the layer, if it is one.
    pub class: Option<LayerClass>,
    /// Reason why it stays in float, if it does.
    pub float: Option<String>,
    /// Similarity of its output to that of the float network, on all samples.
    pub likeness: Likeness,
    /// Width of its weights in bits, if it is a layer on codes.
    pub weight_bits: Option<u32>,
    /// Number of sums that a float32 cannot hold exactly (beyond 2^24), which the runtime's multiplication
    /// rounds first.
    pub rounded_sums: u64,
    /// Full name of its layer in the quantized network: the name of the part itself, except that a layer of
    /// floating-point codes has the name of its products. `None` if it has no layer.
    pub layer: Option<String>,
}

/// Tensor of codes after calibration.
#[derive(Debug, Clone, PartialEq)]
pub struct TensorFigures {
    /// Its name.
    pub name: String,
    /// Least and greatest value in the float network.
    pub float_range: [f32; 2],
    /// Least and greatest real value of the codes.
    pub covered: [f32; 2],
    /// Codes of the tensor.
    pub codes: TensorCodes,
    /// Number of values in the samples.
    pub values: u64,
    /// Number of values with the least, and with the greatest code.
    pub at_ends: [u64; 2],
    /// Histogram of the float network's real values in `BINS` parts of `float_range`.
    pub histogram: Vec<u64>,
}

/// Number of bins of a histogram.
const BINS: usize = 64;

/// Returns the least and the greatest value, the number of values, and their histogram.
pub(crate) fn distribution(reals: impl Iterator<Item = f32> + Clone) -> ([f32; 2], u64, Vec<u64>) {
    let (mut low, mut high, mut values) = (f32::INFINITY, f32::NEG_INFINITY, 0);
    for value in reals.clone() {
        (low, high, values) = (low.min(value), high.max(value), values + 1);
    }
    let mut histogram = vec![0; BINS];
    reals.for_each(|value| histogram[statistics::bin(value, [low, high], BINS)] += 1);
    ([low, high], values, histogram)
}

impl Calibration<'_, '_> {
    /// Returns the result of a unit.
    pub(super) fn unit_figures(&self, index: usize) -> UnitFigures {
        let plan = self.simulated.plan;
        let unit = &plan.units()[index];
        let codes = self.simulated.variable(unit.output);
        let mut likeness = Likeness::default();
        for state in &self.states {
            let float = state.reals(unit.output, Reading::Float, None);
            likeness.add(&float, &state.reals(unit.output, Reading::Simulated, codes));
        }
        UnitFigures {
            name: plan.graph().tensor(unit.output).name.clone(),
            pattern: unit.pattern(),
            class: unit.class(),
            float: self.simulated.reason(index).map(str::to_owned),
            likeness,
            weight_bits: self.simulated.weights(index).map(|codes| codes.setting.bits),
            rounded_sums: self.rounded_sums.get(&index).copied().unwrap_or(0),
            layer: unit.class().map(|_| plan.graph().tensor(unit.output).name.clone()),
        }
    }

    /// Records the figures of a tensor whose codes were computed.
    pub(super) fn tensor_figures(&mut self, id: TensorId) {
        let Some(codes) = self.simulated.variable(id) else { return };
        let maker = self.simulated.plan.units().iter().position(|unit| unit.output == id);
        if maker.is_some_and(|unit| self.is_moved(unit)) {
            return;
        }
        let figures = self.figures_of(id, codes);
        self.tensors.retain(|known| known.name != figures.name);
        self.tensors.push(figures);
    }

    /// Returns whether a unit's output has the codes of its input.
    pub(super) fn is_moved(&self, index: usize) -> bool {
        let unit = &self.simulated.plan.units()[index];
        let codes = |id| self.simulated.variable(id);
        match unit.forms.as_ref().map(|forms| forms.output()) {
            Some(Output::AsInput) => true,
            Some(Output::AsInputAtFirst) => codes(unit.inputs[0]) == codes(unit.output),
            _ => false,
        }
    }

    fn figures_of(&self, id: TensorId, codes: TensorCodes) -> TensorFigures {
        let float = self.states.iter().flat_map(|state| state.reals(id, Reading::Float, None));
        let (float_range, values, histogram) = distribution(float);
        let mut at_ends = [0; 2];
        for code in self
            .states
            .iter()
            .filter_map(|state| state.codes[id.index()].as_ref())
            .flat_map(|codes| codes.to_vec())
        {
            at_ends[0] += u64::from(code == codes.range.min());
            at_ends[1] += u64::from(code == codes.range.max());
        }
        TensorFigures {
            name: self.simulated.plan.graph().tensor(id).name.clone(),
            float_range,
            covered: [codes.real(codes.range.min()), codes.real(codes.range.max())],
            codes,
            values,
            at_ends,
            histogram,
        }
    }
}
