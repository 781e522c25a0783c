//! Mapping of a layer's groups onto the array (`array.depthwise`).
//!
//! - `serial`: one after the other, each a separate matrix product.
//! - `own_inputs`: side by side. Groups share no activations, so every lane or column takes its own.
//! - `block_diagonal`: B groups as one matrix product, whose weights are 0 off the diagonal. If sums move,
//!   the rows of a group lie below the rows of the previous one, and B is limited by rows and columns. If
//!   sums stay, the columns of groups lie side by side, their products stream one group after the other, and
//!   B is limited by the columns.
//!
//! The zeros are generated on the chip: no memory holds them and no port moves them. They change no sum,
//! because they enter only serial registers, to which 0 can be added. The products of a group begin in their
//! own processing element. They also begin their own chain, unless the level is serial and holds whole
//! groups. If sums stay, a group restarts its runs, and the last level, whose run does not end, is serial.
//!
//! Groups are dealt evenly: B at a time, `ceil(groups / B)` times. The last time may have fewer groups and
//! takes as long.

use super::chain::Chain;
use super::gemm::Gemm;
use crate::{Accelerator, Array, ArrayKind, Dataflow, Depthwise};

/// Groups that run at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Groups {
    /// Number of groups.
    pub abreast: usize,
    /// Number of repetitions.
    pub times: usize,
    /// Whether the products of each group are followed by those of the next one.
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

/// Returns the mapping of groups, where [`Depthwise::ByKind`] is replaced by the choice of dataflow and kind.
fn chosen(dataflow: Dataflow, array: Array) -> Depthwise {
    match array.depthwise {
        Depthwise::ByKind if dataflow != Dataflow::Vector || array.kind == ArrayKind::Channels => {
            Depthwise::Serial
        }
        Depthwise::ByKind => Depthwise::OwnInputs,
        other => other,
    }
}

/// Returns the number of groups of one block-diagonal matrix that fit the array.
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
