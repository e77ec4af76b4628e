//! The end of a round: nothing of it is left behind, all that was spent is settled, and the machine is told.

use std::sync::Arc;

use super::{BATCH, Host, HostError, Stamps};
use crate::agents::live::{Closed, ProcessEnd};
use crate::engine::{Effort, Grade, Input, Law, MicroUsd, RoundExit, Tokens, TurnRecord};
use crate::run::agent::Agents;
use crate::run::os::{End, Os};
use crate::run::round::Round;
use crate::run::site::{Gone, Site};
use crate::run::view::{Told, View};
use crate::trace::Record;

/// An agent that is gone without a word of how was killed.
const fn process_end(end: Option<End>) -> ProcessEnd {
    match end {
        Some(End::Exited(code)) => ProcessEnd::Exited(code),
        Some(End::Signalled(signal)) => ProcessEnd::Signalled(signal),
        None => ProcessEnd::Signalled(9),
    }
}

impl<O: Os, A: Agents, S: Site<O>, V: View, L: Law> Host<'_, O, A, S, V, L> {
    /// The agent is gone and all was heard: settles the round, and tells that it ended.
    pub(super) fn close(&mut self) -> Result<(), HostError> {
        self.ask_afterwards()?;
        if self.stopped.is_some() {
            return Ok(());
        }
        let left = self.os.sweep();
        self.swept += left;
        let Some(round) = self.round.take() else { return Ok(()) };
        let Round {
            number,
            effort,
            live,
            said,
            last,
            mut stdout,
            mut stderr,
            began,
            landed,
            before,
            cut,
            exit,
            confirmed,
            result,
            ignored,
            cost,
            ended_after_result,
            ..
        } = round;
        stdout.finish(self.os, number)?;
        stderr.finish(self.os, number)?;
        if left > 0 {
            self.note(&format!("round {number}: {left} processes that the agent left behind were ended"))?;
        }
        let over = result.is_some() && ended_after_result.is_some();
        let closed = live.close(if over { ProcessEnd::Exited(0) } else { process_end(exit.map(|(end, _)| end)) }, cut);
        // the round is open until the machine is told of its end
        let deaf = cut && self.stamps == Stamps::Agent;
        let mut turns = landed;
        if !deaf {
            turns += self.settle(number, &effort, &closed, cost)?;
        }
        let exit = if cut { RoundExit::Cut } else { closed.exit };
        if exit == RoundExit::Done && turns == 0 {
            self.unmetered(number, "the agent is done, and no turn of it was counted")?;
        }
        self.confirm(number, &effort, confirmed.as_ref().or(closed.confirmed.as_ref()), ignored, &closed)?;
        let gone = Gone {
            round: number,
            effort: &effort,
            exit,
            why: closed.why.as_deref(),
            error: closed.error.as_deref().or(closed.why.as_deref()),
            said: &last.text(),
            whole: &said,
            interrupted: self.asked.is_some(),
            verifies: self.machine.will_verify(),
            lasted: self.os.now().since(began),
            output: self.machine.spent().output.minus(before),
            turns,
            spent: self.machine.spent(),
            now: self.os.now(),
        };
        self.look_around(&gone)?;
        self.warn(number, gone.spent, gone.output)?;
        self.tell(Input::Ended { round: number, exit })?;
        self.show_end(&gone);
        Ok(())
    }

    /// Shows what the round came to with its oracle, and what follows from it.
    fn show_end(&mut self, gone: &Gone<'_>) {
        let spent = self.machine.spent();
        let verdict = self.machine.verdict().copied().filter(|_| self.asked.is_none());
        self.view.ended(&Told {
            round: gone.round,
            asked: gone.effort.word(),
            exit: gone.exit,
            why: gone.why,
            turns: gone.turns,
            output: gone.output.plus(spent.output.minus(gone.spent.output)),
            lasted: gone.lasted.plus(self.os.now().since(gone.now)),
            verdict: verdict.as_ref(),
            changed: self.machine.changed(),
            oracle: self.answered.as_ref().map(|(answer, why)| (*answer, why.as_str())),
            spent,
        });
    }

    /// What the program says of its subagents once it is gone; nobody waits for that who asked twice for a stop, or asks meanwhile.
    fn ask_afterwards(&mut self) -> Result<(), HostError> {
        let Some(round) = &mut self.round else { return Ok(()) };
        let (mut landed, mut silent, cut) = (Vec::new(), None, round.cut);
        let questions = self.agents.afterwards(round.live.parts());
        let most = if questions.is_empty() { 0 } else { BATCH };
        for (name, launch) in questions {
            let said = if self.times_asked < 2 { self.os.query(&launch) } else { Vec::new() };
            if said.is_empty() {
                silent = Some(round.number);
            }
            round.live.followed(&name, &said, &mut landed);
        }
        // who asked for a stop is heard before what nobody counted stops the loop
        for _ in 0..most {
            let Some(heard) = self.os.pending() else { break };
            self.hear(heard, &mut landed)?;
        }
        if let Some(round) = &mut self.round {
            // its agent had left by then
            round.cut = cut;
        }
        landed.into_iter().try_for_each(|landed| self.land(landed))?;
        silent.map_or(Ok(()), |number| self.unmetered(number, "what a subagent came to cannot be asked for"))
    }

    /// What landed with the round's end, and what it came to; gives the turns that were told.
    fn settle(&mut self, number: u64, effort: &Effort, closed: &Closed, mut cost: MicroUsd) -> Result<u64, HostError> {
        let mut turns = 0;
        for late in &closed.late {
            let mut turn = late.clone();
            turn.round = number;
            turn.effort_asked = Some(effort.word().into());
            match self.stamps {
                Stamps::Own => (turn.start, turn.end) = (None, self.os.now()),
                Stamps::Agent => self.os.believe(turn.end),
            }
            turns += u64::from(turn.counts_as_turn);
            cost = cost.plus(turn.cost.unwrap_or_default());
            self.tell(Input::Turned { turn })?;
        }
        if let Some((total, known)) = &closed.total {
            self.tell(Input::Settled { round: number, total: *total, turns: known.clone() })?;
        }
        // what the program says that its run cost, where it is more than its turns said
        let rest = closed.cost.unwrap_or_default().minus(cost);
        if rest > MicroUsd::ZERO {
            let none = TurnRecord::new(number, self.os.now(), Tokens::ZERO, "runner");
            self.tell(Input::Turned { turn: TurnRecord { cost: Some(rest), counts_as_turn: false, ..none } })?;
        }
        for note in &closed.notes {
            self.note(note)?;
        }
        Ok(turns)
    }

    /// A round of which nobody counted something is spending that nobody counted.
    pub(super) fn unmetered(&mut self, round: u64, why: &str) -> Result<(), HostError> {
        self.note(&format!("round {round}: {why}: its spending is not known"))?;
        let turn =
            TurnRecord { grade: Grade::Unknown, ..TurnRecord::new(round, self.os.now(), Tokens::ZERO, "runner") };
        self.tell(Input::Turned { turn })
    }

    /// Writes down what the agent was, and takes an effort that did not take hold off the ladder.
    fn confirm(
        &mut self,
        round: u64,
        effort: &Effort,
        confirmed: Option<&Arc<str>>,
        ignored: bool,
        closed: &Closed,
    ) -> Result<(), HostError> {
        let text = |text: &Option<Arc<str>>| text.as_deref().map(str::to_owned);
        self.journal.write(
            self.os.now(),
            Record::Agent {
                round,
                version: text(&closed.version),
                model: text(&closed.model),
                asked: effort.word().to_owned(),
                confirmed: confirmed.map(|word| word.to_string()),
                coverage_ppm: closed.coverage.ppm(),
            },
        )?;
        let (asked, got) =
            (effort.word(), confirmed.filter(|got| &***got != effort.word()).map(|got| Effort::new(got)));
        match &got {
            Some(got) => {
                self.note(&format!("effort {asked} was asked for and {got} took hold: {asked} leaves the ladder"))?
            }
            None if ignored => {
                self.note(&format!("effort {asked} was asked for and not taken: it leaves the ladder"))?
            }
            None => return Ok(()),
        }
        self.tell(Input::Refused { round, effort: effort.clone(), got })
    }
}
