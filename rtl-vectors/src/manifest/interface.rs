//! Interface through which data enters and leaves the RTL.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How data gets in and out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Interface {
    /// Products per beat.
    #[schemars(range(min = 1, max = 48))]
    pub lanes: usize,
    /// `dense` (lanes at their width) or `byte_slot` (each lane sign-extended to whole bytes).
    pub packing: Packing,
    /// Bits from one activation lane to the next.
    pub activation_slot: u32,
    /// Bits from one weight lane to the next.
    pub weight_slot: u32,
    /// Where lane 0 lies.
    pub lane_order: String,
    /// Fields of a control word.
    pub ctrl: Vec<Field>,
    /// Fields of a flags word.
    pub flags: Vec<Field>,
    /// How beats are handed over.
    pub handshake: String,
    /// What clearing means.
    pub clear: String,
    /// Reset.
    pub reset: String,
    /// Clock cycles from an accepted beat to the accumulators that contain it.
    pub acc_latency: u32,
    /// Clock cycles from a dot product's last beat to its output.
    pub out_latency: u32,
}

/// How lanes lie in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Packing {
    /// One after the other.
    #[default]
    Dense,
    /// Each sign-extended to whole bytes.
    ByteSlot,
}

/// A field of a word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// Name.
    pub name: String,
    /// Its least significant bit.
    pub lsb: u32,
    /// Width.
    pub bits: u32,
}
