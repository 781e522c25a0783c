//! Bins of runs with idle cycles, resets and stalls for tools that collect coverage: covergroups in SystemVerilog, and
//! cover points for cocotb-coverage.

use std::fmt::Write;

use crate::bins::{Bin, GROUPS};

/// Returns `gb_stress.sv`.
pub(super) fn covergroups() -> String {
    let mut text = String::from(
        "// Covergroups of what the idle cycles, resets and stalls of a run hit; made by guardbit. The benches sample them where
// GB_COVERAGE is defined: compile this file before them in a simulator that has covergroups.
module gb_stress;
",
    );
    for group in &GROUPS {
        let name = group.name;
        let _ = writeln!(text, "    // {}", group.what);
        let _ = writeln!(text, "    covergroup {name}_t with function sample (int value);");
        let _ = writeln!(text, "        coverpoint value {{");
        for Bin { name, first, last } in group.bins {
            let name = name.replace('-', "_to_").replace('+', "_up");
            let values = match last {
                Some(last) if last == first => first.to_string(),
                Some(last) => format!("[{first}:{last}]"),
                None => format!("[{first}:$]"),
            };
            let _ = writeln!(text, "            bins value_{name} = {{{values}}};");
        }
        let _ = writeln!(text, "        }}\n    endgroup\n    {name}_t {name} = new;\n");
    }
    text.truncate(text.trim_end().len());
    text + "\nendmodule\n"
}

/// Returns `gb_stress.py`.
pub(super) fn cover_points() -> String {
    let mut table = String::new();
    for group in &GROUPS {
        let _ = writeln!(table, "    # {}", group.what);
        let bins = group.bins.iter().map(|Bin { name, first, last }| {
            let last = last.map_or("None".into(), |last| last.to_string());
            format!("\"{name}\": ({first}, {last})")
        });
        let bins: Vec<String> = bins.collect();
        let _ = writeln!(table, "    \"{}\": {{{}}},", group.name, bins.join(", "));
    }
    format!(
        r#""""Bins of what the idle cycles, resets and stalls of a run hit; made by guardbit.

`sample(group, value)` counts a value in HITS, and as a cover point `gb_stress.GROUP` where cocotb-coverage is installed.
"""

try:
    from cocotb_coverage.coverage import CoverPoint
except ImportError:
    CoverPoint = None

# Per group: bins by name with their first and last value; None is no limit.
BINS = {{
{table}}}
HITS = {{group: dict.fromkeys(bins, 0) for group, bins in BINS.items()}}


def holds(value, limits):
    first, last = limits
    return first <= value and (last is None or value <= last)


def point(group):
    """Returns a function that samples a cover point."""
    if CoverPoint is None:
        return lambda value: None
    bins = BINS[group]
    return CoverPoint(
        f"gb_stress.{{group}}", xf=lambda value: value, rel=holds, bins=list(bins.values()), bins_labels=list(bins)
    )(lambda value: None)


POINTS = {{group: point(group) for group in BINS}}


def sample(group, value):
    for name, limits in BINS[group].items():
        HITS[group][name] += holds(value, limits)
    POINTS[group](value)


def clear():
    """Counts from 0 again; cover points keep what they have."""
    for bins in HITS.values():
        bins.update(dict.fromkeys(bins, 0))


def listed():
    """Returns the hits as the other benches print them."""
    return " ".join(f"{{group}}={{','.join(map(str, bins.values()))}}" for group, bins in HITS.items())
"#
    )
}
