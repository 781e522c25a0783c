//! Activations stay: rows hold products, columns hold pixels; sums move down the columns, channel after channel.

use super::moving_sums::Stationary;

pub(super) const STATIONARY: Stationary = Stationary::Activations;
