//! Converts a manifest back to layers with its arithmetic.

use guardbit_graph::{
    Activation, CodeRange, DType, DotProducts, DotWeights, Finish, NodeId, OutputStage, Requantize,
    WeightCodes, Window, ops::Conv2d,
};
use guardbit_hwmodels::timing::Widths;
use guardbit_hwmodels::{
    Axis, Bias, BiasPlace, Datapath, LayerSpec, Level, MacLayer, Operands, OutputFit, Product,
    ReductionOrder, Register, Requantization, Terms, Walk, Weights, lower_dot_products,
};
use guardbit_num::{Format, Multiplier, Requantizer, Scheme};

use crate::VectorError;
use crate::manifest::{Arithmetic, BiasAt, Case, CaseGroup, Expected, LevelInfo, MANIFEST, RegisterInfo};

/// Operands are in the order of addition already.
const FORWARD: ReductionOrder =
    ReductionOrder { axes: [Axis::Kh, Axis::Kw, Axis::Ic], walk: Walk::Forward, ic_block: None };

/// Layers of one output channel that compute as a manifest says: the way back, for re-checking a bundle.
pub(crate) struct Layers {
    base: MacLayer,
    scheme: Scheme,
}

impl Layers {
    pub fn new(arithmetic: &Arithmetic) -> Result<Self, VectorError> {
        let datapath = datapath(arithmetic)?;
        let requantize = &arithmetic.requantize;
        let code = |key: &str, value: i64| {
            i32::try_from(value).map_err(|_| manifest_error(format!("{key}: {value} does not fit 32 bits")))
        };
        let output_zero_point = code("zero_point", requantize.zero_point)?;
        let clamp = (code("clamp_min", requantize.clamp_min)?, code("clamp_max", requantize.clamp_max)?);
        if clamp.0 > clamp.1 {
            return Err(manifest_error("clamp_min exceeds clamp_max".into()));
        }
        let output = OutputStage {
            requantize: Requantize::default(),
            input_scale: 1.0,
            weight_scales: vec![1.0],
            // Every case has its own multiplier. This scale leaves room for all bits that a datapath may
            // drop.
            output_scale: 2f32.powi(40),
            output_zero_point,
            activation: Activation::None,
            clamp,
        };
        Ok(Self { base: synthetic(&datapath, output)?, scheme: requantize.scheme })
    }

    /// Returns the layer of `case`, with dot products of `terms` products.
    pub fn of(&self, case: &Case, terms: usize) -> Result<MacLayer, VectorError> {
        let exact = Requantizer::new(self.scheme, Multiplier::new(case.multiplier)?);
        let datapath = &self.base.datapath;
        Ok(MacLayer {
            name: case.id.clone(),
            order: (0..terms).collect(),
            bias: case.bias.map(|b| vec![b.into()]),
            input_sum_factor: vec![case.input_sum_factor],
            requantizers: vec![exact.scaled_up(datapath.unit_shift(datapath.levels.len()))?],
            exact_requantizers: vec![exact],
            ..self.base.clone()
        })
    }
}

/// Returns a case for dot products without individual settings.
pub(crate) fn any_case(terms: usize, bias: Option<i64>) -> Case {
    Case {
        id: "live".into(),
        group: CaseGroup::Corner,
        class: String::new(),
        place: None,
        bias,
        input_sum_factor: 0,
        multiplier: 0.0,
        first_beat: 0,
        beats: 0,
        terms,
        needs: Vec::new(),
        out_word: None,
        expected: Expected::default(),
    }
}

/// Returns `layer` reduced to `channel`, with `multiplier` if given.
pub(crate) fn one_channel(layer: &MacLayer, channel: usize, multiplier: Option<Multiplier>) -> MacLayer {
    let shift = layer.datapath.unit_shift(layer.datapath.levels.len());
    let exact = match multiplier {
        None => layer.exact_requantizers[channel],
        Some(multiplier) => Requantizer::new(layer.exact_requantizers[channel].scheme(), multiplier),
    };
    // The multiplier of a corner case is below 1, which leaves room for the shifts of any datapath that can
    // be loaded.
    let scaled = exact.scaled_up(shift).unwrap_or(exact);
    // There is one for every case: neither the weights nor the order of the layer, which operands are in already.
    MacLayer {
        node: layer.node,
        name: layer.name.clone(),
        short_name: layer.short_name.clone(),
        op: layer.op,
        dots: layer.dots.clone(),
        datapath: Datapath { order: FORWARD, ..layer.datapath.clone() },
        order: Vec::new(),
        weights: Weights::none(),
        bias: layer.bias.as_ref().map(|b| vec![b[channel]]),
        input_sum_factor: vec![layer.input_sum_factor[channel]],
        weight_sum_factor: layer.weight_sum_factor,
        requantizers: vec![scaled],
        exact_requantizers: vec![exact],
        output_range: layer.output_range,
        widths: layer.widths,
        packing: layer.packing,
        timing: layer.timing.clone(),
    }
}

fn datapath(arithmetic: &Arithmetic) -> Result<Datapath, VectorError> {
    let level = |l: &LevelInfo| {
        Ok(Level {
            name: l.name.clone(),
            reduce: l.reduce,
            terms: l.terms.map_or(Terms::All, Terms::Count),
            register: register(&l.register)?,
            check: l.check,
            shift: l.register.shift,
            round: l.register.round.into(),
        })
    };
    let at = match arithmetic.bias.at {
        BiasAt::Some(place) => place,
        BiasAt::None => BiasPlace::Post,
    };
    Ok(Datapath {
        operands: Operands { zero_point: arithmetic.zero_point },
        order: FORWARD,
        product: Product {
            register: register(&arithmetic.product)?,
            shift: arithmetic.product.shift,
            round: arithmetic.product.round.into(),
        },
        levels: arithmetic.levels.iter().map(level).collect::<Result<_, VectorError>>()?,
        bias: Bias { at, register: register(&arithmetic.bias.register)?, from_model: false },
        requantize: Requantization {
            scheme: Some(arithmetic.requantize.scheme),
            output: OutputFit::Saturate,
        },
    })
}

/// Returns the register that a manifest describes.
pub(crate) fn register(info: &RegisterInfo) -> Result<Register, VectorError> {
    match (info.bits, info.overflow) {
        (Some(bits), Some(overflow)) => {
            Ok(Register::Fixed { format: Format::new(bits, info.signed)?, overflow })
        }
        (None, None) => Ok(Register::Auto),
        (Some(bits), None) => Err(manifest_error(format!("a register of {bits} bits has no overflow mode"))),
        (None, Some(mode)) => {
            Err(manifest_error(format!("a register with overflow mode {mode} has no width")))
        }
    }
}

/// Returns a layer of one product with the given output stage, the basis of layers built from a manifest.
fn synthetic(datapath: &Datapath, output: OutputStage) -> Result<MacLayer, VectorError> {
    let failed = |e: &dyn std::fmt::Display| manifest_error(e.to_string());
    let weights = DotWeights {
        codes: WeightCodes::Constant(vec![1].into()),
        zero_points: vec![0],
        strides: [1, 0, 0, 1],
    };
    let dots = DotProducts {
        window: Window::dense(1, 1, 1),
        input_zero_point: 0,
        weights: Some(weights),
        bias: None,
        finish: Finish::Requantize(output),
    };
    let name = String::from("case");
    let spec = LayerSpec {
        node: NodeId::default(),
        short_name: name.clone(),
        name,
        op: Conv2d::KIND.name,
        output: CodeRange::of(DType::Int8),
        widths: Widths { activation: 8, weight: 8, output: 8, constants: 0 },
    };
    let mut accelerator = guardbit_hwmodels::load("exact-int32-os", &[]).map_err(|e| failed(&e))?;
    accelerator.datapath = datapath.clone();
    lower_dot_products(spec, dots, &accelerator).map_err(|e| failed(&e))
}

fn manifest_error(problem: String) -> VectorError {
    VectorError::Manifest { path: MANIFEST.into(), problem }
}

#[cfg(test)]
mod tests {
    use guardbit_num::{Overflow, Rounding};

    use super::*;

    #[test]
    fn a_width_and_a_mode_come_together() {
        let made = |bits, overflow| {
            let info = RegisterInfo {
                bits,
                signed: true,
                overflow,
                shift: 0,
                round: Rounding::Floor,
                port_bits: 16,
            };
            register(&info).ok()
        };
        let format = Format::signed(14).unwrap();
        let wraps = Register::Fixed { format, overflow: Overflow::Wrap };
        assert_eq!(made(Some(14), Some(Overflow::Wrap)), Some(wraps));
        assert_eq!(made(None, None), Some(Register::Auto));
        assert_eq!([made(Some(14), None), made(None, Some(Overflow::Wrap))], [None, None]);
    }
}
