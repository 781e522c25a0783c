//! The result of a search for inputs, with names: as JSON, and as files of an output folder.

use std::fmt::Write as _;

use guardbit_files::{FolderError, Manifest, Staging};
use serde_json::{Value, json};

use super::{Discrimination, LayerParameters};

/// Inputs and classes, with the names of the accelerators.
#[derive(Debug, Clone, Copy)]
pub struct Named<'a> {
    /// The inputs and the classes.
    pub found: &'a Discrimination,
    /// Name of each accelerator, by its index.
    pub names: &'a [String],
    /// Layer of the inputs.
    pub layer: LayerParameters,
}

impl Named<'_> {
    /// Returns inputs and classes as JSON.
    pub fn json(&self) -> Value {
        let inputs = self.found.inputs.iter();
        let inputs = inputs.map(|input| json!({ "products": input.products, "bias": input.bias }));
        let classes = self.found.classes.iter().map(|class| {
            json!({
                "accelerators": class.members.iter().map(|&at| &self.names[at]).collect::<Vec<_>>(),
                "sums": class.sums,
                "proved_equal": class.is_proved,
            })
        });
        json!({
            "terms": self.layer.terms,
            "inputs": inputs.collect::<Vec<_>>(),
            "shortest": self.found.is_shortest,
            "classes": classes.collect::<Vec<_>>(),
            "tried": self.found.tried,
        })
    }

    /// Returns the tables of inputs and classes.
    fn tables(&self) -> [(String, Vec<u8>); 2] {
        let mut inputs = "input,bias,k,activation,weight\n".to_owned();
        let mut classes = "class,accelerator,proved_equal".to_owned();
        for (at, input) in self.found.inputs.iter().enumerate() {
            let _ = write!(classes, ",{}", input_name(at));
            let zero = [self.layer.activation_zero_point, self.layer.weight_zero_point];
            for k in 0..self.layer.terms {
                let [activation, weight] = input.products.get(k).unwrap_or(&zero);
                let _ = writeln!(inputs, "{},{},{k},{activation},{weight}", input_name(at), input.bias);
            }
        }
        classes.push('\n');
        for (number, class) in self.found.classes.iter().enumerate() {
            for &at in &class.members {
                let name = self.names[at].replace('"', "\"\"");
                let _ = write!(classes, "{},\"{name}\",{}", number + 1, class.is_proved);
                class.sums.iter().for_each(|sum| {
                    let _ = write!(classes, ",{sum}");
                });
                classes.push('\n');
            }
        }
        [("inputs.csv".into(), inputs.into_bytes()), ("classes.csv".into(), classes.into_bytes())]
    }

    /// Writes the tables, and the manifest with the JSON.
    ///
    /// # Errors
    /// [`FolderError`] if a file cannot be written.
    pub fn write(&self, staging: &mut Staging<'_>) -> Result<(), FolderError> {
        staging.write_all(&self.tables())?;
        let manifest = json!({
            "schema": 1,
            "tool": { "name": "guardbit", "version": env!("CARGO_PKG_VERSION") },
            "command": "discriminate",
            "result": self.json(),
            "files": staging.entries(),
        });
        // Text keys only: this cannot fail.
        let sealed = guardbit_files::seal(&manifest).unwrap_or_default();
        staging.write(Manifest::Discriminate.file(), sealed.as_bytes())
    }
}

/// Returns the name of an input in tables: `i1`, `i2` and so on.
pub fn input_name(at: usize) -> String {
    format!("i{}", at + 1)
}
