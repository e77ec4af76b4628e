//! The host of the real loop: carries out the machine's orders, and tells it what happened.
//!
//! It holds no rule about when to move, rest or stop: those are the [machine](crate::engine::machine)'s. Its own is what belongs to
//! processes: that a report is durable before anything else is done, that the agent is written down before it may start,
//! that an agent which has said its last is given a moment and then ended, that a pipe held open delays nothing, and
//! that no round leaves a process behind. All effects go through [`Os`].
//!
//! It reads no settings and prints nothing: a [`View`] is told.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use super::agent::Agents;
use super::journal::Journal;
use super::os::{Asked, End, Heard, Launch, Os, Send};
use super::record::round_folder;
use super::round::{Round, keep};
use super::view::{Told, View};
use crate::agents::adapter::Stop;
use crate::agents::live::{Closed, Landed, ProcessEnd};
use crate::engine::{
    Checkpoint, Control, Effort, Grade, Input, Law, Machine, MicroUsd, Millis, Output, RoundExit, Spent, StopRequest,
    Timestamp, Tokens, TurnRecord, Urgency, Waiting,
};
use crate::trace::Record;

/// Whose clock is believed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stamps {
    /// The runner's: a report happens when it lands.
    #[default]
    Own,
    /// The agent's: a report happens at the moment that it is stamped with. For agents that play in compressed time.
    Agent,
}

/// Spans that are the host's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clocks {
    /// How long an agent may go on after it has said how its run ended.
    pub after_result: Millis,
    /// How long pipes may stay open once the agent is gone, before what holds them is ended.
    pub after_exit: Millis,
}

impl Default for Clocks {
    fn default() -> Self {
        Self { after_result: Millis::from_secs(30), after_exit: Millis::from_secs(2) }
    }
}

/// The most messages that are taken in before they are made durable.
const BATCH: usize = 1024;

/// Why the loop broke off.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The record cannot be written.
    #[error("cannot write the run's record, so the agent was ended and the loop stopped: {0}")]
    Record(#[from] io::Error),
    /// The agent's command line cannot be made.
    #[error("cannot start the agent: {0}")]
    Agent(String),
}

/// How the loop ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The control that stopped it.
    pub control: Control,
    /// Who asked, where somebody did.
    pub asked: Option<Asked>,
    /// All that was spent.
    pub spent: Spent,
    /// What is kept.
    pub kept: Checkpoint,
    /// Processes that rounds had left behind and that were ended.
    pub swept: usize,
}

/// The host of one loop.
pub struct Host<'a, O, A, V, L> {
    os: &'a mut O,
    agents: &'a mut A,
    view: &'a mut V,
    machine: Machine<L>,
    journal: Journal,
    stamps: Stamps,
    clocks: Clocks,
    requests: Option<u64>,
    next: Option<Input>,
    until: Option<Timestamp>,
    why: Waiting,
    stopped: Option<Control>,
    round: Option<Round>,
    asked: Option<Asked>,
    times_asked: u32,
    swept: usize,
    told: BTreeSet<String>,
}

impl<'a, O: Os, A: Agents, V: View, L: Law> Host<'a, O, A, V, L> {
    /// A host of this machine. `journal` has its header, or goes on.
    pub fn new(os: &'a mut O, agents: &'a mut A, view: &'a mut V, machine: Machine<L>, journal: Journal) -> Self {
        let requests = machine.plan().limits.requests.map(std::num::NonZeroU64::get);
        Self {
            os,
            agents,
            view,
            machine,
            journal,
            stamps: Stamps::default(),
            clocks: Clocks::default(),
            requests,
            next: None,
            until: None,
            why: Waiting::Disk,
            stopped: None,
            round: None,
            asked: None,
            times_asked: 0,
            swept: 0,
            told: BTreeSet::new(),
        }
    }

    /// Whose clock is believed, and the host's own spans.
    #[must_use]
    pub const fn with(mut self, stamps: Stamps, clocks: Clocks) -> Self {
        self.stamps = stamps;
        self.clocks = clocks;
        self
    }

    /// Runs the loop until a control stops it. Whatever happens, no agent is left.
    ///
    /// # Errors
    /// [`HostError`]: the agent was ended before.
    pub fn run(mut self) -> Result<Ended, HostError> {
        let outcome = self.go();
        if self.round.take().is_some() {
            self.os.signal(Send::Kill);
        }
        self.swept += self.os.sweep();
        let control = outcome?;
        let kept = self.kept();
        self.journal.save(self.os, &kept, Some(control))?;
        Ok(Ended { control, asked: self.asked, spent: self.machine.spent(), kept, swept: self.swept })
    }

    fn go(&mut self) -> Result<Control, HostError> {
        self.drain()?;
        loop {
            if let Some(control) = self.stopped {
                return Ok(control);
            }
            if self.round.is_some() {
                self.work()?;
            } else {
                self.idle()?;
            }
        }
    }

    /// What is kept, with what a round that was given up had reported.
    fn kept(&self) -> Checkpoint {
        let (mut kept, spent) = (self.machine.checkpoint().clone(), self.machine.spent());
        if !kept.is_clean() {
            if spent.output != kept.output.unwrap_or_default() {
                kept.output = Some(spent.output);
            }
            (kept.tokens, kept.cost) = (spent.tokens, spent.cost);
        }
        kept
    }

    /// Tells the machine a fact, and carries out what follows from it.
    fn tell(&mut self, input: Input) -> Result<(), HostError> {
        self.machine.handle(self.os.now(), input, &mut self.journal);
        self.drain()
    }

    /// Carries out orders until there is something to wait for.
    fn drain(&mut self) -> Result<(), HostError> {
        loop {
            match self.machine.poll(&mut self.journal) {
                Output::Persist { seq, checkpoint } => {
                    self.journal.save(self.os, &checkpoint, None)?;
                    self.next = Some(Input::Persisted { seq });
                }
                Output::Spawn { round, effort } => self.spawn(round, effort)?,
                Output::Terminate { how, .. } => self.terminate(how),
                Output::Verify { round } => {
                    self.next = Some(Input::Verified { round, answer: crate::engine::Answer::Fail });
                }
                Output::Wait { until, why } => {
                    let Some(input) = self.next.take() else {
                        (self.until, self.why) = (until, why);
                        return Ok(());
                    };
                    self.machine.handle(self.os.now(), input, &mut self.journal);
                }
                Output::Stop(control) => {
                    self.stopped = Some(control);
                    return Ok(());
                }
            }
        }
    }

    /// Starts the agent of a round: at a gate first, written down, and then for good.
    fn spawn(&mut self, round: u64, effort: Effort) -> Result<(), HostError> {
        let launch = self.agents.launch(round, effort.word(), self.os.now()).map_err(HostError::Agent)?;
        self.keep_prompt(round, &launch)?;
        let now = self.os.now();
        let process = match self.os.spawn(&launch) {
            Ok(process) => process,
            Err(error) => {
                self.note(&format!("round {round}: the agent could not be started: {error}"))?;
                self.next = Some(Input::Ended { round, exit: RoundExit::Failed });
                return Ok(());
            }
        };
        self.round = Some(Round::new(round, effort, self.agents.live(), now, self.machine.spent().output));
        self.journal.write(now, Record::Group { round, process })?;
        self.journal.flush(self.os)?;
        if let Err(error) = self.os.release() {
            self.note(&format!("round {round}: the agent left before it began: {error}"))?;
        }
        self.os.follow(&self.agents.follows(None));
        self.view.began(round, self.round.as_ref().map_or("", |round| round.effort.word()), now);
        self.next = Some(Input::Spawned { round });
        Ok(())
    }

    fn keep_prompt(&mut self, round: u64, launch: &Launch) -> Result<(), HostError> {
        // a prompt that goes by a file is there already
        if launch.stdin.is_empty() {
            return Ok(());
        }
        Ok(self.os.append(&format!("{}/prompt.md", round_folder(round)), &launch.stdin)?)
    }

    fn terminate(&mut self, how: Urgency) {
        let Some(round) = &mut self.round else { return };
        round.cut = true;
        match how {
            Urgency::Gently => self.os.signal(signal_of(self.agents.stop())),
            Urgency::Now => {
                self.os.signal(Send::Kill);
                self.swept += self.os.sweep();
            }
        }
    }

    /// Waits where no agent runs.
    fn idle(&mut self) -> Result<(), HostError> {
        // whoever looks at the record sees what is waited for
        self.journal.hand_over(self.os)?;
        if let Some(until) = self.until {
            self.view.waits(until, self.why);
        }
        match self.os.receive(self.until) {
            Heard::Asked(asked) => self.ask(asked),
            Heard::Due => self.tell(Input::Woke),
            // what a round that is over still had to say
            Heard::Stdout(_) | Heard::Stderr(_) | Heard::Followed { .. } | Heard::Closed | Heard::Exited(_) => Ok(()),
        }
    }

    /// Somebody asks for a stop: at first politely.
    fn ask(&mut self, asked: Asked) -> Result<(), HostError> {
        self.asked.get_or_insert(asked);
        self.times_asked += 1;
        self.tell(Input::Asked(match self.times_asked {
            1 => StopRequest::End,
            2 => StopRequest::Kill,
            _ => StopRequest::GiveUp,
        }))
    }

    /// Takes in what the agent says, and closes the round when it is over.
    fn work(&mut self) -> Result<(), HostError> {
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

    fn hear(&mut self, heard: Heard, landed: &mut Vec<Landed>) -> Result<(), HostError> {
        let now = self.os.now();
        let deaf = self.has_not_happened();
        let Some(round) = &mut self.round else { return Ok(()) };
        match heard {
            Heard::Stdout(bytes) => {
                round.heard = now;
                keep(self.os, round, 0, "stdout.log", &bytes)?;
                if !deaf {
                    round.live.stdout(&bytes, landed);
                }
            }
            Heard::Stderr(bytes) => {
                round.heard = now;
                keep(self.os, round, 1, "stderr.log", &bytes)?;
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

    fn land(&mut self, landed: Landed) -> Result<(), HostError> {
        let Some(round) = &mut self.round else { return Ok(()) };
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
                if let Some(until) = until_unix_ms {
                    let left = Millis::new(until.saturating_sub(self.os.unix_ms()));
                    return self.tell(Input::LimitUntil { until: self.os.now().after(left) });
                }
            }
            Landed::Ignored { why } => {
                round.ignored = true;
                return self.note(&why);
            }
            Landed::Note(text) => return self.note(&text),
            Landed::Result => round.result = round.result.or_else(|| Some(self.os.now())),
            Landed::Said(text) => self.view.said(&text),
        }
        Ok(())
    }

    /// With the agent's own stamps, what it says after it was ended has not happened.
    fn has_not_happened(&self) -> bool {
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
            return self.note(&format!("the agent left {left} processes behind that held its pipes: they were ended"));
        }
        Ok(())
    }

    /// The agent is gone and all was heard: settles the round, and tells that it ended.
    fn close(&mut self) -> Result<(), HostError> {
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
        if left > 0 {
            self.note(&format!("round {number}: {left} processes that the agent left behind were ended"))?;
        }
        let end = match exit.map(|(end, _)| end) {
            Some(End::Exited(code)) => ProcessEnd::Exited(code),
            Some(End::Signalled(signal)) => ProcessEnd::Signalled(signal),
            None => ProcessEnd::Signalled(9),
        };
        let over = result.is_some() && ended_after_result.is_some();
        let closed = live.close(if over { ProcessEnd::Exited(0) } else { end }, cut);
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
        self.tell(Input::Ended { round: number, exit })?;
        let spent = self.machine.spent();
        let verdict = self.machine.verdict().copied().filter(|_| self.asked.is_none());
        self.view.ended(&Told {
            round: number,
            asked: effort.word(),
            exit,
            why: closed.why.as_deref(),
            turns,
            output: spent.output.minus(before),
            lasted: self.os.now().since(began),
            verdict: verdict.as_ref(),
            spent,
        });
        Ok(())
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
    fn unmetered(&mut self, round: u64, why: &str) -> Result<(), HostError> {
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

    /// Tells people something, once.
    fn note(&mut self, text: &str) -> Result<(), HostError> {
        if self.told.insert(text.to_owned()) {
            self.journal.write(self.os.now(), Record::Note { text: text.to_owned() })?;
            self.view.note(text);
        }
        Ok(())
    }
}

const fn signal_of(stop: Stop) -> Send {
    match stop {
        Stop::Int => Send::Int,
        Stop::Term => Send::Term,
    }
}
