//! Tables, plots and pages as bytes, confidence intervals and tests.
//!
//! ```
//! use guardbit::reports::wilson;
//!
//! // The 95 % confidence interval of an accuracy of 870 of 1000 samples.
//! let [low, high] = wilson(870, 1000).expect("there are samples");
//! assert!(0.84 < low && low < 0.87 && 0.87 < high && high < 0.90);
//! ```

pub use guardbit_reports::*;
