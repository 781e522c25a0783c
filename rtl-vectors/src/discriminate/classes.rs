//! Classes of accelerators, divided by one input after the other.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use super::canonical::Canonical;
use super::search::TestInput;

/// Classes of accelerators that no input has told apart so far.
pub(super) struct Classes<'a> {
    keys: &'a [Option<&'a Canonical>],
    classes: Vec<Vec<usize>>,
    /// Inputs that divided a class.
    divided: Vec<TestInput>,
}

impl<'a> Classes<'a> {
    /// Begins with all accelerators in one class.
    pub fn new(keys: &'a [Option<&'a Canonical>]) -> Self {
        Self { keys, classes: vec![(0..keys.len()).collect()], divided: Vec::new() }
    }

    /// Returns the members of the classes that more inputs may divide.
    pub fn open(&self) -> Vec<usize> {
        self.classes.iter().filter(|class| !are_proved(self.keys, class)).flatten().copied().collect()
    }

    /// Divides the classes by the sums of an input. `column` has members with their sums; classes of other members
    /// stay.
    pub fn split(&mut self, input: &TestInput, column: &[(usize, i128)]) {
        let sums: HashMap<usize, i128> = column.iter().copied().collect();
        let before = self.classes.len();
        let parts = |class: Vec<usize>| {
            let mut parts: BTreeMap<Option<i128>, Vec<usize>> = BTreeMap::new();
            class.iter().for_each(|at| parts.entry(sums.get(at).copied()).or_default().push(*at));
            parts.into_values()
        };
        self.classes = std::mem::take(&mut self.classes).into_iter().flat_map(parts).collect();
        if self.classes.len() > before {
            self.divided.push(input.clone());
        }
    }

    /// Returns the inputs that divided a class, and the classes.
    pub fn into_parts(self) -> (Vec<TestInput>, Vec<Vec<usize>>) {
        (self.divided, self.classes)
    }
}

/// Returns whether accelerators are proved equal. One alone is.
pub(super) fn are_proved(keys: &[Option<&Canonical>], members: &[usize]) -> bool {
    let first = keys[members[0]];
    members.len() == 1 || first.is_some() && members.iter().all(|&at| keys[at] == first)
}

/// Returns columns by which all rows that differ in some column differ: each time one of those that tell apart the most
/// rows, and of these one of least `length`.
pub(super) fn fewest(rows: &[Vec<i128>], length: impl Fn(usize) -> usize) -> Vec<usize> {
    let columns = rows.first().map_or(0, Vec::len);
    let (mut chosen, mut groups, mut count) = (Vec::new(), vec![0; rows.len()], 1);
    let divided = |groups: &[usize], column: usize| {
        let mut numbers = HashMap::new();
        let number = |(row, &group): (&Vec<i128>, &usize)| {
            let next = numbers.len();
            *numbers.entry((group, row[column])).or_insert(next)
        };
        let groups: Vec<usize> = rows.iter().zip(groups).map(number).collect();
        (numbers.len(), groups)
    };
    while count < rows.len() {
        let best = (0..columns).map(|column| (divided(&groups, column), column));
        let best =
            best.max_by_key(|((count, _), column)| (*count, Reverse(length(*column)), Reverse(*column)));
        match best {
            Some(((more, next), column)) if more > count => {
                (count, groups) = (more, next);
                chosen.push(column);
            }
            _ => break,
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::fewest;

    #[test]
    fn few_columns_keep_rows_apart() {
        let rows = [vec![0, 0, 1, 5], vec![0, 1, 0, 6], vec![1, 0, 1, 7]];
        assert_eq!(fewest(&rows, |_| 1), [3]);
        assert_eq!(fewest(&rows, |column| [1, 1, 1, 9][column]), [3], "fewer come before shorter");
        assert_eq!(
            fewest(&[vec![0, 1], vec![1, 2]], |column| [2, 1][column]),
            [1],
            "of equal ones the shorter"
        );
        assert_eq!(fewest(&[vec![3, 3]], |_| 1), [0usize; 0]);
    }
}
