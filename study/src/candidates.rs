//! Accelerators that a device may be: several, or one with settings that vary.

use guardbit_hwmodels::{Accelerator, load};

use crate::axes::argument;
use crate::{Arguments, Axes, Axis, Misuse, StudyError, Unknown};

/// Accelerator that a device may be.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// What distinguishes it from the others: its name, the values that vary, or both.
    pub label: String,
    /// The accelerator.
    pub accelerator: Accelerator,
}

/// Returns the accelerators that `args` describe: every one of `hw`, with every combination of the values of `any`
/// and `axis`.
///
/// # Errors
/// [`StudyError`] if an axis is invalid, if there are more than `most` accelerators, or if one cannot be loaded.
pub fn candidates(args: &Arguments, most: usize) -> Result<Vec<Candidate>, StudyError> {
    let mut all = Vec::new();
    for hw in &args.hw {
        let base = load(hw, &args.set)?;
        let any = Unknown::ALL.into_iter().filter(|one| args.any.iter().any(|name| name == one.name()));
        let any: Vec<_> = any.flat_map(|one| one.axes(&base)).collect();
        if let Some(axis) = args.axis.iter().find(|axis| argument(axis.key()).is_some()) {
            let problem = format!("`{}` is no key of an accelerator", axis.key());
            return Err(Misuse::value("axis", problem).into());
        }
        let names: Vec<_> =
            args.axis.iter().map(Axis::key).chain(any.iter().map(|(name, ..)| name.as_str())).collect();
        let any = any.iter().map(|(_, key, values)| format!("{key}={values}").parse());
        let axes = args.axis.iter().cloned().map(Ok).chain(any).collect::<Result<_, _>>()?;
        let axes = Axes::new(axes, &[], Vec::new())?;
        let count = axes.size().saturating_add(all.len());
        if count > most {
            let name = if args.any.is_empty() { "axis" } else { "any" };
            let problem =
                format!("{count} candidates; expected at most {most}: vary fewer settings at a time");
            return Err(Misuse::value(name, problem).into());
        }
        for values in axes.combinations()? {
            let pairs = axes.list().iter().map(Axis::key).zip(&values);
            let varied = pairs.map(|(key, value)| format!("{key}={value}"));
            let sets: Vec<_> = args.set.iter().cloned().chain(varied).collect();
            let name = (args.hw.len() > 1 || values.is_empty()).then(|| base.name.clone());
            let labels = names.iter().zip(&values).map(|(name, value)| format!("{name}={value}"));
            let label = name.into_iter().chain(labels).collect::<Vec<_>>().join(", ");
            all.push(Candidate { label, accelerator: load(hw, &sets)? });
        }
    }
    Ok(all)
}
