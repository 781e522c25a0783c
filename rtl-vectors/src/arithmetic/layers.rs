//! The way back: layers that compute as a manifest says.

use std::sync::Arc;

use guardbit_graph::{
    Activation, DType, DotProducts, Finish, GraphBuilder, MultiplierRule, OutputSpec, Padding, Quantization,
    Requantize, TensorType, ops::Conv2d,
};
use guardbit_hwmodels::{
    Axis, Bias, BiasPlace, Datapath, Level, MacLayer, OutputFit, Product, ReductionOrder, Register, Terms,
    Walk, lower,
};
use guardbit_num::{Format, Multiplier, Requantizer, Scheme};

use crate::VectorError;
use crate::manifest::{Arithmetic, BiasAt, Case, CaseGroup, Expected, LevelInfo, MANIFEST, RegisterInfo};

/// Layers of one output channel that compute as a manifest says: the way back, for re-checking a bundle.
pub(crate) struct Layers {
    base: MacLayer,
    scheme: Scheme,
}

impl Layers {
    pub fn new(arithmetic: &Arithmetic) -> Result<Self, VectorError> {
        let datapath = datapath(arithmetic)?;
        let requantize = &arithmetic.requantize;
        let base = synthetic(&datapath)?;
        let Finish::Requantize(mut output) = base.dots.finish.clone() else {
            return Err(manifest_error("the synthetic layer does not requantize".into()));
        };
        let code = |key: &str, value: i64| {
            i32::try_from(value).map_err(|_| manifest_error(format!("{key}: {value} does not fit 32 bits")))
        };
        output.output_zero_point = code("zero_point", requantize.zero_point)?;
        output.clamp = (code("clamp_min", requantize.clamp_min)?, code("clamp_max", requantize.clamp_max)?);
        if output.clamp.0 > output.clamp.1 {
            return Err(manifest_error("clamp_min lies above clamp_max".into()));
        }
        let dots =
            DotProducts { input_zero_point: 0, finish: Finish::Requantize(output), ..base.dots.clone() };
        Ok(Self { base: MacLayer { dots, datapath, ..base }, scheme: requantize.scheme })
    }

    /// The layer of `case`, with dot products of `terms` products.
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

/// A dot product without anything of its own.
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
        out_word: None,
        expected: Expected::default(),
    }
}

/// `layer`, cut down to `channel`, with another multiplier where one is given.
pub(crate) fn one_channel(layer: &MacLayer, channel: usize, multiplier: Option<Multiplier>) -> MacLayer {
    let shift = layer.datapath.unit_shift(layer.datapath.levels.len());
    let exact = match multiplier {
        None => layer.exact_requantizers[channel],
        Some(multiplier) => Requantizer::new(layer.exact_requantizers[channel].scheme(), multiplier),
    };
    // A multiplier of a corner case is below 1; it leaves room for the shifts of any datapath that loads.
    let scaled = exact.scaled_up(shift).unwrap_or(exact);
    MacLayer {
        bias: layer.bias.as_ref().map(|b| vec![b[channel]]),
        input_sum_factor: vec![layer.input_sum_factor[channel]],
        requantizers: vec![scaled],
        exact_requantizers: vec![exact],
        weights: Vec::new(),
        ..layer.clone()
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
            round: l.register.round,
        })
    };
    let at = match arithmetic.bias.at {
        BiasAt::Some(place) => place,
        BiasAt::None => BiasPlace::Post,
    };
    Ok(Datapath {
        zero_point: arithmetic.zero_point,
        // Beats carry operands in the order of addition already.
        order: ReductionOrder { axes: [Axis::Kh, Axis::Kw, Axis::Ic], walk: Walk::Forward, ic_block: None },
        product: Product {
            register: register(&arithmetic.product)?,
            shift: arithmetic.product.shift,
            round: arithmetic.product.round,
        },
        levels: arithmetic.levels.iter().map(level).collect::<Result<_, VectorError>>()?,
        bias: Bias { at, register: register(&arithmetic.bias.register)?, from_model: false },
        output: OutputFit::Saturate,
        scheme: Some(arithmetic.requantize.scheme),
    })
}

/// The register of a manifest.
pub(crate) fn register(info: &RegisterInfo) -> Result<Register, VectorError> {
    match (info.bits, info.overflow) {
        (Some(bits), Some(overflow)) => {
            Ok(Register::Fixed { format: Format::new(bits, info.signed)?, overflow })
        }
        _ => Ok(Register::Auto),
    }
}

/// A layer of one product: what a layer made from a manifest starts from.
fn synthetic(datapath: &Datapath) -> Result<MacLayer, VectorError> {
    let failed = |e: &dyn std::fmt::Display| manifest_error(e.to_string());
    let mut builder = GraphBuilder::new("case");
    let scaled = |shape: &[usize], scale: f32| -> Result<TensorType, VectorError> {
        let quantization = Some(Quantization::per_tensor(scale, 0).map_err(|e| failed(&e))?);
        Ok(TensorType { shape: shape.to_vec(), dtype: DType::Int8, quantization })
    };
    let requantize = Requantize { scheme: Scheme::Double, rule: MultiplierRule::Float64 };
    let op = Conv2d {
        stride: [1; 2],
        dilation: [1; 2],
        padding: Padding::Valid,
        activation: Activation::None,
        requantize,
    };
    let x = builder.input("x", scaled(&[1; 4], 1.0)?).map_err(|e| failed(&e))?;
    let w = builder.constant("w", scaled(&[1; 4], 1.0)?, vec![1]).map_err(|e| failed(&e))?;
    // Every case brings its own multiplier. This one has room for all bits that a datapath may drop.
    let quantization = scaled(&[1], 2f32.powi(40))?.quantization;
    let out = OutputSpec { name: "y".into(), dtype: DType::Int8, quantization };
    let y = builder.node(op, &[Some(x), Some(w)], out).map_err(|e| failed(&e))?;
    let graph = builder.finish(vec![y]).map_err(|e| failed(&e))?;
    let mut accelerator = guardbit_hwmodels::load("exact-int32-os", &[]).map_err(|e| failed(&e))?;
    accelerator.datapath = datapath.clone();
    let program = lower(Arc::new(graph), &accelerator).map_err(|e| failed(&e))?;
    let layer = program.mac_layers().next().cloned();
    layer.ok_or_else(|| manifest_error("the synthetic layer does not run".into()))
}

fn manifest_error(problem: String) -> VectorError {
    VectorError::Manifest { path: MANIFEST.into(), problem }
}
