//! wip
mod locate;
use crate::Location;
/// wip
#[derive(Debug, thiserror::Error)]
#[error("x")]
pub struct YamlError;
impl YamlError { #[allow(missing_docs)] pub fn code(&self)->&'static str{""}
 #[allow(missing_docs)]pub fn help(&self)->Option<String>{None}
 #[allow(missing_docs)]pub fn location(&self)->Option<Location>{None} }
pub(crate) fn read(_:&str,_:&std::path::Path,_:&str)->Result<guardbit_graph::Graph,YamlError>{Err(YamlError)}
