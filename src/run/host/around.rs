//! The project around a round: what is found, what is left, what the oracle says of it, and what other loops leave of shared caps.
//!
//! Answers become facts for the machine; nothing is decided here.

use super::{Host, HostError};
use crate::engine::{Answer, Caps, Input, Law, Millis, Ratio, Spent, StopRequest, Tokens, counted};
use crate::run::agent::Agents;
use crate::run::os::Os;
use crate::run::site::{Gone, Progress, Site};
use crate::run::view::View;
use crate::trace::Record;

/// A round that writes more than so many times its fair share is running away.
const RUNAWAY: u64 = 3;

impl<O: Os, A: Agents, S: Site<O>, V: View, L: Law> Host<'_, O, A, S, V, L> {
    /// What is there before the first round of this process.
    pub(super) fn find(&mut self) -> Result<(), HostError> {
        let found = self.site.found(self.os).map_err(HostError::Site)?;
        found.1.iter().try_for_each(|note| self.note(note))?;
        if let Some(Progress { tree, error }) = found.0 {
            self.machine.handle(self.os.now(), Input::Progress { round: 0, tree, error }, &mut self.journal);
        }
        self.share()
    }

    /// What other loops leave of the caps that are shared.
    fn share(&mut self) -> Result<(), HostError> {
        if let Some(left) = self.site.shared(self.os, self.machine.spent()).map_err(HostError::Site)? {
            self.machine.handle(self.os.now(), Input::Shared { left }, &mut self.journal);
        }
        Ok(())
    }

    /// What a round has left: told before its end is.
    pub(super) fn look_around(&mut self, gone: &Gone<'_>) -> Result<(), HostError> {
        let left = self.site.after(self.os, gone).map_err(HostError::Site)?;
        left.notes.iter().try_for_each(|note| self.note(note))?;
        self.share()?;
        if let Some(Progress { tree, error }) = left.progress {
            self.tell(Input::Progress { round: gone.round, tree, error })?;
        }
        if let Some(why) = left.kill {
            self.killed_on = Some(why);
            self.tell(Input::Asked(StopRequest::KillOn))?;
        }
        Ok(())
    }

    /// Asks the oracle; its answer is told when the machine waits for it.
    pub(super) fn verify(&mut self, round: u64) -> Result<(), HostError> {
        let wall = self.machine.plan().limits.wall;
        let spent = self.machine.spent().wall;
        let left = wall.map(|wall| Millis::new(wall.count().saturating_sub(spent.count())));
        let verdict = self.site.verify(self.os, round, left).map_err(HostError::Site)?;
        verdict.notes.iter().try_for_each(|note| self.note(note))?;
        for mut turn in verdict.turns {
            // paid for, and no turn of the loop's own agent
            turn.counts_as_turn = false;
            self.machine.handle(self.os.now(), Input::Turned { turn }, &mut self.journal);
        }
        self.journal.flush(self.os)?;
        if let Some(Progress { tree, error }) = verdict.progress {
            self.next.push_back(Input::Progress { round, tree, error });
        }
        let Some(answer) = verdict.answer else { return Ok(()) };
        if !verdict.why.is_empty() {
            let text = format!("oracle: {}", verdict.why);
            self.journal.write(self.os.now(), Record::Note { text })?;
        }
        if round == 0 && answer == Answer::Fail {
            self.view.note(&format!("oracle, before the first round: {}", verdict.why));
        }
        self.answered = Some((answer, verdict.why));
        self.next.push_back(Input::Verified { round, answer });
        Ok(())
    }

    /// Warns of caps that are near, once of each, and of a round that ran away.
    pub(super) fn warn(&mut self, round: u64, spent: Spent, output: Tokens) -> Result<(), HostError> {
        let caps = self.machine.plan().limits.caps();
        if let Some(fair) = caps.fair_share()
            && output.count() > fair.count().saturating_mul(RUNAWAY)
        {
            self.note(&format!(
                "round {round} ran away: {}, more than {RUNAWAY} times its fair share of {}",
                counted(output.count(), "output token"),
                fair.count()
            ))?;
        }
        if self.warn_at == Ratio::ZERO || caps.reached(&spent).is_some() {
            return Ok(());
        }
        let Some(control) = (Caps { rounds: None, ..caps.share(self.warn_at) }).reached(&spent) else { return Ok(()) };
        if self.warned.contains(&control) {
            return Ok(());
        }
        self.warned.push(control);
        self.note(&format!("{}% of the cap on {control} is reached", self.warn_at.ppm() / 10_000))
    }
}
