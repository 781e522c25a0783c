//! Which outputs are compared, and what one of them is judged by.

use guardbit_graph::{Graph, TensorId};
use guardbit_reports::Task;
use serde::Serialize;

use crate::StudyError;
use crate::labels::{LabelFile, Labels};

/// The outputs that are compared, and what one of them is judged by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ScoredOutputs {
    /// Compared code by code.
    pub compared: Vec<TensorId>,
    /// The output that is judged, and by what.
    pub judged: Option<(Task, TensorId)>,
}

/// The same by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ScoredNames {
    compared: Vec<String>,
    /// Of the task `classify`.
    classes: Option<String>,
    /// Any other task.
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<Task>,
}

impl ScoredOutputs {
    /// The named output, or all of them; the named or only output is judged, by the task that is asked for. Without one,
    /// float32 labels of its shape make it a regressor, labels 0 and 1 an anomaly detector if it is as an input is, other
    /// labels a classifier; without labels it is a classifier if it [holds scores](holds_scores).
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

    /// What labels say that an output is for.
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

    /// The output whose top-1 class counts.
    pub fn classes(&self) -> Option<TensorId> {
        self.judged.filter(|(task, _)| *task == Task::Classify).map(|(_, id)| id)
    }

    /// What is judged by.
    pub fn task(&self) -> Option<Task> {
        self.judged.map(|(task, _)| task)
    }

    /// The labels as the task has them.
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

    /// By name.
    pub fn names(&self, graph: &Graph) -> ScoredNames {
        let name = |&id: &TensorId| graph.tensor(id).name.clone();
        ScoredNames {
            compared: self.compared.iter().map(name).collect(),
            classes: self.classes().as_ref().map(name),
            task: self.task().filter(|task| *task != Task::Classify),
        }
    }
}

/// Whether an output without labels is taken for one score per class: a vector (a single axis of more than one
/// element) that is as long as no input, unless it was `named`. As long as an input is what an autoencoder or a filter
/// gives back.
fn holds_scores(graph: &Graph, output: TensorId, named: bool) -> bool {
    let len = |id: &TensorId| graph.tensor(*id).ty.len();
    let axes = graph.tensor(output).ty.shape.iter().filter(|&&size| size != 1).count();
    let like_an_input = graph.inputs().iter().any(|input| len(input) == len(&output));
    axes == 1 && len(&output) > 1 && (named || !like_an_input)
}

/// The place of the input that an output gives back: the only one, of the output's shape.
pub(super) fn detector_input(graph: &Graph, output: TensorId) -> Option<usize> {
    let shape = |id: TensorId| &graph.tensor(id).ty.shape;
    matches!(graph.inputs(), &[input] if shape(input) == shape(output)).then_some(0)
}
