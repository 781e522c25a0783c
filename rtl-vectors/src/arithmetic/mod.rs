//! Arithmetic of a layer as a manifest describes it, computed from the lowered layer and converted back to a
//! layer.

mod layers;

use guardbit_graph::{CodeRange, DType, Finish, Graph};
use guardbit_hwmodels::bounds::Range;
use guardbit_hwmodels::{
    ActivationOffset, BiasPlace, Check, Datapath, Level, MacLayer, OutputFit, Packing, ReductionOrder,
    Register, Terms, Walk, ZeroPoint,
};
use guardbit_num::{Multiplier, Overflow, Requantizer, Rounding, Scheme};

pub(crate) use layers::{Layers, any_case, one_channel, register};

use crate::VectorError;
use crate::describe::formula;
use crate::manifest::{Arithmetic, BiasAt, BiasInfo, LevelInfo, Operand, RegisterInfo, RequantizeInfo};
use crate::sizes::{MAX_LEVELS, MAX_WORD};

/// Requantization schemes that `gb_requant.sv` implements.
pub(crate) const RTL_SCHEMES: [Scheme; 5] =
    [Scheme::Double, Scheme::Single, Scheme::Away, Scheme::Even, Scheme::Float64Away];
/// Least exponent of a float multiplier. With any smaller exponent, every sum of [`MAX_WORD`] bits gives 0.
const MIN_EXPONENT: i32 = -64;

/// Returns the width in two's complement of a port that holds every value of `range`.
fn port_bits(range: Range) -> u32 {
    range.bits(true).max(2)
}

/// Codes of a layer and their zero points.
pub(crate) struct Codes<'a> {
    pub activation: CodeRange,
    /// Offset that is subtracted from every activation code, and the value of padding.
    pub offset: ActivationOffset,
    pub weight: CodeRange,
    /// One zero point, or one per output channel.
    pub weight_zero_points: &'a [i32],
    /// Whether a window extends beyond the input; the operands there have the value of padding.
    pub is_padded: bool,
}

impl Codes<'_> {
    /// Returns the ranges of activations and weights at the multiplier.
    pub fn operands(&self, zero_point: ZeroPoint) -> [Range; 2] {
        let less = |codes: CodeRange, zero_point: i32| {
            Range::of_codes(codes).plus(Range::point(-i128::from(zero_point)))
        };
        let ActivationOffset { subtract, padding } = self.offset;
        let activation = less(self.activation, subtract).hull(Range::point(padding)).hull(Range::ZERO);
        let shifted = |&z: &i32| match zero_point {
            ZeroPoint::Subtract => less(self.weight, z),
            ZeroPoint::Fold => less(self.weight, 0),
        };
        let weight = self.weight_zero_points.iter().map(shifted).reduce(Range::hull).unwrap_or(Range::ZERO);
        [activation, weight]
    }

    /// Returns the distances between adjacent activations and between adjacent weights at the multiplier.
    pub fn steps(&self, zero_point: ZeroPoint) -> [u32; 2] {
        let activation =
            Range::of_codes(self.activation).plus(Range::point(-i128::from(self.offset.subtract)));
        let has_all = !self.is_padded && activation.contains(Range::ZERO);
        let step = self.weight.step();
        let apart = |pair: &[i32]| pair[0].abs_diff(pair[1]).is_multiple_of(step);
        let shared = zero_point == ZeroPoint::Fold || self.weight_zero_points.windows(2).all(apart);
        [if has_all { self.activation.step() } else { 1 }, if shared { step } else { 1 }]
    }
}

/// Data that determines the arithmetic of a MAC unit.
pub(crate) struct Unit<'a> {
    /// Name of the layer.
    pub name: &'a str,
    /// Datapath with the layer's own overrides.
    pub datapath: &'a Datapath,
    /// Packing of lanes that share one adder.
    pub packing: Packing,
    /// Products per dot product.
    pub terms: usize,
    /// Ranges of activations and weights at the multiplier.
    pub operands: [Range; 2],
    /// Distances between adjacent activations and between adjacent weights.
    pub steps: [u32; 2],
    /// Whether there is a bias.
    pub has_bias: bool,
    /// Whether a multiple of the sum of activations is added with the bias.
    pub has_side: bool,
    /// Range of the values that are added as bias, including 0, in the unit of the place where they are
    /// added.
    pub words: Range,
    pub scheme: Scheme,
    /// Least and greatest exponent of the layer's multipliers.
    pub exponents: (i64, i64),
    pub zero_point: i32,
    pub clamp: (i32, i32),
}

/// Returns the arithmetic of `layer`.
pub(crate) fn arithmetic(graph: &Graph, layer: &MacLayer) -> Result<Arithmetic, VectorError> {
    let (Finish::Requantize(output), Some(weights)) = (&layer.dots.finish, &layer.dots.weights) else {
        let (layer, what) = (layer.name.clone(), "a pool, mean or sum (it has its own division)".into());
        return Err(VectorError::Unsupported { layer, what });
    };
    let codes = |input: usize| {
        let id = graph.node(layer.node).inputs.get(input).copied().flatten();
        id.map_or(CodeRange::of(DType::Int8), |id| graph.tensor(id).ty.code_range())
    };
    let codes = Codes {
        activation: codes(0),
        offset: layer.activation_offset(),
        weight: codes(1),
        weight_zero_points: &weights.zero_points,
        is_padded: layer.dots.window.reads_padding(),
    };
    let operands = codes.operands(layer.datapath.operands.zero_point);
    let datapath = &layer.datapath;
    if layer.weight_sum_factor != 0 && datapath.bias.at != BiasPlace::Post {
        let (layer, what) =
            (layer.name.clone(), "a sum of weights together with a bias that is not `post`".into());
        return Err(VectorError::Unsupported { layer, what });
    }
    Unit {
        name: &layer.name,
        datapath,
        packing: layer.packing,
        terms: layer.order.len(),
        operands,
        steps: codes.steps(layer.datapath.operands.zero_point),
        has_bias: layer.bias.is_some(),
        has_side: layer.input_sum_factor.iter().any(|&f| f != 0),
        words: bias_words(layer, operands),
        scheme: layer.requantizers.first().map_or(Scheme::Double, |r| r.scheme()),
        exponents: exponents(&layer.requantizers),
        zero_point: output.output_zero_point,
        clamp: output.clamp,
    }
    .arithmetic()
}

/// Output of one stage of a datapath.
struct Flow {
    /// Number of values of a dot product.
    values: usize,
    /// Range of one value.
    port: Range,
    /// Range of one value with unlimited widths.
    unbounded: Range,
}

impl Unit<'_> {
    /// Returns the arithmetic.
    pub(crate) fn arithmetic(&self) -> Result<Arithmetic, VectorError> {
        self.check_supported()?;
        let datapath = self.datapath;
        let [activation, weight] = self.operands;
        let exact = activation.times(weight).hull(Range::ZERO);
        let product = datapath.product;
        let port = fitted(exact, product.register).shift_right(product.shift, product.round);
        let product_info = register_info(product.register, product.shift, product.round.of_constants(), port);

        let unbounded = exact.shift_right(product.shift, product.round);
        let mut flow = Flow { values: self.terms, port, unbounded };
        let mut levels = Vec::with_capacity(datapath.levels.len());
        for (index, level) in datapath.levels.iter().enumerate() {
            let is_last = index + 1 == datapath.levels.len();
            let start = if is_last { self.preload() } else { Range::ZERO };
            levels.push(self.level_info(level, start, &mut flow)?);
        }

        let sum = flow.port;
        let bias = self.bias_info(sum)?;
        if self.has_side && !self.has_bias && bias.register.bits.is_some_and(|bits| bits < port_bits(sum)) {
            return Err(
                self.unsupported("a bias adder that is narrower than the sum and used only for zero points")
            );
        }
        let operand =
            |r: Range, step| Operand { bits: port_bits(r), min: r.min as i64, max: r.max as i64, step };
        Ok(Arithmetic {
            activation: operand(activation, self.steps[0]),
            weight: operand(weight, self.steps[1]),
            zero_point: datapath.operands.zero_point,
            reduction_order: order_text(&datapath.order),
            product: product_info,
            levels,
            bias,
            requantize: self.requantize_info(),
        })
    }

    /// Returns an error for a datapath that bundles do not support.
    fn check_supported(&self) -> Result<(), VectorError> {
        let datapath = self.datapath;
        if datapath.levels.len() > MAX_LEVELS {
            return Err(self.unsupported(&format!("a datapath of more than {MAX_LEVELS} levels")));
        }
        if let Some(level) = datapath.levels.iter().skip(1).find(|l| l.reduce.takes_run_at_once()) {
            return Err(self.unsupported(&format!("a {} after another level", level.reduce)));
        }
        if datapath.rounds_at_random() {
            return Err(self.unsupported("stochastic rounding (`round: stochastic`)"));
        }
        if self.packing != Packing::None {
            return Err(self.unsupported("a layer whose lanes share adders (`packing`)"));
        }
        if datapath.requantize.output == OutputFit::Wrap {
            return Err(self.unsupported("an output that wraps"));
        }
        if self.has_side && datapath.bias.at != BiasPlace::Post {
            return Err(self.unsupported("a sum of activations together with a bias that is not `post`"));
        }
        Ok(())
    }

    fn unsupported(&self, what: &str) -> VectorError {
        VectorError::Unsupported { layer: self.name.into(), what: what.into() }
    }

    /// Returns the description of a level whose runs begin with `start` and add the values of `flow`.
    /// Afterwards `flow` is the level's output.
    fn level_info(&self, level: &Level, start: Range, flow: &mut Flow) -> Result<LevelInfo, VectorError> {
        let length = level.terms.run_length(flow.values);
        let run = length.min(flow.values.max(1));
        flow.values = flow.values.div_ceil(length).max(1);
        let sum = |r: Range| Range {
            min: start.min + r.min.min(0) * run as i128,
            max: start.max + r.max.max(0) * run as i128,
        };
        let unbounded = sum(flow.unbounded).hull(Range::ZERO);
        // Width within a run. Where a single value needs no addition, it keeps its width.
        let at_once = level.reduce.takes_run_at_once();
        let sums = sum(flow.port);
        let inside = match (level.check, at_once) {
            (Check::EachAdd, false) => fitted(sums.hull(Range::ZERO), level.register),
            (Check::EachAdd, true) => fitted(sums, level.register).hull(flow.port),
            (Check::HandOver, _) => sums.hull(Range::ZERO),
        };
        let out = if level.check == Check::HandOver { fitted(inside, level.register) } else { inside };
        flow.port = out.shift_right(level.shift, level.round).hull(Range::ZERO);
        flow.unbounded = unbounded.shift_right(level.shift, level.round);
        let acc = if at_once { flow.port } else { inside };
        let unsigned = acc.min >= 0 && !level.register.is_signed();
        let acc_bits = acc_bits(level, acc, unsigned);
        let bits = acc_bits.max(port_bits(flow.port));
        if bits > MAX_WORD {
            return Err(VectorError::TooWide { layer: self.name.into(), port: level.name.clone(), bits });
        }
        let limits = level.register.limits();
        let narrow = |v: i128| i64::try_from(v).unwrap_or(if v < 0 { i64::MIN } else { i64::MAX });
        Ok(LevelInfo {
            name: level.name.clone(),
            reduce: level.reduce,
            pairing: level.reduce.pairing().map(str::to_owned),
            terms: match level.terms {
                Terms::All => None,
                Terms::Count(n) => Some(n),
            },
            check: level.check,
            register: register_info(level.register, level.shift, level.round.of_constants(), flow.port),
            acc_bits,
            acc_signed: !unsigned,
            min: limits.map(|limits| narrow(limits.min)),
            max: limits.map(|limits| narrow(limits.max)),
            bound_min: narrow(unbounded.min),
            bound_max: narrow(unbounded.max),
        })
    }

    /// Returns the range of the last level's initial values.
    fn preload(&self) -> Range {
        match self.datapath.bias.at {
            BiasPlace::Preload if self.has_bias => self.words,
            _ => Range::ZERO,
        }
    }

    fn bias_info(&self, sum: Range) -> Result<BiasInfo, VectorError> {
        let datapath = self.datapath;
        let at = match (self.has_bias, self.has_side) {
            (false, false) => BiasAt::None,
            _ => BiasAt::Some(datapath.bias.at),
        };
        // With sums of activations the port has at least 33 bits.
        let side: i128 = if self.has_side { 1 << 31 } else { 0 };
        let input = self.words.hull(Range { min: -side, max: side });
        let with = sum.plus(input);
        let port = match at {
            BiasAt::POST => fitted(with, datapath.bias.register),
            _ => sum,
        };
        let too_wide = |port: &str, bits: u32| {
            let (layer, port) = (self.name.into(), port.into());
            VectorError::TooWide { layer, port, bits }
        };
        let last = &datapath.levels[datapath.levels.len() - 1];
        let register = match (datapath.bias.at, last.check) {
            (BiasPlace::Preload, Check::EachAdd) => last.register,
            // The register is exact within the run.
            (BiasPlace::Preload, Check::HandOver) => Register::Auto,
            _ => datapath.bias.register,
        };
        for (what, range) in [("bias", input), ("bias adder", port)] {
            if port_bits(range) > MAX_WORD {
                return Err(too_wide(what, port_bits(range)));
            }
        }
        let at_unit = bias_level(datapath);
        Ok(BiasInfo {
            at,
            register: register_info(register, 0, Rounding::Floor, port),
            unit_shift: datapath.unit_shift(at_unit),
            unit_round: datapath.unit_rounding(at_unit),
            input_bits: port_bits(input),
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
            scheme,
            id: scheme.id().into(),
            formula: formula(scheme).into(),
            unit_shift: datapath.unit_shift(datapath.levels.len()),
            zero_point: self.zero_point.into(),
            clamp_min: self.clamp.0.into(),
            clamp_max: self.clamp.1.into(),
            out_bits: port_bits(clamp),
            mult_bits,
            mult_point,
            exp_min: self.exponents.0,
            exp_max: self.exponents.1,
            in_rtl: RTL_SCHEMES.contains(&scheme) && datapath.bias.at != BiasPlace::PostRequantize,
        }
    }
}

fn acc_bits(level: &Level, acc: Range, unsigned: bool) -> u32 {
    match level.register {
        Register::Fixed { format, overflow }
            if level.check == Check::EachAdd
                && !level.reduce.takes_run_at_once()
                && !overflow.keeps_exact() =>
        {
            format.bits()
        }
        _ if unsigned => port_bits(acc) - 1,
        _ => port_bits(acc),
    }
}

/// Returns the range of the values that leave a register.
fn fitted(range: Range, register: Register) -> Range {
    // Extended to the register's range: its port has its width, even if the operands reach less.
    let limits = register.limits().filter(|_| !register.overflow().is_some_and(Overflow::keeps_exact));
    limits.unwrap_or(range)
}

fn register_info(register: Register, shift: u32, round: Rounding, port: Range) -> RegisterInfo {
    RegisterInfo {
        bits: register.bits(),
        signed: register.is_signed(),
        overflow: register.overflow(),
        shift,
        round,
        port_bits: port_bits(port),
    }
}

/// Returns the level in whose unit the bias is added; the number of levels if it is added after the last one.
fn bias_level(datapath: &Datapath) -> usize {
    match datapath.bias.at {
        BiasPlace::Preload => datapath.levels.len() - 1,
        BiasPlace::Post | BiasPlace::PostRequantize => datapath.levels.len(),
    }
}

/// Returns a value at unit 1 in the unit of the place where the bias is added.
pub(crate) fn in_bias_unit(datapath: &Datapath, value: i128) -> i128 {
    let at = bias_level(datapath);
    datapath.unit_rounding(at).shift_right(value, datapath.unit_shift(at))
}

/// Returns the range of the values that are added as bias, including 0, in the unit of their place: a
/// channel's bias, plus its factors times sums of operands.
fn bias_words(layer: &MacLayer, operands: [Range; 2]) -> Range {
    let terms = layer.order.len();
    let side =
        |operand: Range, factor: i64| operand.hull(Range::ZERO).repeated(terms).times(Range::point(factor));
    let [activations, weights] = operands;
    let of_weights = side(weights, layer.weight_sum_factor);
    let channels = layer.input_sum_factor.iter().enumerate().map(|(channel, &factor)| {
        let bias = layer.bias.as_ref().map_or(0, |b| b[channel]);
        Range::point(bias).plus(side(activations, factor))
    });
    let words = channels.fold(Range::ZERO, Range::hull).plus(of_weights);
    let [min, max] = [words.min, words.max].map(|word| in_bias_unit(&layer.datapath, word));
    Range { min, max }
}

/// Returns the least and the greatest exponent of the multipliers other than 0.
fn exponents(requantizers: &[Requantizer]) -> (i64, i64) {
    let words = requantizers.iter().map(|&requantizer| multiplier_words(requantizer));
    let exponents = || words.clone().filter(|[mult, _]| *mult != 0).map(|[_, exponent]| exponent);
    (exponents().min().unwrap_or(0), exponents().max().unwrap_or(0))
}

fn is_float64(scheme: Scheme) -> bool {
    scheme == Scheme::Float64Away
}

/// Returns the values of the multiplier ports: significand and exponent.
pub(crate) fn multiplier_words(requantizer: Requantizer) -> [i64; 2] {
    let multiplier = requantizer.multiplier();
    let (significand, exponent) = match requantizer.scheme() {
        Scheme::Float64Away => multiplier.exact(),
        Scheme::Even => {
            let float32 = Multiplier::new(f64::from(multiplier.real() as f32)).unwrap_or(multiplier);
            let (significand, exponent) = float32.exact();
            // A float32 has 24 bits, so none is lost.
            (significand >> 22, exponent)
        }
        _ => return [multiplier.significand().into(), multiplier.exponent().into()],
    };
    if exponent < MIN_EXPONENT { [0, 0] } else { [significand as i64, exponent.into()] }
}

fn order_text(order: &ReductionOrder) -> String {
    let axes: Vec<_> = order.axes.iter().map(|a| a.name()).collect();
    let walk = match &order.walk {
        Walk::Forward => "forward".into(),
        Walk::Reverse => "reverse".into(),
        walk => walk.describe(),
    };
    let blocks = order.ic_block.map_or(String::new(), |n| format!(", input channels in blocks of {n}"));
    format!("{}, {walk}{blocks}", axes.join(" "))
}
