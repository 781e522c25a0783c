//! Input stationary: rows hold products, columns hold pixels, and sums move down the columns, channel after
//! channel.

use super::moving_sums::Stationary;

pub(super) const STATIONARY: Stationary = Stationary::Activations;
