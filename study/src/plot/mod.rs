//! Draws figures of finished results of one or several folders together, with the table of what is drawn.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use guardbit_files::{Existing, SingleFile, read};
use guardbit_reports::plots::{CURVE_PLOT, Drawing, MOST_CURVES};
use guardbit_reports::{Column, CurvePoint, CurvesRecord, PlotStyle, Stored, TABLES};
use serde_json::Value;

use crate::StudyError;
use crate::compare::folder::{Folder, Kind, kind_of, short};

/// Column along which layers are plotted.
const LAYERS: &str = "index";
/// Maximum number of folders.
const MOST_FOLDERS: usize = 64;
/// Text in every file of a plot, by which files of guardbit are recognized.
const MARK: &str = "guardbit plot";
/// First columns of the table, by which tables of guardbit are recognized.
const HEAD: &str = "folder,curve,";
/// Greatest size of a file that is replaced, in bytes.
const MOST_BYTES: u64 = 100_000_000;

/// Request for a plot.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PlotRequest {
    /// Folders with finished results.
    pub folders: Vec<PathBuf>,
    /// Axis or column along the plot; by default `bits` for points, and the layers in order for a run or a sizing.
    pub x: Option<String>,
    /// Column that is shown; by default the accuracy, or what is known instead, `events` of a run, and the recommended
    /// widths of a sizing.
    pub y: Option<String>,
    /// Axes and columns whose values distinguish the curves.
    pub by: Vec<String>,
    /// Style of the picture.
    pub style: PlotStyle,
}

/// Drawn plot.
#[derive(Debug, Clone, PartialEq)]
pub struct Plotted {
    /// The picture.
    pub svg: String,
    /// Columns of its table.
    pub columns: Vec<String>,
    /// One row per point of the picture. The first columns have the folder and the curve, then follow the values
    /// of the distinguishing columns, of the axis and of the shown column, and both ends of its interval.
    pub rows: Vec<Vec<String>>,
    style: PlotStyle,
}

/// Draws finished results.
///
/// # Errors
/// [`StudyError::Plot`] for a folder without finished results, for a column that its table does not have or that
/// has no numbers, and for points that the curves do not distinguish.
pub fn plot(request: &PlotRequest) -> Result<Plotted, StudyError> {
    if let Some(problem) = request.style.problem() {
        return Err(wrong(problem));
    }
    let count = request.folders.len();
    if !(1..=MOST_FOLDERS).contains(&count) {
        return Err(wrong(format!("{count} folders; expected 1 to {MOST_FOLDERS}")));
    }
    let names = short(&request.folders);
    let results = request
        .folders
        .iter()
        .zip(names)
        .map(|(folder, name)| Results::read(folder, name))
        .collect::<Result<Vec<_>, _>>()?;
    let [x, y] = results[0].shown(request);
    // Folders distinguish curves unless something else is asked for, and levels the rows of a layer.
    let mut by = request.by.clone();
    if by.is_empty() {
        let has_levels = results.iter().any(|result| result.varies("level")) && x == LAYERS;
        by.extend((count > 1).then(|| "folder".to_owned()));
        by.extend(has_levels.then(|| "level".to_owned()));
    }
    let mut record = CurvesRecord { x: x.clone(), y: y.clone(), by: by.clone(), ..CurvesRecord::default() };
    let column = results[0].kind.column(&y);
    record.unit = column.map_or("", |column| column.unit).into();
    record.is_share = column.is_some_and(|column| column.share_of.is_some() || column.kind.contains("share"));
    let mut rows = Vec::new();
    for result in &results {
        result.add(&by, &mut record, &mut rows)?;
    }
    if record.points.is_empty() {
        return Err(wrong(format!("column `{y}` is blank in every row")));
    }
    check_curves(&record)?;
    check_distinct(&results, &record, &rows)?;
    let drawing = CURVE_PLOT.draw_in(&record, &request.style)?;
    let svg = match &drawing {
        Drawing::Figure(svg) => svg.clone(),
        Drawing::Nothing(_) => CURVE_PLOT.svg(&drawing, &request.style)?,
    };
    // After the first line, which opens the document.
    let svg = svg.replacen(">\n", &format!(">\n<desc>Written by {MARK}</desc>\n"), 1);
    let ends = ["low", "high"].map(|end| format!("{y}_{end}"));
    let own = [x, y];
    let columns = ["folder", "curve"].map(String::from).into_iter().chain(by).chain(own).chain(ends);
    Ok(Plotted { svg, columns: columns.collect(), rows, style: request.style })
}

impl Plotted {
    /// Returns the table as CSV.
    ///
    /// # Errors
    /// [`StudyError::Plot`] if a row cannot be written.
    pub fn csv(&self) -> Result<Vec<u8>, StudyError> {
        let mut csv = csv::Writer::from_writer(Vec::new());
        let mut write = |row: &Vec<String>| csv.write_record(row).map_err(|error| wrong(error.to_string()));
        write(&self.columns)?;
        self.rows.iter().try_for_each(write)?;
        csv.into_inner().map_err(|error| wrong(error.to_string()))
    }

    /// Writes the picture to `out`, in the format of its extension (.svg, .pdf or .png), and the table to a file
    /// of the same name that ends in .csv.
    ///
    /// # Errors
    /// [`StudyError::Plot`] for another extension, [`StudyError::Folder`] if a file exists or cannot be written.
    pub fn write(&self, out: &Path, existing: Existing) -> Result<(), StudyError> {
        let bytes = match out.extension().and_then(|extension| extension.to_str()) {
            Some("svg") => self.svg.clone().into_bytes(),
            Some("pdf") => CURVE_PLOT.pdf(&self.svg)?,
            Some("png") => CURVE_PLOT.png(&self.svg, &self.style)?,
            _ => {
                return Err(wrong(format!(
                    "cannot write a plot to {}: expected a file that ends in .svg, .pdf or .png",
                    out.display()
                )));
            }
        };
        let has = |mark: &'static str| {
            move |path: &Path| {
                let found = read(path, MOST_BYTES).unwrap_or_default();
                found.windows(mark.len()).any(|part| part == mark.as_bytes())
            }
        };
        let picture = SingleFile::new(out, existing, has(MARK))?;
        let table = SingleFile::new(&out.with_extension("csv"), existing, has(HEAD))?;
        table.write(&self.csv()?)?;
        Ok(picture.write(&bytes)?)
    }
}

/// Finished results of a folder.
struct Results {
    folder: Folder,
    kind: &'static Kind,
    name: String,
}

impl Results {
    fn read(folder: &Path, name: String) -> Result<Self, StudyError> {
        let read = || {
            let kind = kind_of(folder)?;
            Ok(Self { folder: Folder::read(folder, kind)?, kind, name })
        };
        read().map_err(|error| match error {
            StudyError::Compare { problem } => wrong(problem),
            other => other,
        })
    }

    /// Returns the axis and the column to plot: those asked for, or what suits the results.
    fn shown(&self, request: &PlotRequest) -> [String; 2] {
        let is_filled = |name: &&&str| {
            self.folder.column(name).is_some_and(|cells| cells.iter().any(|cell| !cell.is_empty()))
        };
        let (x, ys): (&str, &[&str]) = match self.kind.command {
            "run" => (LAYERS, &["events", "cycles"]),
            "size" => (LAYERS, &["bits_recommended"]),
            _ => ("bits", &["accuracy", "top1_agreement", "output_mismatch"]),
        };
        let y = ys.iter().find(is_filled).unwrap_or(&ys[0]);
        [request.x.as_deref().unwrap_or(x), request.y.as_deref().unwrap_or(y)].map(str::to_owned)
    }

    /// Returns whether a column has several values.
    fn varies(&self, name: &str) -> bool {
        self.folder.column(name).is_some_and(|cells| cells.windows(2).any(|pair| pair[0] != pair[1]))
    }

    /// Adds the points of this folder to the record and to the table.
    fn add(
        &self,
        by: &[String],
        record: &mut CurvesRecord,
        rows: &mut Vec<Vec<String>>,
    ) -> Result<(), StudyError> {
        let column = record.y.clone();
        let (xs, ys) = (self.values(&record.x)?, self.values(&column)?);
        let by = by.iter().map(|name| self.values(name)).collect::<Result<Vec<_>, _>>()?;
        let end = |end: &str| self.kind.interval(&column, end).and_then(|name| self.folder.column(&name));
        let (low, high) = (end("low"), end("high"));
        let exact = self.folder.column("accuracy_exact").filter(|_| column == "accuracy");
        for row in 0..self.folder.rows.len() {
            if ys[row].is_empty() {
                continue;
            }
            let y = number(&ys[row]).ok_or_else(|| self.not_numeric(&column, &ys[row]))?;
            let at = |values: &Option<Vec<String>>| values.as_ref().and_then(|values| number(&values[row]));
            // The interval of another figure is none of this one.
            let interval = at(&low).zip(at(&high)).filter(|(low, high)| (*low..=*high).contains(&y));
            let own: Vec<String> = by.iter().map(|values| values[row].clone()).collect();
            let curve = own.iter().filter(|value| !value.is_empty()).cloned().collect::<Vec<_>>().join(" · ");
            if let Some(exact) = at(&exact).filter(|exact| record.exact.iter().all(|known| known != exact)) {
                record.exact.push(exact);
            }
            let ends = interval
                .map_or([String::new(), String::new()], |(low, high)| [low, high].map(|end| end.to_string()));
            let first = [self.name.clone(), curve.clone()];
            rows.push(
                first.into_iter().chain(own).chain([xs[row].clone(), ys[row].clone()]).chain(ends).collect(),
            );
            record.points.push(CurvePoint { curve, x: xs[row].clone(), y, interval });
        }
        Ok(())
    }

    /// Returns the value of an axis or column in every row. An axis is named by its whole key or by its last parts.
    fn values(&self, name: &str) -> Result<Vec<String>, StudyError> {
        if name == "folder" {
            return Ok(vec![self.name.clone(); self.folder.rows.len()]);
        }
        let filled = |values: &Vec<String>| values.iter().any(|value| !value.is_empty());
        if let Some(column) = self.folder.column(name).filter(filled) {
            return Ok(column);
        }
        let axes = self.folder.axes.iter();
        let mut found: Vec<_> =
            axes.filter(|(key, _)| key == name || key.strip_suffix(name).is_some_and(ends_part)).collect();
        if found.iter().any(|(key, _)| key == name) {
            found.retain(|(key, _)| key == name);
        }
        if let [first, rest @ ..] = found.as_slice() {
            if let Some(other) = rest.iter().find(|(_, values)| *values != first.1) {
                return Err(wrong(format!(
                    "{}: `{name}` is not unique: write `{}` or `{}`",
                    self.folder.shown, first.0, other.0
                )));
            }
            return Ok(first.1.clone());
        }
        let of_manifest = match name {
            "model" => Some(&self.folder.manifest["model"]["file"]),
            "hw" => Some(&self.folder.manifest["hw"]["name"]),
            _ => None,
        };
        if let Some(value) = of_manifest.and_then(Value::as_str) {
            return Ok(vec![value.to_owned(); self.folder.rows.len()]);
        }
        // A column without values exists, but has nothing to show.
        self.folder.column(name).ok_or_else(|| {
            wrong(format!(
                "{}: unknown axis or column `{name}`; the axes are {}; the columns are {}",
                self.folder.shown,
                self.axes().join(", "),
                self.folder.columns.join(", ")
            ))
        })
    }

    /// Returns the names of all axes, with which curves can be distinguished.
    fn axes(&self) -> Vec<String> {
        let axes = self.folder.axes.iter().map(|(key, _)| key.clone());
        let own = ["folder", "model", "hw"].map(String::from).into_iter();
        let own = own.filter(|name| self.folder.axes.iter().all(|(key, _)| key != name));
        own.chain(axes).collect()
    }

    fn not_numeric(&self, name: &str, value: &str) -> StudyError {
        let numeric = self.kind.columns().iter().filter(|column| {
            !matches!(column.stored, Stored::Text | Stored::Boolean)
                && self.folder.columns.iter().any(|own| own == column.name)
        });
        let numeric: Vec<&str> = numeric.map(|column| column.name).collect();
        wrong(format!(
            "{}: column `{name}` has `{value}`, which is not a number; columns of numbers are {}",
            self.folder.shown,
            numeric.join(", ")
        ))
    }
}

impl Kind {
    /// Returns the columns of the table.
    fn columns(&self) -> &'static [Column] {
        let table = TABLES.iter().find(|table| table.command == self.command && table.file == self.table);
        table.map_or(&[], |table| table.columns)
    }

    fn column(&self, name: &str) -> Option<&'static Column> {
        self.columns().iter().find(|column| column.name == name)
    }

    /// Returns the column with the lower (`low`) or upper (`high`) end of a column's interval.
    fn interval(&self, name: &str, end: &str) -> Option<String> {
        let stem = match (self.command, name) {
            ("explore", "accuracy" | "top1_agreement") => "interval",
            (_, "top1_agreement") => "agreement",
            (_, name) => name,
        };
        let column = format!("{stem}_{end}");
        self.column(&column).is_some().then_some(column)
    }
}

fn check_curves(record: &CurvesRecord) -> Result<(), StudyError> {
    let mut names: Vec<&str> = Vec::new();
    for point in &record.points {
        if !names.contains(&point.curve.as_str()) {
            names.push(&point.curve);
        }
    }
    match names.len() {
        count if count > MOST_CURVES => Err(wrong(format!(
            "{count} curves; expected at most {MOST_CURVES}: name fewer columns with --by, or fewer folders"
        ))),
        _ => Ok(()),
    }
}

/// Refuses two points of a curve at one place: a line through them would show neither.
fn check_distinct(
    results: &[Results],
    record: &CurvesRecord,
    rows: &[Vec<String>],
) -> Result<(), StudyError> {
    let mut seen = HashMap::new();
    for (at, point) in record.points.iter().enumerate() {
        let Some(other) = seen.insert((&point.curve, &point.x), at) else { continue };
        let what = match point.curve.as_str() {
            "" => String::new(),
            curve => format!(" of the curve `{curve}`"),
        };
        let apart = if rows[at][0] == rows[other][0] {
            let result = results.iter().find(|result| result.name == rows[at][0]);
            let varied =
                |(_, values): &&(String, Vec<String>)| values.windows(2).any(|pair| pair[0] != pair[1]);
            let axes = result.into_iter().flat_map(|result| result.folder.axes.iter().filter(varied));
            let axes: Vec<String> = axes
                .map(|(key, _)| key.clone())
                .filter(|key| key.rsplit('.').next() != record.x.rsplit('.').next())
                .collect();
            axes.join(", ")
        } else {
            "folder".to_owned()
        };
        // An axis that has the name of the column along the plot may be all that varies.
        let apart = match apart.as_str() {
            "" => "distinguish them with --by, or name another --x by its whole key".to_owned(),
            apart => format!("distinguish them with --by; what varies is {apart}"),
        };
        return Err(wrong(format!("several points{what} have {} {}: {apart}", record.x, point.x)));
    }
    Ok(())
}

/// Returns whether what precedes the end of a key ends with a whole part of it.
fn ends_part(start: &str) -> bool {
    start.ends_with('.')
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

fn wrong(problem: String) -> StudyError {
    StudyError::Plot { problem }
}
