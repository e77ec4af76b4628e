//! placeholder until merged
use super::adapter::AgentKind;
/// known
#[derive(Debug)]
pub struct Known { /// w
 pub words: Vec<&'static str>, /// u
 pub usual: &'static str, /// a
 pub as_of: &'static str }
/// known
#[must_use]
pub fn ladder_for(_kind: AgentKind, _model: Option<&str>) -> Option<Known> { None }
