//! Renders errors: a code, the problem, the position in the file, and a fix.

use std::fmt::{self, Display};
use std::io::{IsTerminal, stderr};
use std::process::ExitCode;

use crate::output::say;
use guardbit_documents::FilePlace;
use guardbit_frontends::FrontendError;
use guardbit_graph::PatchError;
use guardbit_hwmodels::{HwError, LowerError, Origin, Problem};
use guardbit_reports::{counted, number};
use guardbit_rtl_vectors::GoldenError;
use guardbit_sim::SimError;
use guardbit_study::{AxisError, StudyError};
use miette::{Diagnostic, LabeledSpan, MietteHandlerOpts, Report, Severity, SourceCode};

use crate::cutout::Cutout;
use crate::printable::{bounded, plain};
use crate::terminal::has_colours;
use crate::wrap::wrapped;

/// Exit code for invalid usage or input.
pub const BAD_INPUT: u8 = 2;
/// Exit code of a failed check.
pub const CHECK_FAILED: u8 = 1;

/// Columns of a message.
const WIDTH: usize = 110;
/// Columns of indentation of a message's lines and of its help.
const INDENT: usize = 4;
const HELP_INDENT: usize = 8;

/// Maximum bytes of a network's text from which an excerpt is shown.
const MOST_SHOWN: u64 = 1 << 26;

/// Message for the user.
#[derive(Debug)]
pub struct Failure {
    code: &'static str,
    message: String,
    help: String,
    place: Option<Box<Cutout>>,
    severity: Severity,
    exit: u8,
}

/// Sets up colours, a fixed width, and box drawing only on a terminal.
pub fn install() {
    let (terminal, colours) = (stderr().is_terminal(), has_colours(&stderr()));
    // Fails only if a hook is already installed.
    let _ = miette::set_hook(Box::new(move |_| {
        Box::new(
            MietteHandlerOpts::new().width(WIDTH).wrap_lines(false).color(colours).unicode(terminal).build(),
        )
    }));
}

impl Failure {
    /// Creates an error of usage without a position.
    pub fn usage(message: String, help: impl Into<String>) -> Self {
        Self::new("guardbit::usage", message, help)
    }

    fn new(code: &'static str, message: impl Display, help: impl Into<String>) -> Self {
        let (message, help, severity) = (message.to_string(), help.into(), Severity::Error);
        debug_assert!(!help.is_empty(), "{message}: a message says what to do");
        Self { code, message, help, place: None, severity, exit: BAD_INPUT }
    }

    /// Creates a warning about an accelerator.
    pub fn warning(problem: &Problem) -> Self {
        Self { severity: Severity::Warning, ..Self::from(problem) }
    }

    /// Creates a warning, or with `strict` a failed check, about layers that work on real values although
    /// their weights are codes in the file.
    pub fn quantized_in_float(layers: &[String], strict: bool) -> Self {
        let (severity, exit) = match strict {
            true => (Severity::Error, CHECK_FAILED),
            false => (Severity::Warning, 0),
        };
        let message = format!(
            "the file has quantized weights for {}, but the host runs {} in floating point: {}",
            counted(layers.len() as u64, "layer"),
            number(layers.len() as u64, "it", "them"),
            layers.join(", ")
        );
        let help = "quantize the float operand, use one weight scale per output channel, or for floating-point codes an \
                    accelerator whose `float_accumulation` takes them and their block scales (`guardbit hw list`); \
                    `guardbit inspect MODEL --audit` shows what happened to every node";
        let code = "guardbit::network::quantized_in_float";
        Self { code, message, help: help.into(), place: None, severity, exit }
    }

    /// Prints the diagnostic on stderr. Errors of stderr itself cannot be reported.
    pub fn report(self) -> ExitCode {
        let exit = ExitCode::from(self.exit);
        say(&format!("{:?}", Report::new(self.presentable())));
        exit
    }

    /// Returns the diagnostic with text that is safe for a terminal.
    fn presentable(self) -> Self {
        let text = |text: String, indent| wrapped(&bounded(plain(&text).into_owned()), WIDTH - 2 - indent);
        let (message, help) = (text(self.message, INDENT), text(self.help, HELP_INDENT));
        Self { message, help, ..self }
    }

    fn at(mut self, file: &str, text: &str, offset: usize, length: usize) -> Self {
        let file = bounded(plain(file).into_owned());
        self.place = Some(Box::new(Cutout::new(file, text, offset, length)));
        self
    }

    /// Points at a place.
    fn at_place(self, place: &FilePlace) -> Self {
        self.at(&place.file, &place.text, place.span.start, place.span.len())
    }
}

impl From<&Problem> for Failure {
    fn from(problem: &Problem) -> Self {
        let failure = Self::new(problem.code(), problem, problem.help());
        match problem.origin() {
            Origin::File(place) => failure.at_place(place),
            Origin::Set(_) | Origin::Axis(_) | Origin::Preset(_) | Origin::Nowhere => failure,
        }
    }
}

impl From<HwError> for Failure {
    fn from(error: HwError) -> Self {
        Self::from(&*error)
    }
}

impl From<FrontendError> for Failure {
    fn from(error: FrontendError) -> Self {
        let failure = Self::new(error.code(), &error, error.help());
        let file = error.file();
        match (error.location(), guardbit_files::read_text(file, MOST_SHOWN)) {
            (Some(at), Ok(text)) => {
                let text = text.as_str().into();
                failure.at_place(&FilePlace::new(&file.display().to_string(), &text, at.line, at.column))
            }
            _ => failure,
        }
    }
}

impl From<guardbit_frontends::ExportError> for Failure {
    fn from(error: guardbit_frontends::ExportError) -> Self {
        Self::new(error.code(), &error, error.help())
    }
}

impl From<guardbit_frontends::YamlExportError> for Failure {
    fn from(error: guardbit_frontends::YamlExportError) -> Self {
        Self::new(error.code(), &error, error.help())
    }
}

impl From<PatchError> for Failure {
    fn from(error: PatchError) -> Self {
        Self::new(error.code(), &error, error.help())
    }
}

impl From<LowerError> for Failure {
    fn from(error: LowerError) -> Self {
        StudyError::from(error).into()
    }
}

impl From<guardbit_rtl_vectors::VectorError> for Failure {
    fn from(error: guardbit_rtl_vectors::VectorError) -> Self {
        Self::new(error.code(), &error, error.help())
    }
}

impl From<GoldenError> for Failure {
    fn from(error: GoldenError) -> Self {
        match error {
            GoldenError::Vectors(error) => error.into(),
            GoldenError::Accelerator(error) => (*error).into(),
            GoldenError::Lower(error) => error.into(),
            error => Self::usage(error.to_string(), "`guardbit discriminate --help` describes the arguments"),
        }
    }
}

impl From<guardbit_files::FolderError> for Failure {
    fn from(error: guardbit_files::FolderError) -> Self {
        StudyError::from(error).into()
    }
}

impl From<guardbit_reports::ReportError> for Failure {
    fn from(error: guardbit_reports::ReportError) -> Self {
        StudyError::from(error).into()
    }
}

impl From<StudyError> for Failure {
    fn from(error: StudyError) -> Self {
        let plain = |error: &StudyError| Self::new(error.code(), error, error.help());
        match error {
            StudyError::Model(error) => error.into(),
            StudyError::Hw(error) => error.into(),
            StudyError::StudyFile { ref place, .. } => plain(&error).at_place(place),
            StudyError::Axis(AxisError::Where { ref condition, ref at, ref problem }) => {
                let failure = Self { message: problem.clone(), ..plain(&error) };
                failure.at("--where", condition, at.start, at.len())
            }
            StudyError::Sim(SimError::Trap { .. }) => Self { exit: CHECK_FAILED, ..plain(&error) },
            error => plain(&error),
        }
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl Diagnostic for Failure {
    fn code<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        Some(Box::new(self.code))
    }

    fn severity(&self) -> Option<Severity> {
        Some(self.severity)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        Some(Box::new(&self.help))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.place.as_ref().map(|place| place.as_ref() as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let span = self.place.as_ref()?.span();
        let label = LabeledSpan::new_with_span(Some("here".into()), span);
        Some(Box::new(std::iter::once(label)))
    }
}
