//! Selects the outputs that are compared and the task that scores one of them.

use guardbit_graph::{Graph, TensorId};
use guardbit_reports::Task;
use serde::Serialize;

use crate::StudyError;
use crate::labels::{LabelFile, Labels};

/// Outputs that are compared, and the task of one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ScoredOutputs {
    /// Outputs compared code by code.
    pub compared: Vec<TensorId>,
    /// Scored output with its task.
    pub judged: Option<(Task, TensorId)>,
}

/// Names of the scored outputs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ScoredNames {
    compared: Vec<String>,
    /// Output of the task `classify`.
    classes: Option<String>,
    /// Output of any other task.
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<Task>,
}

impl ScoredOutputs {
    /// Selects the named output, or all of them. The named or only output is scored by the requested task.
    /// Without a task, float32 labels of its shape select regression. Labels 0 and 1 select anomaly detection
    /// if the output has the shape of the input. Other labels select classification. Without labels, an
    /// output that [holds scores](holds_scores) is classified.
    pub fn choose(
        graph: &Graph,
        name: Option<&str>,
        labels: Option<&LabelFile>,
        task: Option<Task>,
    ) -> Result<Self, StudyError> {
        let outputs = graph.outputs();
        let names = || outputs.iter().map(|&id| graph.tensor(id).name.clone()).collect::<Vec<_>>();
        let id = match name {
            Some(name) => {
                let found = outputs.iter().copied().find(|&id| graph.tensor(id).name == name);
                found.ok_or_else(|| StudyError::UnknownOutput { name: name.into(), outputs: names() })?
            }
            None => match outputs {
                &[only] => only,
                _ if labels.is_some() || task.is_some() => {
                    return Err(StudyError::AmbiguousOutput { outputs: names() });
                }
                _ => return Ok(Self { compared: outputs.to_vec(), judged: None }),
            },
        };
        let task = match (task, labels) {
            (Some(task), _) => Some(task),
            (None, Some(labels)) => Some(Self::task_of(graph, id, labels)),
            (None, None) => holds_scores(graph, id, name.is_some()).then_some(Task::Classify),
        };
        if task == Some(Task::Detect) && detector_input(graph, id).is_none() && graph.tensor(id).ty.len() != 1
        {
            let (name, shape) = (graph.tensor(id).name.clone(), graph.tensor(id).ty.shape.clone());
            return Err(StudyError::NoDetector { name, shape });
        }
        Ok(Self { compared: vec![id], judged: task.map(|task| (task, id)) })
    }

    /// Returns the task that the labels imply for an output.
    fn task_of(graph: &Graph, output: TensorId, labels: &LabelFile) -> Task {
        let ty = &graph.tensor(output).ty;
        if labels.has_values_of(&ty.shape) {
            Task::Regress
        } else if labels.tells_anomalies() && ty.len() > 2 && detector_input(graph, output).is_some() {
            Task::Detect
        } else {
            Task::Classify
        }
    }

    /// Returns the output whose top-1 class is counted.
    pub fn classes(&self) -> Option<TensorId> {
        self.judged.filter(|(task, _)| *task == Task::Classify).map(|(_, id)| id)
    }

    /// Returns the task, if an output is scored.
    pub fn task(&self) -> Option<Task> {
        self.judged.map(|(task, _)| task)
    }

    /// Converts the labels to the form of the task.
    pub fn labels(&self, graph: &Graph, file: &LabelFile) -> Result<Option<Labels>, StudyError> {
        let Some((task, id)) = self.judged else { return Ok(None) };
        let ty = &graph.tensor(id).ty;
        let labels = match task {
            Task::Classify => file.classes(ty.len()),
            Task::Regress => file.values(&ty.shape),
            Task::Detect => file.anomalies(),
        };
        labels.map(Some)
    }

    /// Returns the selection by name.
    pub fn names(&self, graph: &Graph) -> ScoredNames {
        let name = |&id: &TensorId| graph.tensor(id).name.clone();
        ScoredNames {
            compared: self.compared.iter().map(name).collect(),
            classes: self.classes().as_ref().map(name),
            task: self.task().filter(|task| *task != Task::Classify),
        }
    }
}

/// Returns whether an output without labels is taken for one score per class. It must be a vector (a single
/// axis of more than one element) whose length differs from all inputs, unless it was `named`. An output as
/// long as an input is typical of an autoencoder or a filter.
fn holds_scores(graph: &Graph, output: TensorId, named: bool) -> bool {
    let len = |id: &TensorId| graph.tensor(*id).ty.len();
    let axes = graph.tensor(output).ty.shape.iter().filter(|&&size| size != 1).count();
    let like_an_input = graph.inputs().iter().any(|input| len(input) == len(&output));
    axes == 1 && len(&output) > 1 && (named || !like_an_input)
}

/// Returns the index of the input that an output reconstructs: the only input, if it has the output's shape.
pub(super) fn detector_input(graph: &Graph, output: TensorId) -> Option<usize> {
    let shape = |id: TensorId| &graph.tensor(id).ty.shape;
    matches!(graph.inputs(), &[input] if shape(input) == shape(output)).then_some(0)
}
