//! A project and a run's folder, on this machine.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard};

use flyball::engine::{Millis, Timestamp};
use flyball::run::os::{Checked, Keep, Launch};
use flyball::run::system::System;
use flyball::run::{Os as _, Place, Stamps};
use tempfile::TempDir;

static ONE: Mutex<()> = Mutex::new(());

pub(crate) struct World {
    pub(crate) os: System,
    pub(crate) place: Place,
    _folder: TempDir,
    _one: MutexGuard<'static, ()>,
}

/// Long enough for anything that ends by itself.
pub(crate) const LONG: Millis = Millis::from_secs(300);

impl World {
    pub(crate) fn new() -> Self {
        Self::at("a b/\u{fc}", "a b/\u{fc}/.flyball/runs/1")
    }

    /// With the project and the run's folder at these places.
    pub(crate) fn at(project: &str, record: &str) -> Self {
        let one = ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        let (project, record) = (root.join(project), root.join(record));
        fs::create_dir_all(&project).unwrap();
        fs::create_dir_all(&record).unwrap();
        let os = System::new(&record, Timestamp::EPOCH, Stamps::Own).unwrap();
        Self { os, place: Place { project, record, round: 1 }, _folder: folder, _one: one }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.place.project.join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn script(&self, name: &str, text: &str) {
        self.write(name, &format!("#!/bin/sh\n{text}\n"));
        mode(&self.path(name), 0o755);
    }

    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn record(&self, name: &str) -> String {
        fs::read_to_string(self.place.folder().join(name)).unwrap()
    }

    /// Runs a shell script in the project as a check.
    pub(crate) fn sh(&mut self, script: &str, limit: Millis, keep: Keep) -> Checked {
        let launch =
            Launch { folder: self.place.project.clone(), argv: argv(&["/bin/sh", "-c", script]), ..Launch::default() };
        self.os.check(&launch, limit, keep)
    }

    /// What a person does in the project, by hand.
    pub(crate) fn hand(&self, script: &str) -> String {
        let out = Command::new("/bin/sh")
            .args(["-ec", script])
            .current_dir(&self.place.project)
            .envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1")])
            .envs([("GIT_AUTHOR_NAME", "p"), ("GIT_AUTHOR_EMAIL", "p@localhost")])
            .envs([("GIT_COMMITTER_NAME", "p"), ("GIT_COMMITTER_EMAIL", "p@localhost")])
            .output()
            .unwrap();
        assert!(out.status.success(), "{script}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8_lossy(&out.stdout).into_owned()
    }
}

pub(crate) fn argv(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

pub(crate) fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Whether a process lives.
pub(crate) fn lives(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| !matches!(rest.trim_start().chars().next(), None | Some('Z' | 'X')))
}
