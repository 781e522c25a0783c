//! Average pools.

use guardbit_graph::Op;
use guardbit_graph::ops::FloatAvgPool2d;
use guardbit_graph::pattern::{Match, Pattern};

use super::clipped::maybe_clipped;
use super::on_reals::OnReals;
use super::{Operation, UnitPattern, activation, one_input};

/// Pattern of `float_avg_pool2d`, which ONNX Runtime computes on the real values of codes.
pub(super) struct AveragePool;

#[derive(Debug)]
struct Pool(FloatAvgPool2d);

impl UnitPattern for AveragePool {
    fn name(&self) -> &'static str {
        "average_pool"
    }

    fn pattern(&self) -> Pattern {
        maybe_clipped(Pattern::op::<FloatAvgPool2d>().reads([activation("x")]).named("pool"))
    }

    fn operation(&self, found: &Match<'_>) -> Option<Operation> {
        one_input(found, Pool(found.op::<FloatAvgPool2d>("pool")?.clone()))
    }
}

impl OnReals for Pool {
    fn op(&self) -> Op {
        self.0.clone().into()
    }

    fn zero_point_first(&self) -> bool {
        true
    }
}
