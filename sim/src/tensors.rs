//! The tensors of a sample.

use crate::codes::Codes;
use crate::stats::EventCounts;

/// Codes of one sample's tensors, by tensor index; `None` for a tensor that was not kept. Equal codes are
/// shared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BatchTensors {
    /// Tensors of the exact network.
    pub exact: Vec<Option<Codes>>,
    /// Tensors of the narrow hardware, by program. In isolated mode each tensor is what its own layer
    /// produced from exact inputs. A program that was stopped has the tensors it produced before.
    pub simulated: Vec<Vec<Option<Codes>>>,
    /// Events of every accelerated layer in order of execution, by program; empty unless they are requested.
    pub events: Vec<Vec<EventCounts>>,
}
