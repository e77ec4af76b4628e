//! Where a part of the loop works: the project, the run's folder, the round.

use std::path::{Path, PathBuf};

use super::agent::{RECORD_VARIABLE, ROUND_VARIABLE};
use super::os::Launch;
use super::record::round_folder;

/// Where a part of the loop works.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The project's folder.
    pub project: PathBuf,
    /// The run's folder.
    pub record: PathBuf,
    /// The round; 0 is before the first one.
    pub round: u64,
}

impl Place {
    /// The name of a file of the round, from the run's folder.
    #[must_use]
    pub fn file(&self, name: &str) -> String {
        format!("{}/{name}", round_folder(self.round))
    }

    /// The round's folder.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        self.record.join(round_folder(self.round))
    }

    /// A program to run in the project, which carries the run's mark: should the runner be lost, whoever takes the run up ends it.
    #[must_use]
    pub fn launch(&self, argv: Vec<String>) -> Launch {
        let set = vec![
            (RECORD_VARIABLE.to_owned(), self.record.display().to_string()),
            (ROUND_VARIABLE.to_owned(), self.round.to_string()),
            // a check leaves nothing behind in the project that it can help
            ("PYTHONDONTWRITEBYTECODE".to_owned(), "1".to_owned()),
        ];
        Launch { argv, set, folder: self.project.clone(), ..Launch::default() }
    }

    /// A path as it is below the project, where it is.
    #[must_use]
    pub fn below(&self, path: &Path) -> Option<PathBuf> {
        let below = if path.is_absolute() { path.strip_prefix(&self.project).ok()? } else { path };
        let plain: PathBuf = below.components().filter(|part| *part != std::path::Component::CurDir).collect();
        let named = |part| matches!(part, std::path::Component::Normal(_));
        plain.components().all(named).then_some(plain)
    }
}
