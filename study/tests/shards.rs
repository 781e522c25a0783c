//! Shards of a sweep: merged, they are byte-equal to the sweep.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use guardbit_sim::StatsLevel;
use guardbit_study::{
    Axes, Existing, InputSource, MergeError, Settings, Shard, ShardError, Silent, StudyError, SweepRequest,
    merge, sweep,
};
use guardbit_testing::cases;
use proptest::prelude::*;

fn request(dir: &Path, axes: &[String], shard: Option<Shard>) -> SweepRequest {
    fs::write(dir.join("net.yaml"), include_str!("net.yaml")).unwrap();
    let settings =
        Settings { stats: StatsLevel::Events, ..Settings::new(InputSource::Random { count: 3, seed: 1 }) };
    SweepRequest {
        stats_given: false,
        shard,
        ..SweepRequest::new(
            dir.join("net.yaml"),
            "fpga-int14-os",
            settings,
            Axes::new(axes.iter().map(|axis| axis.parse().unwrap()).collect(), &[], Vec::new()).unwrap(),
        )
    }
}

/// Returns every file of a folder and its subfolders.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.flat_map(|path| match path.is_dir() {
        true => contents(&path).into_iter().collect(),
        false => vec![(path.clone(), fs::read(&path).unwrap())],
    });
    files.map(|(path, bytes)| (path.strip_prefix(folder).map_or(path.clone(), Into::into), bytes)).collect()
}

/// Runs shard `index` of `count`; returns its folder.
fn part(dir: &Path, axes: &[String], index: usize, count: usize) -> PathBuf {
    let out = dir.join(format!("part{index}of{count}"));
    sweep(&request(dir, axes, Shard::new(index, count)), Some(&out), Existing::Refuse, &Silent).unwrap();
    out
}

/// Restores the state after a process is killed while it writes its point `at`: the initial `sweep.json`, and
/// the points before.
fn cut(folder: &Path, begun: &[u8], at: usize) {
    fs::write(folder.join("sweep.json"), begun).unwrap();
    let mut points: Vec<_> = fs::read_dir(folder.join("points"))
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path())
        .collect();
    points.sort();
    points.iter().skip(at).for_each(|point| fs::remove_file(point).unwrap());
    // Predictions are written last.
    fs::remove_dir_all(folder.join("predictions")).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(12), failure_persistence: None, ..ProptestConfig::default() })]

    /// Holds for any number of shards, and any interrupted and resumed ones.
    #[test]
    fn merged_parts_are_the_whole(
        count in 1_usize..9,
        widths in 1_u32..4,
        walks in prop::bool::ANY,
        trap in prop::bool::ANY,
        again in 1_usize..9,
        at in 0_usize..3,
        reversed in prop::bool::ANY,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        let mut axes = vec![format!("accumulation.acc.bits=9..={}", 8 + widths)];
        axes.extend(walks.then(|| "reduction_order.walk=forward,reverse".into()));
        // A trapped point is an ordinary result.
        axes.extend(trap.then(|| "accumulation.acc.overflow=trap,wrap".into()));
        let whole = dir.join("whole");
        let records =
            sweep(&request(dir, &axes, None), Some(&whole), Existing::Refuse, &Silent).unwrap();
        let mut parts: Vec<PathBuf> = (1..=count).map(|index| part(dir, &axes, index, count)).collect();
        let again = (again - 1) % count;
        let text = fs::read_to_string(parts[again].join("sweep.json")).unwrap();
        let own = fs::read_dir(parts[again].join("points")).map_or(0, Iterator::count);
        if own > 0 {
            cut(&parts[again], begun(&text).as_bytes(), at.min(own - 1));
            let refused = merge(&parts, &dir.join("early"), Existing::Refuse);
            let Err(StudyError::Merge(error)) = refused else { panic!("{refused:?}") };
            let MergeError::NotWhole { missing, unfinished } = *error else { panic!("{error}") };
            prop_assert_eq!((missing.len(), unfinished[0].stored, unfinished[0].points), (0, at.min(own - 1), own));
            prop_assert!(!dir.join("early").exists());
            prop_assert_eq!(&part(dir, &axes, again + 1, count), &parts[again]);
            prop_assert_eq!(fs::read_to_string(parts[again].join("sweep.json")).unwrap(), text);
        }
        if reversed {
            parts.reverse();
        }
        let merged = merge(&parts, &dir.join("merged"), Existing::Refuse).unwrap();
        prop_assert_eq!(merged, records);
        prop_assert!(contents(&dir.join("merged")) == contents(&whole));
        // The merged folder is the folder of a sweep: running the sweep there has nothing left to do.
        sweep(&request(dir, &axes, None), Some(&dir.join("merged")), Existing::Refuse, &Silent).unwrap();
        prop_assert!(contents(&dir.join("merged")) == contents(&whole));
    }

    /// Shards are disjoint and together complete; their sizes differ by at most one.
    #[test]
    fn every_point_has_one_part(points in 0_usize..20_000, count in 1_usize..3_000) {
        let ranges: Vec<_> = (1..=count).map(|index| Shard::new(index, count).unwrap().points(points)).collect();
        prop_assert_eq!(ranges[0].start, 0);
        prop_assert_eq!(ranges[count - 1].end, points);
        prop_assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
        prop_assert!(ranges.iter().all(|range| range.len().abs_diff(points / count) <= 1));
    }
}

/// Returns the manifest of a shard before its first point, as guardbit writes it.
fn begun(text: &str) -> String {
    let start = text.rfind("\"files\": [").unwrap();
    let text =
        format!("{}\"files\": [],\n  \"sha256\": \"{}\"\n}}\n", &text[..start], guardbit_files::UNSEALED);
    let text = text.replace("\"complete\": true", "\"complete\": false");
    // Trapped points are listed at the end.
    let text = match text.find("  \"trapped\": [") {
        Some(at) => {
            let end = at + text[at..].find("  \"shard\": ").unwrap();
            [&text[..at], &text[end..]].concat()
        }
        None => text,
    };
    guardbit_files::seal_text(&text)
}

#[test]
fn shards_are_read_from_text() {
    for (text, expected) in [
        ("1/1", Some((1, 1))),
        ("3/4", Some((3, 4))),
        ("0/4", None),
        ("5/4", None),
        ("1/0", None),
        ("1", None),
        ("a/b", None),
        ("-1/4", None),
        ("1/1000001", None),
        ("", None),
    ] {
        let read = text.parse::<Shard>();
        assert_eq!(read.as_ref().ok().map(|shard| (shard.index(), shard.count())), expected, "{text}");
        match read {
            Ok(shard) => assert_eq!(shard.to_string(), text),
            Err(error) => assert_eq!(error, ShardError::NoShard(text.into())),
        }
    }
}

/// Id, count, first, last and step of a job array's task, as set by `sbatch --array` of Slurm 22.05.
#[test]
fn shards_are_read_from_slurm() {
    let missing = "SLURM_ARRAY_TASK_ID is not set: `slurm` is for a task of a job array (sbatch --array)";
    let uneven = "the tasks of this job array are not numbered consecutively: write I/N, where N is the \
                  number of shards";
    for (array, variables, expected) in [
        ("1-4", ["1", "4", "1", "4", "1"], "1/4"),
        ("1-4", ["4", "4", "1", "4", "1"], "4/4"),
        ("0-3", ["0", "4", "0", "3", "1"], "1/4"),
        ("0-3", ["3", "4", "0", "3", "1"], "4/4"),
        ("10-16:2", ["14", "4", "10", "16", "2"], "3/4"),
        ("5", ["5", "1", "5", "5", ""], "1/1"),
        // With 1,3,7 and 2,3,5-7 the variables do not reveal the set of tasks.
        ("1,3,7", ["3", "3", "1", "7", "1"], uneven),
        ("0-3", ["4", "4", "0", "3", "1"], uneven),
        ("none", ["", "", "", "", ""], missing),
        (
            "bad",
            ["x", "1", "1", "1", "1"],
            "SLURM_ARRAY_TASK_ID is `x`, which is not a number: `slurm` is for a task of a job array (sbatch \
             --array)",
        ),
    ] {
        let names = ["ID", "COUNT", "MIN", "MAX", "STEP"].map(|name| format!("SLURM_ARRAY_TASK_{name}"));
        let variable = |name: &str| {
            let at = names.iter().position(|one| one == name).unwrap();
            Some(variables[at].to_owned()).filter(|text| !text.is_empty())
        };
        let shard =
            Shard::of_slurm(variable).map_or_else(|error| error.to_string(), |shard| shard.to_string());
        assert_eq!(shard, expected, "{array}");
    }
}

/// A build without the feature `parquet` cannot renew the Parquet tables of a folder, and says so before it runs
/// anything.
#[cfg(not(feature = "parquet"))]
#[test]
fn parquet_tables_end_a_sweep_before_it_starts() {
    let dir = tempfile::tempdir().unwrap();
    let (out, request) =
        (dir.path().join("out"), request(dir.path(), &["accumulation.acc.bits=12".into()], None));
    sweep(&request, Some(&out), Existing::Refuse, &Silent).unwrap();
    fs::write(out.join("sweep.parquet"), "").unwrap();
    let before = contents(&out);
    let error = sweep(&request, Some(&out), Existing::Refuse, &Silent).unwrap_err();
    assert!(matches!(error, StudyError::NoParquet { .. }), "{error}");
    assert_eq!(contents(&out), before);
}
