//! Cases that come nearest to showing a fault: those in which most signals differ between two waveforms.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use vcd::{Command as Change, IdCode, ScopeItem, Value};

use super::simulators::find_case;
use crate::manifest::Manifest;

/// Greatest number of cases that are listed.
const NEAREST: usize = 3;

/// Values of named signals in a waveform, change by change.
struct Waves {
    parser: vcd::Parser<BufReader<File>>,
    names: HashMap<IdCode, Vec<String>>,
}

impl Waves {
    fn open(path: &Path) -> Option<Self> {
        let mut parser = vcd::Parser::new(BufReader::new(File::open(path).ok()?));
        let header = parser.parse_header().ok()?;
        let mut names: HashMap<IdCode, Vec<String>> = HashMap::new();
        let mut left: Vec<(String, &[ScopeItem])> = vec![(String::new(), &header.items)];
        while let Some((scope, items)) = left.pop() {
            for item in items {
                match item {
                    ScopeItem::Var(var) => {
                        names.entry(var.code).or_default().push(format!("{scope}{}", var.reference));
                    }
                    ScopeItem::Scope(inner) => {
                        left.push((format!("{scope}{}.", inner.identifier), &inner.items))
                    }
                    _ => {}
                }
            }
        }
        Some(Self { parser, names })
    }

    /// Returns the next time with the changes before it.
    fn step(&mut self) -> Option<(Vec<(String, String)>, u64)> {
        let mut changes = Vec::new();
        loop {
            let (code, text) = match self.parser.next()?.ok()? {
                Change::Timestamp(time) => return Some((changes, time)),
                Change::ChangeScalar(code, value) => (code, value.to_string()),
                Change::ChangeVector(code, value) => {
                    let digits: String = value.iter().map(|bit: Value| bit.to_string()).collect();
                    (code, digits.trim_start_matches('0').to_owned())
                }
                _ => continue,
            };
            for name in self.names.get(&code).into_iter().flatten() {
                changes.push((name.clone(), text.clone()));
            }
        }
    }
}

/// Returns the cases in which the most named signals of the design differ between two runs, with that number.
pub(super) fn nearest(intact: &Path, mutant: &Path, manifest: &Manifest) -> Vec<(String, usize)> {
    let (Some(mut a), Some(mut b)) = (Waves::open(intact), Waves::open(mutant)) else { return Vec::new() };
    // Numbered names differ between netlists, and the bench's own signals say nothing about the design.
    let is_seen = |name: &str| {
        let last = name.rsplit('.').next().unwrap_or(name);
        !last.starts_with('_') && name.matches('.').count() > 1
    };
    let (mut now, mut then): (HashMap<String, String>, HashMap<String, String>) = Default::default();
    let (mut differing, mut beat) = (HashSet::<String>::new(), 0usize);
    let mut most: BTreeMap<usize, usize> = BTreeMap::new();
    let (mut left, mut right) = (a.step(), b.step());
    while let (Some((one, time_a)), Some((other, time_b))) = (&left, &right) {
        let time = (*time_a).min(*time_b);
        let mut touched = Vec::new();
        let mut take = |changes: &[(String, String)], values: &mut HashMap<String, String>| {
            for (name, value) in changes {
                values.insert(name.clone(), value.clone());
                touched.push(name.clone());
            }
        };
        let [advance_a, advance_b] = [*time_a == time, *time_b == time];
        if advance_a {
            take(one, &mut now);
        }
        if advance_b {
            take(other, &mut then);
        }
        for name in touched.into_iter().filter(|name| is_seen(name)) {
            match (now.get(&name), then.get(&name)) {
                (Some(x), Some(y)) if x != y => drop(differing.insert(name)),
                _ => drop(differing.remove(&name)),
            }
        }
        if let Some(value) = now.get("tb.beat").or_else(|| now.get("tb_stream.beat")) {
            beat = usize::from_str_radix(value, 2).unwrap_or(0);
        }
        let entry = most.entry(beat.saturating_sub(1)).or_default();
        *entry = (*entry).max(differing.len());
        if advance_a {
            left = a.step();
        }
        if advance_b {
            right = b.step();
        }
    }
    let mut cases: Vec<(String, usize)> = Vec::new();
    for (beat, count) in most.into_iter().filter(|(_, count)| *count > 0) {
        let Some(case) = find_case(manifest, Some(beat), None) else { continue };
        match cases.last_mut().filter(|(id, _)| *id == case.id) {
            Some((_, most)) => *most = (*most).max(count),
            None => cases.push((case.id.clone(), count)),
        }
    }
    cases.sort_by_key(|(_, count)| Reverse(*count));
    cases.truncate(NEAREST);
    cases
}
