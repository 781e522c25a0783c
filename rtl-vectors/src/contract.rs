//! The arithmetic contract of a layer, from the lowered layer and back.

mod layers;

use guardbit_graph::{DType, Finish, Graph};
use guardbit_hwmodels::{
    BiasPlace, Check, Datapath, Level, MacLayer, OutputFit, Packing, Reduce, ReductionOrder, Register, Terms,
    Walk, ZeroPoint,
};
use guardbit_num::{Overflow, Requantizer, Rounding, Scheme, required_bits};

pub(crate) use layers::{Layers, any_case, one_channel, register, rounding};

use crate::VectorError;
use crate::describe::formula;
use crate::manifest::{Arithmetic, BiasInfo, LevelInfo, Operand, RequantizeInfo, Stage};
use crate::sizes::MAX_LEVELS;

/// Schemes that `gb_requant.sv` has.
const RTL_SCHEMES: [Scheme; 4] = [Scheme::Double, Scheme::Single, Scheme::Away, Scheme::Float64Away];
/// Least exponent of a float64 multiplier: with a smaller one every sum of [`MAX_WORD`] bits gives 0.
const MIN_EXPONENT: i32 = -64;
/// Widest word of one value.
const MAX_WORD: u32 = 62;

/// A closed interval of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Range {
    pub min: i128,
    pub max: i128,
}

impl Range {
    pub fn join(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// Every sum of a value of each.
    pub fn plus(self, other: Self) -> Self {
        Self { min: self.min + other.min, max: self.max + other.max }
    }

    /// Width in two's complement.
    fn bits(self) -> u32 {
        required_bits(self.min, true).max(required_bits(self.max, true)).max(2)
    }

    pub fn map(self, f: impl Fn(i128) -> i128) -> Self {
        Self { min: f(self.min), max: f(self.max) }
    }
}

/// Types and zero points of a layer's codes.
pub(crate) struct Codes<'a> {
    pub activation: DType,
    /// Taken off every activation code that is read.
    pub subtract: i32,
    pub weight: DType,
    /// One, or one per output channel.
    pub weight_zero_points: &'a [i32],
}

impl Codes<'_> {
    /// Activations and weights as the multiplier sees them.
    pub fn operands(&self, zero_point: ZeroPoint) -> [Range; 2] {
        let codes = |d: DType| Range { min: d.min().into(), max: d.max().into() };
        let zero = Range { min: 0, max: 0 };
        let activation = codes(self.activation).map(|v| v - i128::from(self.subtract)).join(zero);
        let shifted = |&z: &i32| match zero_point {
            ZeroPoint::Subtract => codes(self.weight).map(|v| v - i128::from(z)),
            ZeroPoint::Fold => codes(self.weight),
        };
        let weight = self.weight_zero_points.iter().map(shifted).reduce(Range::join).unwrap_or(zero);
        [activation, weight]
    }
}

/// All that the contract of a MAC unit follows from.
pub(crate) struct Unit<'a> {
    /// Name of the layer.
    pub name: &'a str,
    /// The datapath, with the layer's own overrides.
    pub datapath: &'a Datapath,
    /// Lanes that share one adder.
    pub packing: Packing,
    /// Products per dot product.
    pub terms: usize,
    /// Activations and weights as the multiplier sees them.
    pub operands: [Range; 2],
    /// Whether there is a bias.
    pub has_bias: bool,
    /// Whether a sum of activations joins it.
    pub has_side: bool,
    /// What can join the sums there, 0 included, in the unit of that place.
    pub words: Range,
    pub scheme: Scheme,
    pub zero_point: i32,
    pub clamp: (i32, i32),
}

/// The contract of `layer`.
pub(crate) fn arithmetic(graph: &Graph, layer: &MacLayer) -> Result<Arithmetic, VectorError> {
    let (Finish::Requantize(output), Some(weights)) = (&layer.dots.finish, &layer.dots.weights) else {
        let (layer, what) = (layer.name.clone(), "a pool, mean or sum, which divides by itself,".into());
        return Err(VectorError::Unsupported { layer, what });
    };
    let dtype = |input: usize| {
        let id = graph.node(layer.node).inputs.get(input).copied().flatten();
        id.map_or(DType::Int8, |id| graph.tensor(id).ty.dtype)
    };
    let codes = Codes {
        activation: dtype(0),
        subtract: layer.activation_offset().subtract,
        weight: dtype(1),
        weight_zero_points: &weights.zero_points,
    };
    let operands = codes.operands(layer.datapath.zero_point);
    let datapath = &layer.datapath;
    Unit {
        name: &layer.name,
        datapath,
        packing: layer.packing,
        terms: layer.order.len(),
        operands,
        has_bias: layer.bias.is_some(),
        has_side: layer.input_sum_factor.iter().any(|&f| f != 0),
        words: bias_words(layer, operands[0]).map(|v| in_bias_unit(datapath, v)),
        scheme: layer.requantizers.first().map_or(Scheme::Double, |r| r.scheme()),
        zero_point: output.output_zero_point,
        clamp: output.clamp,
    }
    .arithmetic()
}

impl Unit<'_> {
    /// The contract.
    pub(crate) fn arithmetic(&self) -> Result<Arithmetic, VectorError> {
        let unsupported =
            |what: &str| VectorError::Unsupported { layer: self.name.into(), what: what.into() };
        let datapath = self.datapath;
        if datapath.levels.len() > MAX_LEVELS {
            return Err(unsupported("a datapath of more than 12 levels"));
        }
        if datapath.levels.iter().skip(1).any(|l| l.reduce == Reduce::Tree) {
            return Err(unsupported("a tree above another level"));
        }
        if self.packing != Packing::None {
            return Err(unsupported("a layer whose lanes share adders (`packing`)"));
        }
        if datapath.output == OutputFit::Wrap {
            return Err(unsupported("an output that wraps"));
        }
        if self.has_side && datapath.bias.at != BiasPlace::Post {
            return Err(unsupported("a sum of activations beside a bias that is not `post`"));
        }
        let [activation, weight] = self.operands;
        let corners = [activation.min, activation.max].map(|a| [a * weight.min, a * weight.max]);
        let all = corners.as_flattened();
        let exact = Range {
            min: all.iter().copied().min().unwrap_or(0),
            max: all.iter().copied().max().unwrap_or(0),
        };
        let zero = Range { min: 0, max: 0 };
        let product = datapath.product;
        let mut port =
            fitted(exact.join(zero), product.register).map(|v| product.round.shift_right(v, product.shift));
        let product_info = stage(product.register, product.shift, product.round, port);

        let mut unbounded = exact.join(zero).map(|v| product.round.shift_right(v, product.shift));
        let mut levels = Vec::new();
        let mut values = self.terms;
        for (index, level) in datapath.levels.iter().enumerate() {
            let run = level.terms.run_length(values).min(values.max(1));
            values = values.div_ceil(level.terms.run_length(values)).max(1);
            let last = index + 1 == datapath.levels.len();
            let start = if last { self.preload() } else { zero };
            let sum = |r: Range| Range {
                min: start.min + r.min.min(0) * run as i128,
                max: start.max + r.max.max(0) * run as i128,
            };
            unbounded = sum(unbounded).join(zero);
            // Inside a run; a tree's lone value keeps the width that it came with.
            let inside = match (level.check, level.reduce) {
                (Check::EachAdd, Reduce::Serial) => fitted(sum(port).join(zero), level.register),
                (Check::EachAdd, Reduce::Tree) => fitted(sum(port), level.register).join(port),
                (Check::HandOver, _) => sum(port).join(zero),
            };
            let out = if level.check == Check::HandOver { fitted(inside, level.register) } else { inside };
            port = out.map(|v| level.round.shift_right(v, level.shift)).join(zero);
            let acc = if level.reduce == Reduce::Tree { port } else { inside };
            let unsigned = acc.min >= 0
                && matches!(level.register, Register::Fixed { format, .. } if !format.is_signed());
            let limits = limits(level.register);
            let narrow = |v: i128| i64::try_from(v).unwrap_or(if v < 0 { i64::MIN } else { i64::MAX });
            let bits = acc_bits(level, acc, unsigned);
            if bits > MAX_WORD || port.bits() > MAX_WORD {
                let (layer, port, bits) = (self.name.into(), level.name.clone(), bits.max(port.bits()));
                return Err(VectorError::TooWide { layer, port, bits });
            }
            levels.push(LevelInfo {
                name: level.name.clone(),
                reduce: level.reduce.name().into(),
                pairing: (level.reduce == Reduce::Tree).then(|| "adjacent".into()),
                terms: match level.terms {
                    Terms::All => None,
                    Terms::Count(n) => Some(n),
                },
                check: level.check.name().into(),
                stage: stage(level.register, level.shift, level.round, port),
                acc_bits: bits,
                acc_signed: !unsigned,
                min: limits.map(|(low, _)| narrow(low)),
                max: limits.map(|(_, high)| narrow(high)),
                bound_min: narrow(unbounded.min),
                bound_max: narrow(unbounded.max),
            });
            unbounded = unbounded.map(|v| level.round.shift_right(v, level.shift));
        }

        let bias = self.bias_info(port)?;
        if self.has_side && !self.has_bias && bias.stage.bits.is_some_and(|bits| bits < port.bits()) {
            return Err(unsupported(
                "a bias adder narrower than the sum, used only where zero points ask for it,",
            ));
        }
        let operand = |r: Range| Operand { bits: r.bits(), min: r.min as i64, max: r.max as i64 };
        Ok(Arithmetic {
            activation: operand(activation),
            weight: operand(weight),
            zero_point: datapath.zero_point.name().into(),
            reduction_order: order_text(datapath.order),
            product: product_info,
            levels,
            bias,
            requantize: self.requantize_info(),
        })
    }

    /// What the last level starts from.
    fn preload(&self) -> Range {
        match self.datapath.bias.at {
            BiasPlace::Preload if self.has_bias => self.words,
            _ => Range { min: 0, max: 0 },
        }
    }

    fn bias_info(&self, sum: Range) -> Result<BiasInfo, VectorError> {
        let datapath = self.datapath;
        let at = match (self.has_bias, self.has_side) {
            (false, false) => "none",
            _ => datapath.bias.at.name(),
        };
        // Beside sums of activations the port has 33 bits at least.
        let side: i128 = if self.has_side { 1 << 31 } else { 0 };
        let input = self.words.join(Range { min: -side, max: side });
        let with = sum.plus(input);
        let port = match at {
            "post" => fitted(with, datapath.bias.register),
            _ => sum,
        };
        let too_wide = |port: &str, bits: u32| {
            let (layer, port) = (self.name.into(), port.into());
            VectorError::TooWide { layer, port, bits }
        };
        let last = &datapath.levels[datapath.levels.len() - 1];
        let register = match (datapath.bias.at, last.check) {
            (BiasPlace::Preload, Check::EachAdd) => last.register,
            // The register is exact inside.
            (BiasPlace::Preload, Check::HandOver) => Register::Auto,
            _ => datapath.bias.register,
        };
        for (what, range) in [("bias", input), ("bias adder", port)] {
            if range.bits() > MAX_WORD {
                return Err(too_wide(what, range.bits()));
            }
        }
        let at_unit = bias_level(datapath);
        Ok(BiasInfo {
            at: at.into(),
            stage: stage(register, 0, Rounding::Floor, port),
            unit_shift: datapath.unit_shift(at_unit),
            unit_round: datapath.unit_rounding(at_unit).name().into(),
            input_bits: input.bits(),
            word_min: self.words.min as i64,
            word_max: self.words.max as i64,
        })
    }

    fn requantize_info(&self) -> RequantizeInfo {
        let (datapath, scheme) = (self.datapath, self.scheme);
        let clamp = Range { min: self.clamp.0.into(), max: self.clamp.1.into() };
        // A 31-bit significand below 1, or the 53 bits of a float64.
        let (mult_bits, mult_point) = if is_float64(scheme) { (54, 53) } else { (32, 31) };
        RequantizeInfo {
            scheme: scheme.name().into(),
            id: scheme.id().into(),
            formula: formula(scheme).into(),
            unit_shift: datapath.unit_shift(datapath.levels.len()),
            zero_point: self.zero_point.into(),
            clamp_min: self.clamp.0.into(),
            clamp_max: self.clamp.1.into(),
            out_bits: clamp.bits(),
            mult_bits,
            mult_point,
            in_rtl: RTL_SCHEMES.contains(&scheme) && datapath.bias.at != BiasPlace::PostRequantize,
        }
    }
}

fn acc_bits(level: &Level, acc: Range, unsigned: bool) -> u32 {
    match level.register {
        Register::Fixed { format, overflow }
            if level.check == Check::EachAdd
                && level.reduce == Reduce::Serial
                && !matches!(overflow, Overflow::Observe | Overflow::Trap) =>
        {
            format.bits()
        }
        _ if unsigned => acc.bits() - 1,
        _ => acc.bits(),
    }
}

/// What leaves a register.
fn fitted(range: Range, register: Register) -> Range {
    match register {
        Register::Fixed { format, overflow } if !matches!(overflow, Overflow::Observe | Overflow::Trap) => {
            // Rounded up to the register: its port has its width, whatever the operands reach.
            let (min, max) = overflow.limits(format);
            Range { min, max }
        }
        _ => range,
    }
}

fn limits(register: Register) -> Option<(i128, i128)> {
    match register {
        Register::Auto => None,
        Register::Fixed { format, overflow } => Some(overflow.limits(format)),
    }
}

fn stage(register: Register, shift: u32, round: Rounding, port: Range) -> Stage {
    let (bits, signed, overflow) = match register {
        Register::Auto => (None, true, None),
        Register::Fixed { format, overflow } => {
            (Some(format.bits()), format.is_signed(), Some(overflow.name().to_owned()))
        }
    };
    Stage { bits, signed, overflow, shift, round: round.name().into(), port_bits: port.bits() }
}

/// The level at whose unit the bias joins; behind the last one where it does so there.
fn bias_level(datapath: &Datapath) -> usize {
    match datapath.bias.at {
        BiasPlace::Preload => datapath.levels.len() - 1,
        BiasPlace::Post | BiasPlace::PostRequantize => datapath.levels.len(),
    }
}

/// A value at unit 1 in the unit of the place where the bias joins.
pub(crate) fn in_bias_unit(datapath: &Datapath, value: i128) -> i128 {
    let at = bias_level(datapath);
    datapath.unit_rounding(at).shift_right(value, datapath.unit_shift(at))
}

/// What is added at unit 1, 0 included: a channel's bias, and its factor times a sum of activations.
fn bias_words(layer: &MacLayer, activation: Range) -> Range {
    let terms = layer.order.len() as i128;
    let channels = layer.input_sum_factor.iter().enumerate().map(|(channel, &factor)| {
        let bias = layer.bias.as_ref().map_or(0, |b| b[channel]);
        let ends = [activation.min.min(0), activation.max.max(0)].map(|a| i128::from(factor) * terms * a);
        Range { min: bias + ends[0].min(ends[1]), max: bias + ends[0].max(ends[1]) }
    });
    channels.fold(Range { min: 0, max: 0 }, Range::join)
}

fn is_float64(scheme: Scheme) -> bool {
    scheme == Scheme::Float64Away
}

/// What the multiplier ports show: significand and exponent.
pub(crate) fn multiplier_words(requantizer: Requantizer) -> [i64; 2] {
    let multiplier = requantizer.multiplier();
    if !is_float64(requantizer.scheme()) {
        return [multiplier.significand().into(), multiplier.exponent().into()];
    }
    let (significand, exponent) = multiplier.exact();
    if exponent < MIN_EXPONENT { [0, 0] } else { [significand as i64, exponent.into()] }
}

fn order_text(order: ReductionOrder) -> String {
    let axes: Vec<_> = order.axes.iter().map(|a| a.name()).collect();
    let walk = match order.walk {
        Walk::Forward => "forward".into(),
        Walk::Reverse => "reverse".into(),
        Walk::Stride(n) => format!("stride {n}"),
    };
    let blocks = order.ic_block.map_or(String::new(), |n| format!(", input channels in blocks of {n}"));
    format!("{}, {walk}{blocks}", axes.join(" "))
}
