//! A round whose agent runs: what it says is taken in, made durable, and told to the machine.
//!
//! It decides nothing but what belongs to processes: the host's own clocks after a result and after an exit.

use super::{BATCH, Host, HostError, Stamps, signal_of};
use crate::agents::live::Landed;
use crate::engine::{Input, Law, Millis, StopRequest, Timestamp, TurnRecord, Waiting};
use crate::run::agent::Agents;
use crate::run::os::{Heard, Os, Send};
use crate::run::round::{Round, say};
use crate::run::site::Site;
use crate::run::view::View;

impl<O: Os, A: Agents, S: Site<O>, V: View, L: Law> Host<'_, O, A, S, V, L> {
    /// Takes in what the agent says, and closes the round when it is over.
    pub(super) fn work(&mut self) -> Result<(), HostError> {
        let until = self.round.as_ref().and_then(|round| round.until(self.until, &self.clocks));
        let mut landed = Vec::new();
        let mut next = Some(self.os.receive(until));
        for _ in 0..BATCH {
            let Some(heard) = next.take() else { break };
            self.hear(heard, &mut landed)?;
            next = self.os.pending();
        }
        let all_heard = next.is_none();
        if let Some(heard) = next {
            self.hear(heard, &mut landed)?;
        }
        for landed in landed {
            if self.stopped.is_some() {
                return Ok(());
            }
            self.land(landed)?;
        }
        self.journal.flush(self.os)?;
        self.clocks_of_the_round()?;
        if all_heard && self.stopped.is_none() && self.round.as_ref().is_some_and(Round::is_over) {
            self.close()?;
        }
        Ok(())
    }

    pub(super) fn hear(&mut self, heard: Heard, landed: &mut Vec<Landed>) -> Result<(), HostError> {
        let now = self.os.now();
        let deaf = self.has_not_happened();
        let Some(round) = &mut self.round else { return Ok(()) };
        match heard {
            Heard::Stdout(bytes) => {
                round.heard = now;
                round.stdout.take(self.os, round.number, &bytes)?;
                round.last.printed(&bytes);
                if !deaf {
                    round.live.stdout(&bytes, landed);
                }
            }
            Heard::Stderr(bytes) => {
                round.heard = now;
                round.stderr.take(self.os, round.number, &bytes)?;
                round.live.stderr(&bytes, landed);
            }
            Heard::Followed { file, bytes } => {
                round.heard = now;
                if !deaf {
                    round.live.followed(&file, &bytes, landed);
                }
            }
            Heard::Closed => round.closed = true,
            Heard::Exited(end) => round.exit = Some((end, now)),
            Heard::Asked(asked) => {
                // what was reported before is charged before: a third request gives up all that is heard later
                for landed in std::mem::take(landed) {
                    self.land(landed)?;
                }
                return self.ask(asked);
            }
            Heard::Due => return self.due(),
        }
        let told = round.live.session().map(str::to_owned);
        if told.is_some() && told != round.session {
            round.session.clone_from(&told);
            self.os.follow(&self.agents.follows(told.as_deref()));
        }
        Ok(())
    }

    /// The machine's moment has come, or one of the host's own.
    fn due(&mut self) -> Result<(), HostError> {
        if self.until.is_none_or(|until| self.os.now() < until) {
            return Ok(());
        }
        match &mut self.round {
            // silence is measured from the last sign of life, and the machine is told of it when that matters
            Some(round) if round.heard > round.told_heard && self.why == Waiting::Turns => {
                round.told_heard = round.heard;
                let (number, heard) = (round.number, round.heard);
                self.machine.handle(heard, Input::Heard { round: number }, &mut self.journal);
                self.drain()?;
                if self.until.is_some_and(|until| self.os.now() >= until) { self.tell(Input::Woke) } else { Ok(()) }
            }
            _ => self.tell(Input::Woke),
        }
    }

    pub(super) fn land(&mut self, landed: Landed) -> Result<(), HostError> {
        let Some(round) = &mut self.round else { return Ok(()) };
        round.last.land(&landed);
        match landed {
            Landed::Turn(turn) => return self.turn(turn),
            Landed::Request => {
                round.requests += 1;
                if self.requests.is_some_and(|cap| round.requests > cap) && !round.cut {
                    return self.tell(Input::Asked(StopRequest::Requests));
                }
            }
            Landed::Effort { confirmed } => round.confirmed = Some(confirmed),
            Landed::Limit { until_unix_ms, text } => {
                self.note(&text)?;
                let left = |until: u64| Millis::new(until.saturating_sub(self.os.unix_ms()));
                // a moment that is past says that nobody knows
                let until = until_unix_ms.map_or(Timestamp::EPOCH, |until| self.os.now().after(left(until)));
                return self.tell(Input::LimitUntil { until });
            }
            Landed::Ignored { why } => {
                round.ignored = true;
                return self.note(&why);
            }
            Landed::Note(text) => return self.note(&text),
            Landed::Result => round.result = round.result.or_else(|| Some(self.os.now())),
            Landed::Said(text) => {
                self.view.said(&text);
                say(&mut round.said, &text);
            }
        }
        Ok(())
    }

    /// With the agent's own stamps, what it says after it was ended has not happened.
    pub(super) fn has_not_happened(&self) -> bool {
        self.stamps == Stamps::Agent && self.round.as_ref().is_none_or(|round| round.cut)
    }

    fn turn(&mut self, mut turn: TurnRecord) -> Result<(), HostError> {
        if self.has_not_happened() {
            return Ok(());
        }
        let Some(round) = &mut self.round else { return Ok(()) };
        turn.round = round.number;
        turn.effort_asked = Some(round.effort.word().into());
        match self.stamps {
            Stamps::Own => (turn.start, turn.end) = (None, self.os.now()),
            Stamps::Agent => {
                while let Some(until) = self.until.filter(|&until| until < turn.end && self.stopped.is_none()) {
                    self.os.believe(until);
                    self.tell(Input::Woke)?;
                    if self.has_not_happened() {
                        return Ok(());
                    }
                }
                self.os.believe(turn.end);
            }
        }
        if let Some(round) = &mut self.round {
            round.landed += u64::from(turn.counts_as_turn);
            round.cost = round.cost.plus(turn.cost.unwrap_or_default());
        }
        self.view.landed(&turn, self.machine.spent());
        self.tell(Input::Turned { turn })
    }

    /// The host's own clocks: after the result, and after the exit.
    fn clocks_of_the_round(&mut self) -> Result<(), HostError> {
        let now = self.os.now();
        let Some(round) = &mut self.round else { return Ok(()) };
        if round.exit.is_none()
            && !round.cut
            && let Some(result) = round.result
        {
            let after = self.clocks.after_result;
            match round.ended_after_result {
                None if now >= result.after(after) => {
                    round.ended_after_result = Some(now);
                    self.os.signal(signal_of(self.agents.stop()));
                    return self.note("the agent said how its run ended, and did not leave: it was ended");
                }
                Some(at) if now >= at.after(after) => {
                    round.ended_after_result = Some(now);
                    self.os.signal(Send::Kill);
                }
                _ => {}
            }
        }
        if let Some((_, at)) = round.exit
            && !round.closed
            && now >= at.after(self.clocks.after_exit)
        {
            if round.swept {
                // whoever holds the pipe is no process of ours: it delays nothing
                round.closed = true;
                return self.note("a pipe of the agent stays open in a process that is not its own: it is left alone");
            }
            round.swept = true;
            round.exit = round.exit.map(|(end, _)| (end, now));
            let left = self.os.sweep();
            self.swept += left;
            if left > 0 {
                return self
                    .note(&format!("the agent left {left} processes behind that held its pipes: they were ended"));
            }
        }
        Ok(())
    }
}
