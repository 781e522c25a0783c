//! Dynamic quantization: weights are codes, and activations get scale and zero point at run time, from every
//! input.

use guardbit_graph::ops::Dequantize;
use guardbit_graph::{DType, Graph, GraphPatch, Op, OutputSpec, Quantization, TensorType};

use crate::layer::weight_codes;
use crate::observed::Observed;
use crate::{Config, LayerSetting, Parameters, Plan, QuantizeError};

/// Returns the prepared float network with the weights of its layers as constant codes, followed by one
/// `dequantize` each. A writer of dynamically quantized networks turns these into integer products. `config`
/// defines the codes and scales of the weights; its settings of activations are ignored.
///
/// # Errors
/// [`QuantizeError`] if the network is not in float, or no layer of it has constant weights.
pub fn code_weights(graph: &Graph, config: &Config) -> Result<Graph, QuantizeError> {
    let plan = Plan::new(graph, config)?;
    let graph = plan.graph();
    let mut patch = GraphPatch::new(graph);
    let mut layers = 0;
    for (index, unit) in plan.units().iter().enumerate() {
        let Some(layer) = unit.forms.as_ref().and_then(|forms| forms.layer()) else { continue };
        let is_layer = |op: &Op| matches!(op, Op::FloatConv2d(_) | Op::FloatMatMul(_));
        let Some(&id) = unit.nodes.iter().find(|&&id| is_layer(&graph.node(id).op)) else { continue };
        let node = graph.node(id);
        let Some(weights) = node.inputs.get(1).copied().flatten() else { continue };
        let weights = graph.tensor(weights);
        let setting = config.setting(plan.names(index), unit.class());
        let parameters = parameters(config, setting, &layer.weights, layer.channels);
        let target = setting.weights.target();
        let made = weight_codes(&layer.weights, layer.channels, &parameters, target.codes);
        // A matrix has its channels along its last axis.
        let terms = layer.terms().max(1);
        let (codes, axis) = match node.op {
            Op::FloatMatMul(_) => {
                let at = |at: usize| made.codes[at % layer.channels * terms + at / layer.channels];
                ((0..made.codes.len()).map(at).collect(), 1)
            }
            _ => (made.codes, 0),
        };
        let scale = |source| QuantizeError::Scale { tensor: weights.name.clone(), source };
        let quantization = match (&made.scales[..], &made.zero_points[..]) {
            (&[scale], &[zero_point]) => Quantization::per_tensor(scale, zero_point),
            _ => Quantization::per_axis(made.scales, made.zero_points, axis),
        };
        let quantization = quantization.map_err(scale)?.with_range(target.codes);
        let ty = TensorType {
            shape: weights.ty.shape.clone(),
            dtype: setting.weights.dtype(),
            quantization: Some(quantization),
        };
        let free = |what: &str| {
            let mut name = format!("{}_{what}", graph.tensor(node.output).name);
            while graph.find_tensor(&name).is_some() {
                name.push('_');
            }
            name
        };
        let codes = patch.constant(free("weights"), ty, codes)?;
        let real = OutputSpec { name: free("weights_real"), dtype: DType::Float32, quantization: None };
        let real = patch.node(Dequantize {}, &[Some(codes)], real)?;
        let mut inputs = node.inputs.clone();
        inputs[1] = Some(real);
        let output = patch.node(node.op.clone(), &inputs, OutputSpec::of(graph.tensor(node.output)))?;
        patch.replace(node.output, output)?;
        layers += 1;
    }
    if layers == 0 {
        return Err(QuantizeError::NothingToQuantize);
    }
    Ok(patch.apply()?)
}

/// Returns scale and zero point of the weights, or of each channel's weights.
fn parameters(config: &Config, setting: LayerSetting, weights: &[f32], channels: usize) -> Vec<Parameters> {
    let target = setting.weights.target();
    let of = |weights: &[f32]| {
        let mut observed = Observed::default();
        observed.add(weights);
        target.parameters(config.weight_method.range(&observed, &target))
    };
    match setting.per_channel {
        true => weights.chunks((weights.len() / channels.max(1)).max(1)).map(of).collect(),
        false => vec![of(weights)],
    }
}
