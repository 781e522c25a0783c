//! Weights that cannot overflow.

use guardbit_hwmodels::bounds::LayerBounds;
use guardbit_hwmodels::{MacLayer, Register};

use super::fitting::Fitting;
use crate::{LayerMethod, LayerParameters, LayerProblem, QuantizeError};

/// The codes with the least squared error on the real inputs, of those with which no register of the accelerator can
/// overflow, whatever codes the layer reads: every level, the product and the bias adder, with the zero points as the
/// accelerator handles them.
///
/// [`budget`](crate::weights::budget) says what fits, [`correct`](crate::weights::correct) finds the codes, each at several
/// scales, and the bias takes up the mean error as far as there is room. The finished layer is proved once more by the bounds
/// of `guardbit size`.
#[derive(Debug, Clone, Copy)]
pub struct Guaranteed;

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
        let fitting = Fitting::new(layer, &program, layer.plain.input);
        let impossible = |problem: String| QuantizeError::Impossible { layer: layer.name.into(), problem };
        let fitting = fitting.ok_or_else(|| impossible("its samples hold no finite values".into()))?;
        let chosen = fitting.parameters(&program, mac)?;
        match proof(layer, &chosen)? {
            None => Ok(chosen),
            Some(problem) => Err(impossible(problem)),
        }
    }
}

/// What overflows of a layer under these parameters on some input; `None` if nothing can.
pub(super) fn proof(
    layer: &LayerProblem<'_>,
    parameters: &LayerParameters,
) -> Result<Option<String>, QuantizeError> {
    let program = layer.program(parameters)?;
    let Some(mac) = program.mac_layers().next() else { return Ok(None) };
    let bounds = LayerBounds::new(&program.graph, mac);
    let narrow = |(index, level): (usize, &guardbit_hwmodels::Level)| {
        let Register::Fixed { format, overflow } = level.register else { return None };
        let (min, max) = overflow.limits(format);
        let sums = bounds.channels.iter().map(|channel| channel.by_weights[index]);
        let range = sums.reduce(|all, one| all.hull(one))?;
        let (bits, held) = (range.bits(format.is_signed()), min <= range.min && range.max <= max);
        (!held).then(|| format!("level `{}` needs {bits} bits and has {}", level.name, format.bits()))
    };
    Ok(mac.datapath.levels.iter().enumerate().find_map(narrow).or_else(|| constant(mac)))
}

/// A bias that does not fit by itself.
fn constant(mac: &MacLayer) -> Option<String> {
    let Register::Fixed { format, overflow } = mac.datapath.bias.register else { return None };
    let (min, max) = overflow.limits(format);
    let shift = mac.datapath.unit_shift(mac.datapath.levels.len());
    let outside = |bias: &&i128| !(min..=max).contains(&(**bias >> shift));
    let found = mac.bias.iter().flatten().find(outside)?;
    Some(format!("the bias {found} does not fit an adder of {} bits", format.bits()))
}
