//! User-defined permutations, by layer or by number of products.

use std::sync::Arc;

/// Greatest total length of all permutations of an accelerator.
pub(crate) const MOST_NUMBERS: usize = 1 << 17;

/// Permutations by the name of a layer, or by their length: `order[k]` is the product of the flattened axes
/// that is added as the k-th.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permutations(Arc<[(String, Vec<usize>)]>);

impl Permutations {
    /// Creates named permutations. A name that is a number is a number of products.
    ///
    /// # Errors
    /// A description, if a list is not a permutation, its length differs from that in its name, or a name is
    /// duplicate.
    pub fn new(given: Vec<(String, Vec<i64>)>) -> Result<Self, String> {
        let mut all: Vec<(String, Vec<usize>)> = Vec::with_capacity(given.len());
        for (name, numbers) in given {
            if name.parse().is_ok_and(|terms: usize| terms != numbers.len()) {
                return Err(format!("the permutation `{name}` has {} numbers", numbers.len()));
            }
            let order =
                permutation(&numbers).map_err(|problem| format!("the permutation `{name}`: {problem}"))?;
            all.push((name, order));
        }
        // The order in which they were written does not matter.
        all.sort();
        if let Some(pair) = all.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(format!("two permutations have the name `{}`", pair[0].0));
        }
        Ok(Self(all.into()))
    }

    /// Returns every name with its permutation.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[usize])> {
        self.0.iter().map(|(name, order)| (name.as_str(), order.as_slice()))
    }

    /// Returns the permutation for a layer with these names and `terms` products: the one with one of its
    /// names, otherwise the one of that length. The result is keyed by its length.
    pub(super) fn of_layer(&self, names: &[&str], terms: usize) -> Option<Self> {
        let named = names.iter().find_map(|name| self.get(name));
        let order = named.or_else(|| self.of_terms(terms)).filter(|order| order.len() == terms)?;
        Some(Self(Arc::new([(terms.to_string(), order.to_vec())])))
    }

    /// Returns the permutation of `terms` products.
    pub(super) fn of_terms(&self, terms: usize) -> Option<&[usize]> {
        self.get(&terms.to_string())
    }

    fn get(&self, name: &str) -> Option<&[usize]> {
        self.iter().find_map(|(own, order)| (own == name).then_some(order))
    }
}

/// Returns the numbers, if they contain each of `0..len`.
fn permutation(numbers: &[i64]) -> Result<Vec<usize>, String> {
    let mut places: Vec<Option<usize>> = vec![None; numbers.len()];
    let mut order = Vec::with_capacity(numbers.len());
    for (place, &number) in numbers.iter().enumerate() {
        let found = usize::try_from(number).ok().filter(|&number| number < numbers.len());
        let Some(number) = found else {
            return Err(format!("index {place} has the value {number}; expected 0 to {}", numbers.len() - 1));
        };
        if let Some(first) = places[number].replace(place) {
            return Err(format!("indices {first} and {place} both have the value {number}"));
        }
        order.push(number);
    }
    Ok(order)
}
