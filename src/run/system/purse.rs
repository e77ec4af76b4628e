//! The files of caps over several runs: one's own is written, those of others are read.
//!
//! What they mean is [`run::purse`](crate::run::purse)'s to say.

use std::path::{Path, PathBuf};

use super::files::write_whole;
use super::shelf::{files, small};
use crate::engine::{Spent, Timestamp};
use crate::run::purse::{
    Bounds, ENDING, FOLDER, GroupName, Others, Purse, PurseError, Scope, SharedCaps, day, file_name, left, others,
};

/// One's own purse, and where it and those of others lie.
#[derive(Debug)]
pub struct Purses {
    caps: SharedCaps,
    project: PathBuf,
    group: Option<PathBuf>,
    name: String,
    purse: Purse,
}

impl Purses {
    /// The purse of a run: `records` is the folder of the project's records, `group` the folder of a group, where there is one. A run whose file is
    /// there goes on with it; another begins in a loop that comes to `base`.
    ///
    /// # Errors
    /// One's own file where it cannot be read.
    pub fn open(
        caps: SharedCaps,
        records: &Path,
        group: Option<PathBuf>,
        (run, project): (&str, &Path),
        base: &Spent,
    ) -> Result<Self, PurseError> {
        let (name, folder) = (file_name(run, project), records.join(FOLDER));
        let path = folder.join(&name);
        let purse = match small(&path) {
            Ok(bytes) => Purse::go_on(&path.display().to_string(), &bytes)?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Purse::begin(run, base),
            Err(error) => {
                return Err(PurseError::File { file: path.display().to_string(), why: error.to_string() });
            }
        };
        Ok(Self { caps, project: folder, group, name, purse })
    }

    /// Takes down what the loop has come to at this moment of Unix time, and gives what is left for it.
    ///
    /// # Errors
    /// One's own file that cannot be written, or another's that cannot be read: then nothing is left.
    pub fn checkpoint(&mut self, unix: Timestamp, spent: &Spent) -> Result<Bounds, PurseError> {
        let today = day(unix);
        self.purse.reach(&today, spent);
        let bytes = self
            .purse
            .bytes()
            .map_err(|error| PurseError::Folder { folder: self.project.clone(), source: error.into() })?;
        let mut all = Others::default();
        for folder in [Some(&self.project), self.group.as_ref()].into_iter().flatten() {
            write_whole(&folder.join(&self.name), &bytes).map_err(|source| folder_error(folder, source))?;
        }
        let spent_in = |folder: &Path, day: Option<&str>| {
            let found = files(folder, ENDING).map_err(|source| folder_error(folder, source))?;
            others(&found, &self.name, day)
        };
        if self.caps.has(Scope::Project) {
            all.project = spent_in(&self.project, None)?;
        }
        if self.caps.has(Scope::Day) {
            all.day = spent_in(&self.project, Some(&today))?;
        }
        if let Some(group) = self.group.as_ref().filter(|_| self.caps.has(Scope::Group)) {
            all.group = spent_in(group, None)?;
        }
        Ok(left(&self.caps, &all, &self.purse, &today))
    }

    /// The folder of a group, by what the environment says.
    ///
    /// # Errors
    /// A name that is none, or an environment without a home, in words.
    pub fn group(name: &str, variable: impl Fn(&str) -> Option<String>) -> Result<PathBuf, String> {
        let group = GroupName::new(name)?;
        group
            .folder(variable)
            .ok_or_else(|| "neither XDG_STATE_HOME nor HOME says where a group's files would lie".to_owned())
    }
}

fn folder_error(folder: &Path, source: std::io::Error) -> PurseError {
    PurseError::Folder { folder: folder.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Control, MicroUsd};
    use crate::run::purse::Kind;

    const NOW: Timestamp = Timestamp::from_millis(1_796_119_200_000);

    fn caps(text: &str) -> SharedCaps {
        SharedCaps::parse(text, |_: Kind, text: &str| text.parse().map_err(|_| "no number".to_owned())).unwrap()
    }

    fn cost(micro: u64) -> Spent {
        Spent { rounds: 1, cost: MicroUsd::new(micro), ..Spent::default() }
    }

    #[test]
    fn two_projects_of_a_group_and_two_runs_of_a_project_share_what_there_is() {
        let dir = tempfile::tempdir().unwrap();
        let group = dir.path().join("state/flyball/groups/g");
        let open = |project: &str, run: &str, base: &Spent| {
            let (project, all) = (dir.path().join(project), caps("project.cost=100,day.cost=90,group.cost=150"));
            Purses::open(all, &project.join(".flyball"), Some(group.clone()), (run, &project), base).unwrap()
        };
        let mut first = open("a", "1", &Spent::default());
        assert_eq!(first.checkpoint(NOW, &cost(60)).unwrap().caps().cost, Some(MicroUsd::new(90)));
        let mut other = open("b", "1", &Spent::default());
        assert_eq!(other.checkpoint(NOW, &cost(0)).unwrap().caps().cost, Some(MicroUsd::new(90)));
        assert_eq!(other.checkpoint(NOW, &cost(70)).unwrap().caps().cost, Some(MicroUsd::new(90)));
        // the second run of the first project goes on counting from 60
        let mut second = open("a", "2", &cost(60));
        let bounds = second.checkpoint(NOW, &cost(65)).unwrap();
        assert_eq!(bounds.caps().cost, Some(MicroUsd::new(65 + 15)), "150, less 60, 70 and 5");
        assert!(bounds.words(Control::Cost, &Default::default()).unwrap().starts_with("the group's cap"));
        let tomorrow = Timestamp::from_millis(NOW.millis() + 86_400_000);
        let mut again = open("a", "2", &cost(999));
        assert_eq!(again.checkpoint(tomorrow, &cost(65)).unwrap().all()[1].most, 65 + 90, "it goes on with its file");
    }

    #[test]
    fn a_file_that_was_spoilt_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let open =
            |run: &str| Purses::open(caps("day.cost=9"), dir.path(), None, (run, Path::new("/p")), &Spent::default());
        open("1").unwrap().checkpoint(NOW, &cost(1)).unwrap();
        std::fs::write(dir.path().join(FOLDER).join(file_name("1", Path::new("/p"))), "{").unwrap();
        assert!(open("1").is_err());
        let error = open("2").unwrap().checkpoint(NOW, &cost(1)).unwrap_err().to_string();
        assert!(error.contains("cannot be read in 1-"), "{error}");
        let group = Purses::group("../x", |_| None).unwrap_err();
        assert!(group.contains("cannot name a group"), "{group}");
        assert!(Purses::group("x", |_| None).unwrap_err().contains("HOME"));
    }
}
