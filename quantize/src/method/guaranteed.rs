//! Weights that cannot overflow the accelerator's registers.

use guardbit_graph::Graph;
use guardbit_hwmodels::bounds::{LayerBounds, Range, bias_adder_range, operand_range, product_range};
use guardbit_hwmodels::{Level, MacLayer, Register};

use super::fitting::{Fitted, Fitting, Reading, Scales, is_large};
use super::inputs::{Input, widths};
use crate::weights::correct::Effort;
use crate::{LayerInput, LayerMethod, LayerParameters, LayerProblem, QuantizeError};

/// Codes with the least squared error on real inputs among all codes with which no register of the
/// accelerator can overflow, for any codes that the layer reads. Registers are every level, the product and
/// the bias adder, with zero points handled as on the accelerator.
///
/// [`budget`](crate::weights::budget) decides which codes fit. [`correct`](crate::weights::correct) finds the
/// codes at several scales, and the bias absorbs the mean error as far as there is room. If the layer's input
/// is free, its width and range are chosen too: fewer activation codes leave room for more weight codes.
/// Plain parameters that never overflow are also a candidate. The chosen parameters are proved again by the
/// bounds of `guardbit size`.
#[derive(Debug, Clone, Copy)]
pub struct Guaranteed;

/// Fractions of the activation range that are tried in addition to the whole range.
const PARTS: [f64; 3] = [0.85, 0.7, 0.5];
/// Maximum number of consecutive widths without improvement.
const PATIENCE: usize = 2;
/// Number of candidates for which weights are searched with full effort; one for large layers.
const FINALISTS: usize = 2;

impl LayerMethod for Guaranteed {
    fn name(&self) -> &str {
        "guaranteed"
    }

    fn promises(&self) -> bool {
        true
    }

    fn choose(&self, layer: &LayerProblem<'_>) -> Result<LayerParameters, QuantizeError> {
        let program = layer.program(&layer.plain)?;
        let host = || QuantizeError::Host { layer: layer.name.into() };
        let mac = program.mac_layers().next().ok_or_else(host)?;
        let search = Search { layer, reading: Reading::new(layer, &mac.dots.window) };
        let impossible = |problem: String| QuantizeError::Impossible { layer: layer.name.into(), problem };
        let plain = match proof(layer, &layer.plain)? {
            None => search.plain()?,
            Some(_) => None,
        };
        let found = match (search.best()?, plain) {
            (Some(found), Some(plain)) => {
                if plain.error <= found.error {
                    plain
                } else {
                    found
                }
            }
            (found, plain) => {
                found.or(plain).ok_or_else(|| impossible("its samples contain no finite values".into()))?
            }
        };
        match proof(layer, &found.parameters)? {
            None => Ok(found.parameters),
            Some(problem) => Err(impossible(problem)),
        }
    }
}

struct Search<'l, 'a> {
    layer: &'l LayerProblem<'a>,
    reading: Reading,
}

/// Codes of activations, with the error of the weights that they allow.
struct Tried {
    input: Input,
    error: f64,
    octave: i32,
}

impl Search<'_, '_> {
    /// Returns the best weights for the best input.
    fn best(&self) -> Result<Option<Fitted>, QuantizeError> {
        let mut tried = self.by_width()?;
        if let (LayerInput::Free(_), Some(&Tried { input: best, octave, .. })) =
            (self.layer.input, tried.first())
        {
            let bits = best.codes.bits();
            for bits in widths(self.layer).filter(|&own| own.abs_diff(bits) <= 1) {
                for part in PARTS {
                    self.tried(&mut tried, Input::of(self.layer, bits, part), self.around(octave))?;
                }
            }
        }
        let mut found: Option<Fitted> = None;
        for tried in tried.into_iter().take(if is_large(self.layer) { 1 } else { FINALISTS }) {
            let next = self.fitted(tried)?;
            let better = |next: &Fitted| found.as_ref().is_none_or(|found| next.error < found.error);
            found = next.filter(better).or(found);
        }
        Ok(found)
    }

    /// Returns inputs of all promising widths with their errors, best first.
    fn by_width(&self) -> Result<Vec<Tried>, QuantizeError> {
        let (mut tried, mut worse, mut scales) = (Vec::new(), 0, Scales::All);
        for bits in widths(self.layer) {
            let input = Input::of(self.layer, bits, 1.0);
            scales = self.tried(&mut tried, input, scales)?;
            let is_best = tried.first().is_some_and(|best| best.input == input);
            worse = if is_best { 0 } else { worse + 1 };
            if worse == PATIENCE {
                break;
            }
        }
        Ok(tried)
    }

    /// Inserts an input sorted by its error, and returns the scales to try with the next one.
    fn tried(&self, among: &mut Vec<Tried>, input: Input, scales: Scales) -> Result<Scales, QuantizeError> {
        self.layer.watch.candidate(Guaranteed.name());
        let Some(fitting) = Fitting::new(self.layer, self.reading.to_compare(), input)? else {
            return Ok(scales);
        };
        let (error, octave) = fitting.compared(fitting.mac()?, scales)?;
        let at = among.partition_point(|other| other.error <= error);
        among.insert(at, Tried { input, error, octave });
        Ok(self.around(octave))
    }

    /// Returns the scales to try if `octave` is likely.
    fn around(&self, octave: i32) -> Scales {
        if is_large(self.layer) { Scales::From(octave) } else { Scales::All }
    }

    fn fitted(&self, Tried { input, octave, .. }: Tried) -> Result<Option<Fitted>, QuantizeError> {
        self.layer.watch.candidate(Guaranteed.name());
        let effort = if is_large(self.layer) { Effort::Single } else { Effort::Full };
        let Some(fitting) = Fitting::new(self.layer, &self.reading, input)? else { return Ok(None) };
        let parameters = fitting.fitted(fitting.mac()?, effort, self.around(octave))?;
        Ok(Some(Fitted { error: fitting.error(&parameters), parameters }))
    }

    /// Returns the plain parameters with their error.
    fn plain(&self) -> Result<Option<Fitted>, QuantizeError> {
        let fitting = Fitting::new(self.layer, &self.reading, Input::plain(self.layer))?;
        let parameters = self.layer.plain.clone();
        Ok(fitting.map(|fitting| Fitted { error: fitting.error(&parameters), parameters }))
    }
}

/// Returns a description of a register that overflows under these parameters on some input; `None` if none
/// can.
fn proof(layer: &LayerProblem<'_>, parameters: &LayerParameters) -> Result<Option<String>, QuantizeError> {
    let program = layer.program(parameters)?;
    Ok(program.mac_layers().next().and_then(|mac| overflowing(&program.graph, mac)))
}

/// Returns a description of a register that overflows on some input, for a layer of a program over `graph`;
/// `None` if none can.
pub(crate) fn overflowing(graph: &Graph, mac: &MacLayer) -> Option<String> {
    let operand = operand_range(graph, mac);
    let weights = mac.weights.range().map(|(least, greatest)| Range::new(least, greatest));
    let products = match mac.dots.streams_weights() {
        true => product_range(graph, mac),
        false => weights.map_or(Range::ZERO, |weights| operand.times(weights)),
    };
    let bounds = LayerBounds::new(graph, mac);
    let level = |(index, level): (usize, &Level)| {
        let sums = bounds.channels.iter().map(|channel| channel.proved()[index]);
        let sums = sums.reduce(Range::hull)?;
        overfull(&format!("level `{}`", level.name), level.register, sums)
    };
    overfull("the product", mac.datapath.product.register, products)
        .or_else(|| mac.datapath.levels.iter().enumerate().find_map(level))
        .or_else(|| {
            let last = mac.datapath.levels.len() - 1;
            let sums = bounds.channels.iter().map(|channel| channel.proved()[last]);
            overfull("the bias adder", mac.datapath.bias.register, bias_adder_range(graph, mac, sums)?)
        })
}

/// Returns a message if a register does not hold a range.
fn overfull(what: &str, register: Register, values: Range) -> Option<String> {
    let Register::Fixed { format, overflow } = register else { return None };
    let (min, max) = overflow.limits(format);
    let (bits, held) = (values.bits(format.is_signed()), min <= values.min && values.max <= max);
    (!held).then(|| format!("{what} needs {bits} bits, but has {}", format.bits()))
}
