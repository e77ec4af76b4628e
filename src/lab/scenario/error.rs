//! What is wrong with a scenario file, for the person who wrote it: file, line, key, fault, remedy.

use std::fmt;

/// One fault and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The key's path, such as `rung[0].size.mean`; places in lists count from 0. Empty where the file as a whole is
    /// meant.
    pub key: String,
    /// What is wrong and what to do about it.
    pub what: String,
}

/// Why a scenario cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScenarioError {
    /// The file cannot be read at all.
    Unreadable {
        /// The file as it was named.
        file: String,
        /// What the system, or the first look at its bytes, says.
        why: String,
    },
    /// The file was read and has faults, in the order of their lines; never empty.
    Faulty {
        /// The file as it was named.
        file: String,
        /// The faults.
        problems: Vec<Problem>,
    },
}

impl ScenarioError {
    /// The faults in the file; none where it could not be read.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        match self {
            Self::Unreadable { .. } => &[],
            Self::Faulty { problems, .. } => problems,
        }
    }
}

/// One line a fault: `file:line: key: what`.
impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, problems) = match self {
            Self::Unreadable { file, why } => return write!(f, "{file}: cannot read this scenario: {why}"),
            Self::Faulty { file, problems } => (file, problems),
        };
        for (index, problem) in problems.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{file}:{}: ", problem.line)?;
            if !problem.key.is_empty() {
                write!(f, "{}: ", problem.key)?;
            }
            f.write_str(&problem.what)?;
        }
        Ok(())
    }
}

impl std::error::Error for ScenarioError {}
