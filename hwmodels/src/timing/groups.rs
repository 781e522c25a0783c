//! How the groups of a layer lie on the array (`array.depthwise`).
//!
//! - `serial`: one after the other, each a matrix product of its own.
//! - `own_inputs`: side by side; no two share activations, so that every lane or column takes its own.
//! - `block_diagonal`: B groups as one matrix product, whose weights are 0 off the diagonal. Where sums move, the rows of a
//!   group lie below those of the one before: B is as many as rows and columns hold. Where sums stay, the columns of groups
//!   lie side by side, and their products stream one group after the other: B is as many as the columns hold.
//!
//! The zeros are made on the chip: no memory holds them and no port moves them. They change no sum: they enter serial
//! registers alone, to which 0 can be added. A group's products begin a processing element of their own, and a chain of their own
//! unless its level is serial and holds whole groups; where sums stay, a group begins its runs anew, and the last level, whose
//! run does not end, is serial.
//!
//! Groups are dealt evenly: B of them `ceil(groups / B)` times, the last time perhaps fewer, which takes as long.

use super::chain::Chain;
use super::gemm::Gemm;
use crate::{Accelerator, Array, ArrayKind, Dataflow, Depthwise};

/// Groups that run at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Groups {
    /// How many.
    pub abreast: usize,
    /// How many times.
    pub times: usize,
    /// Whether the products of each are followed by those of the next one.
    pub in_turn: bool,
}

impl Groups {
    pub fn new(accelerator: &Accelerator, gemm: Gemm, chain: &Chain) -> Self {
        let Accelerator { array, dataflow, .. } = *accelerator;
        let most = match chosen(dataflow, array) {
            Depthwise::BlockDiagonal => diagonal(accelerator, gemm, chain),
            Depthwise::OwnInputs if !dataflow.moves_sums() => gemm.groups,
            Depthwise::Serial | Depthwise::ByKind | Depthwise::OwnInputs => 1,
        };
        let times = gemm.groups.div_ceil(most.max(1)).max(1);
        let abreast = gemm.groups.div_ceil(times).max(1);
        let in_turn = array.depthwise == Depthwise::BlockDiagonal && dataflow == Dataflow::OutputStationary;
        Self { abreast, times, in_turn }
    }
}

/// What is done where the kind of the array decides.
fn chosen(dataflow: Dataflow, array: Array) -> Depthwise {
    match array.depthwise {
        Depthwise::ByKind if dataflow != Dataflow::Vector || array.kind == ArrayKind::Channels => {
            Depthwise::Serial
        }
        Depthwise::ByKind => Depthwise::OwnInputs,
        other => other,
    }
}

/// Groups of one block-diagonal matrix that the array holds.
fn diagonal(accelerator: &Accelerator, gemm: Gemm, chain: &Chain) -> usize {
    let columns = accelerator.array.cols / gemm.channels.max(1);
    match accelerator.dataflow {
        Dataflow::OutputStationary => {
            let last = accelerator.datapath.levels.last();
            if last.is_some_and(|level| level.reduce.takes_run_at_once()) { 1 } else { columns }
        }
        Dataflow::WeightStationary => chain.room().min(columns),
        Dataflow::InputStationary => chain.room(),
        Dataflow::Vector => 1,
    }
}
