//! Energy and area of hardware: cost models as data files, and their figures for the layers of a program.
//!
//! A model is a file under `costs/`, or a user's own ([`load_cost`]), with figures per part, each with its
//! source and unit. To add a model, write its file and add its name to `models!` below. Models differ by a
//! factor of about two, so every figure is shown with the name of its model. A figure that a model does not
//! provide is empty.

mod file;
mod layer;
mod load;
mod model;
mod parts;
mod scale;

pub use crate::expression::Expression;
pub use file::cost_schema;
pub use layer::{CostOf, NetworkCost, PartCost, layer_costs, network_cost};
pub use load::{cost_from_yaml, load_cost};
pub use model::{CostModel, Figure, Formula, Rates};
pub use parts::{Item, Part, Variable, items};

use crate::Preset;

/// Registers the models; the name is that of the file.
macro_rules! models {
    ($($name:literal),* $(,)?) => {
        /// All cost models that are included in guardbit.
        pub const COST_MODELS: &[Preset] = &[
            $(Preset { name: $name, text: include_str!(concat!("../../costs/", $name, ".yaml")) }),*
        ];
    };
}

models! {
    "aladdin-40nm",
    "cacti7-40nm",
    "horowitz-45nm",
    "finn-r",
    "yosys-xc7",
    "yosys-osu018",
}
