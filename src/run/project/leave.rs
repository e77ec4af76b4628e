//! What a round has left: its content, what it changed, and a commit of just that where one is asked for.

use super::{Before, Pending, Project, unwritten};
use crate::engine::{Control, Fingerprint};
use crate::run::git::by_name;
use crate::run::os::Os;
use crate::run::redact::redact;
use crate::run::site::Progress;
use crate::run::tree::sha256;

/// How much of a patch is kept, in bytes.
const PATCH: usize = 8 << 20;

impl Project {
    /// Looks at the end of a round, and gives what the machine is told of it.
    pub(super) fn leave<O: Os>(
        &mut self,
        os: &mut O,
        pending: &Pending,
        notes: &mut Vec<String>,
    ) -> Result<Option<Progress>, String> {
        self.commit(os, pending, notes)?;
        self.see(os, notes);
        if !self.diff.is_empty() {
            let file = self.place.file("diff.patch");
            os.append(&file, self.diff.as_bytes()).map_err(|error| unwritten(&error))?;
        }
        self.keep(os)?;
        if let Some(error) = &pending.error {
            self.details.insert(Control::SameError, format!("the last rounds ended with the same error: {error}"));
        }
        let error = pending.error.as_ref().map(|error| Fingerprint(sha256(error.as_bytes())));
        if pending.interrupted {
            // half a round is no evidence that nothing comes of whole ones
            return Ok(None);
        }
        let progress = self.progress().unwrap_or_default();
        Ok((progress.tree.is_some() || self.verifies() || error.is_some()).then_some(Progress { error, ..progress }))
    }

    /// Looks at the project as it is now, and at what has changed since it was looked at before; gives how it was.
    fn see<O: Os>(&mut self, os: &mut O, notes: &mut Vec<String>) -> Before {
        let before = std::mem::take(&mut self.before);
        self.before.tree.clone_from(&before.tree);
        self.before.head.clone_from(&before.head);
        self.look(os, notes);
        if let (Some(old), Some(new)) = (&before.tree, &self.before.tree) {
            let snapshots = self.git.as_ref().zip(before.snapshot.as_ref()).zip(self.before.snapshot.as_ref());
            let patch = snapshots.and_then(|((git, old), new)| git.diff(os, old, new, PATCH).ok()).unwrap_or_default();
            let names = by_name(old, new, &patch);
            self.diff = redact(&format!("{}{names}", String::from_utf8_lossy(&patch))).into_owned();
        }
        before
    }

    /// What the round has changed so far, for who judges it; the round's end is looked at when all is said.
    pub(super) fn see_for_the_judge<O: Os>(&mut self, os: &mut O, notes: &mut Vec<String>) {
        if self.asked.judge.is_some() {
            self.before = self.see(os, notes);
        }
    }

    fn commit<O: Os>(&mut self, os: &mut O, pending: &Pending, notes: &mut Vec<String>) -> Result<(), String> {
        let Some(git) = self.git.as_ref().filter(|_| self.asked.commit) else { return Ok(()) };
        let end = if pending.interrupted { ", interrupted" } else { "" };
        match git.commit(os, &self.before.dirty, &format!("flyball: round {}{end}", pending.round)) {
            Ok(committed) => {
                notes.extend(committed.notes);
                self.before.head = git.head(os);
            }
            // a round's work is there whether it is committed or not
            Err(why) => notes.push(format!("round {} could not be committed: {why}", pending.round)),
        }
        Ok(())
    }
}
