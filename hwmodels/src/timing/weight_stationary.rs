//! Weight stationary: rows hold products, columns hold channels, and sums move down the columns, pixel after
//! pixel.

use super::moving_sums::Stationary;

pub(super) const STATIONARY: Stationary = Stationary::Weights;
