//! Networks with narrower code ranges.

use guardbit_graph::{CodeRange, DType, Graph, GraphBuilder, OutputSpec, Tensor, TensorId, TensorType};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// Returns the network with ranges of its own for about two thirds of its quantized tensors, and its samples
/// within them. Constants are clamped; zero points may lie outside the range.
pub fn narrowed(graph: &Graph, samples: &[Vec<i32>], seed: u64) -> (Graph, Vec<Vec<i32>>) {
    let mut random = Ranges(Pcg64Mcg::seed_from_u64(seed));
    let mut builder = GraphBuilder::new(graph.name());
    let mut ids: Vec<Option<TensorId>> = vec![None; graph.tensors().len()];
    for &id in graph.inputs() {
        let Tensor { name, ty, .. } = graph.tensor(id);
        ids[id.index()] = Some(builder.input(name, random.narrow(ty)).unwrap());
    }
    for (index, tensor) in graph.tensors().iter().enumerate() {
        let Some(codes) = tensor.codes() else { continue };
        let ty = random.narrow(&tensor.ty);
        let codes = codes.iter().map(|code| ty.code_range().clamp(code.into())).collect();
        ids[index] = Some(builder.constant(&tensor.name, ty, codes).unwrap());
    }
    for node in graph.nodes() {
        let inputs: Vec<_> = node.inputs.iter().map(|id| id.map(|id| ids[id.index()].unwrap())).collect();
        let output = OutputSpec::of(graph.tensor(node.output));
        let own = random.narrow(&graph.tensor(node.output).ty).quantization;
        let made = builder.node(node.op.clone(), &inputs, OutputSpec { quantization: own, ..output.clone() });
        // Some operations give their output the type of their input.
        let read = &builder.tensor(inputs[0].unwrap()).ty.quantization;
        let like = OutputSpec { quantization: read.clone(), ..output };
        ids[node.output.index()] =
            Some(made.unwrap_or_else(|_| builder.node(node.op.clone(), &inputs, like).unwrap()));
    }
    let outputs = graph.outputs().iter().map(|id| ids[id.index()].unwrap()).collect();
    let made = builder.finish(outputs).unwrap();
    let range = made.tensor(made.inputs()[0]).ty.code_range();
    let within = |sample: &Vec<i32>| sample.iter().map(|&code| range.clamp(code.into())).collect();
    (made, samples.iter().map(within).collect())
}

struct Ranges(Pcg64Mcg);

impl Ranges {
    fn below(&mut self, limit: u64) -> u64 {
        self.0.next_u64() % limit
    }

    fn narrow(&mut self, ty: &TensorType) -> TensorType {
        let mut ty = ty.clone();
        let range = ty.quantization.as_ref().and_then(|_| self.range(ty.dtype));
        if let Some(range) = range {
            ty.quantization = ty.quantization.map(|quantization| quantization.with_range(range));
        }
        ty
    }

    /// Returns a restricted range, one of fewer bits, or an arbitrary one.
    fn range(&mut self, dtype: DType) -> Option<CodeRange> {
        let all = CodeRange::of(dtype);
        match self.below(6) {
            0 | 1 => None,
            2 => CodeRange::new((-all.max()).max(all.min()), all.max()),
            3 | 4 => {
                let bits = 1 + self.below(dtype.bits().into()) as u32;
                let (least, count) = (if all.min() < 0 { -(1 << (bits - 1)) } else { 0 }, 1 << bits);
                CodeRange::new(least, least + count - 1)
            }
            _ => {
                let code = |draw: u64| all.min() + (draw % (1 << dtype.bits())) as i32;
                let (a, b) = (code(self.0.next_u64()), code(self.0.next_u64()));
                CodeRange::new(a.min(b), a.max(b))
            }
        }
    }
}
