//! Whole runs, sweeps and sizings that write folders, equal to those of the command line.
//!
//! ```
//! use guardbit::files::{Existing, Scratch};
//! use guardbit::reports::Pages;
//! use guardbit::study::{InputSource, RunRequest, Settings, Silent, run};
//!
//! let mut settings = Settings::new(InputSource::Random { count: 8, seed: 0 });
//! settings.pages = Pages { plots: false, report: false, ..Pages::default() };
//! let request = RunRequest::new("../examples/digits/digits_int8.tflite", "fpga-int14-os", settings);
//!
//! let scratch = Scratch::new("example-")?;
//! let folder = scratch.path().join("results");
//! let record = run(&request, Some(&folder), Existing::Refuse, &Silent)?;
//! assert_eq!(record.outcome.samples, 8);
//! assert!(folder.join("layers.csv").exists());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use guardbit_study::*;
