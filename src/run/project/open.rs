//! What must be there before the first round of a process: the list of features as committed, protected files as they were, and the
//! content that the first round is held against. A round that was lost under way is committed as interrupted.

use std::io;
use std::sync::Arc;

use super::{DIRTY, Kept, Project, STATE};
use crate::run::features::Features;
use crate::run::git::{Dirty, Git};
use crate::run::os::Os;
use crate::run::protect::Protected;
use crate::run::site::Progress;

/// A project without a repository is kept for a difference up to so many bytes in so many files.
const UNVERSIONED_BYTES: u64 = 64 << 20;
const UNVERSIONED_FILES: usize = 20_000;
/// The most that is read of a file of the run's own.
const MOST: u64 = 64 << 20;

impl Project {
    /// Opens all parts.
    pub(super) fn open<O: Os>(&mut self, os: &mut O) -> Result<Option<Progress>, String> {
        let mut notes = Vec::new();
        self.kept = self.was_kept(os)?;
        if self.asked.look || self.asked.features.is_some() || self.asked.commit {
            self.git = Some(Git::find(os, &self.place));
        }
        self.open_features(os, &mut notes)?;
        self.open_protected(os, &mut notes)?;
        if let Some(git) = self.git.as_ref().filter(|_| self.asked.commit) {
            if !git.has_repository() {
                return Err("commits are asked for, and the project is in no git repository: `git init` it, or leave --commit out".to_owned());
            }
            if let Some(branch) = &self.asked.branch {
                git.branch(os, branch).map_err(|why| format!("cannot go onto the branch {branch}: {why}"))?;
            }
            self.commit_what_was_lost(os, &mut notes)?;
        }
        if let Some(git) = self.git.as_ref().filter(|git| git.has_repository()) {
            notes.extend(git.standing(os));
        }
        self.look(os, &mut notes);
        if !self.asked.resumed {
            self.kept.head.clone_from(&self.before.head);
        }
        self.head_moved(os);
        self.keep(os)?;
        self.opening = notes;
        Ok(self.progress().filter(|_| self.asked.look))
    }

    /// What an earlier process of this run has kept.
    fn was_kept<O: Os>(&self, os: &mut O) -> Result<Kept, String> {
        if !self.asked.resumed {
            return Ok(Kept::default());
        }
        match os.read(&self.place.record.join(STATE), MOST) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map_err(|error| format!("{STATE} of the run cannot be read: {error}; --fresh starts a new run")),
            // lost before it was written
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Kept::default()),
            Err(error) => Err(format!("{STATE} of the run cannot be read: {error}")),
        }
    }

    fn open_features<O: Os>(&mut self, os: &mut O, notes: &mut Vec<String>) -> Result<(), String> {
        let (Some((file, gate)), Some(git)) = (&self.asked.features, &self.git) else { return Ok(()) };
        // what a person did between two processes is not put back
        let commit = self.kept.features.as_deref().filter(|_| self.asked.lost.is_some());
        let (features, said) = Features::open(os, &self.place, git, file, commit, gate.clone())?;
        notes.extend(said);
        self.kept.features = Some(features.commit().to_owned());
        self.features = Some(features);
        Ok(())
    }

    fn open_protected<O: Os>(&mut self, os: &mut O, notes: &mut Vec<String>) -> Result<(), String> {
        let globs = [&self.asked.protect[..], &self.asked.decides].concat();
        if globs.is_empty() {
            return Ok(());
        }
        let mark = self.kept.protected.as_deref().filter(|_| self.asked.lost.is_some());
        let protected = if mark.is_some() {
            // whatever was done to them while nobody looked is put back too
            let protected = Protected::reopen(os, &self.place, &globs, mark)?;
            let found = protected.after(os, &self.place);
            notes.extend(found.put_back.iter().chain(&found.lost).map(|text| format!("protected: {text}")));
            protected
        } else {
            let (protected, said) = Protected::take(os, &self.place, &globs)?;
            // what nobody named need not be there
            let named = |note: &String| self.asked.protect.iter().any(|glob| note.contains(&format!("`{glob}`")));
            notes.extend(said.into_iter().filter(named));
            protected
        };
        self.kept.protected = Some(protected.mark().to_owned());
        self.protected = Some(protected);
        Ok(())
    }

    fn commit_what_was_lost<O: Os>(&self, os: &mut O, notes: &mut Vec<String>) -> Result<(), String> {
        let (Some(round), Some(git)) = (self.asked.lost, &self.git) else { return Ok(()) };
        let Ok(bytes) = os.read(&self.place.record.join(DIRTY), MOST) else { return Ok(()) };
        let committed = git.commit(os, &Dirty::from_bytes(&bytes), &format!("flyball: round {round}, interrupted"))?;
        notes.extend(committed.notes);
        if let Some(id) = committed.id {
            notes.push(format!("what round {round} had changed when it was lost is committed: {id}"));
        }
        Ok(())
    }

    /// The project as it is now.
    pub(super) fn look<O: Os>(&mut self, os: &mut O, notes: &mut Vec<String>) {
        if !self.asked.look {
            return;
        }
        let content = self.content();
        let tree = os.tree(&content);
        notes.extend(tree.notes.iter().filter(|note| !self.told.contains(*note)).cloned());
        self.told.extend(tree.notes.iter().cloned());
        if let Some(git) = &self.git {
            self.before.head = git.head(os);
            self.before.dirty = git.dirty(os).unwrap_or_default();
            let small =
                git.has_repository() || (tree.bytes() <= UNVERSIONED_BYTES && tree.entries.len() <= UNVERSIONED_FILES);
            let snapshot = small.then(|| git.snapshot(os, &tree, &content.left_out, &content.ignored));
            self.before.snapshot = snapshot.and_then(Result::ok);
        }
        self.before.tree = Some(Arc::new(tree));
    }

    /// A commit that flyball did not make is progress.
    pub(super) fn head_moved<O: Os>(&mut self, os: &mut O) {
        let Some(git) = &self.git else { return };
        let head = git.head(os);
        if head != self.before.head {
            self.kept.head.clone_from(&head);
            self.before.head = head;
        }
    }
}
