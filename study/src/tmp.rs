use guardbit_reports::*;
use std::path::Path;
pub fn run_files(_: &RunRecord) -> Vec<String> { vec![] }
pub fn write_run(dir: &Path, r: &RunRecord, _: &[(String, String)]) -> Result<(), ReportError> {
    write_atomic(&dir.join("layers.csv"), &write_csv(&r.layers)?)
}
pub fn sweep_files() -> Vec<String> { vec![] }
pub fn write_sweep(dir: &Path, r: &[PointRecord], _: &[(String, String)]) -> Result<(), ReportError> {
    let rows: Vec<_> = r.iter().map(|p| p.summary.clone()).collect();
    write_atomic(&dir.join("summary.csv"), &write_csv(&rows)?)
}
