//! The host of the real loop: carries out the machine's orders, and tells it what happened.
//!
//! It holds no rule about when to move, rest or stop: those are the [machine](crate::engine::machine)'s. Its own is what belongs to
//! processes: that a report is durable before anything else is done, that the agent is written down before it may start,
//! that an agent which has said its last is given a moment and then ended, that a pipe held open delays nothing, and
//! that no round leaves a process behind. All effects go through [`Os`].
//!
//! | module | holds |
//! |---|---|
//! | this | orders, and waiting where no agent runs |
//! | `work` | a round whose agent runs |
//! | `close` | its end |
//! | `around` | the project around it |
//!
//! It reads no settings and prints nothing: a [`View`] is told.

use std::collections::{BTreeSet, VecDeque};
use std::io;

use super::agent::Agents;
use super::journal::Journal;
use super::kill::LastMessage;
use super::os::{Asked, Heard, Launch, Os, Send};
use super::record::round_folder;
use super::redact::redact;
use super::round::Round;
use super::site::{Begin, Site};
use super::view::View;
use crate::agents::adapter::Stop;
use crate::engine::{
    Answer, Checkpoint, Control, Effort, Input, Law, Machine, Millis, Output, Ratio, RoundExit, Spent, StopRequest,
    Timestamp, Urgency, Waiting,
};
use crate::trace::Record;

mod around;
mod close;
mod work;

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
    #[error("cannot write the run's record, so the agent was ended and the loop stopped")]
    Record(#[from] io::Error),
    /// The agent's command line cannot be made.
    #[error("cannot start the agent: {0}")]
    Agent(String),
    /// The project does not allow the loop to go on.
    #[error("{0}")]
    Site(String),
}

/// How the loop ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The control that stopped it.
    pub control: Control,
    /// What it saw, where there is more to say than its name does.
    pub detail: Option<String>,
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
pub struct Host<'a, O, A, S, V, L> {
    os: &'a mut O,
    agents: &'a mut A,
    site: &'a mut S,
    view: &'a mut V,
    machine: Machine<L>,
    journal: Journal,
    stamps: Stamps,
    clocks: Clocks,
    requests: Option<u64>,
    next: VecDeque<Input>,
    until: Option<Timestamp>,
    why: Waiting,
    stopped: Option<Control>,
    round: Option<Round>,
    /// What a kill-on rule saw.
    killed_on: Option<String>,
    /// What the oracle said of the last round.
    answered: Option<(Answer, String)>,
    /// The share of a cap at which people are warned.
    warn_at: Ratio,
    /// Caps that people were warned of.
    warned: Vec<Control>,
    asked: Option<Asked>,
    times_asked: u32,
    swept: usize,
    told: BTreeSet<String>,
}

impl<'a, O: Os, A: Agents, S: Site<O>, V: View, L: Law> Host<'a, O, A, S, V, L> {
    /// A host of this machine. `journal` has its header, or goes on.
    pub fn new(
        os: &'a mut O,
        agents: &'a mut A,
        site: &'a mut S,
        view: &'a mut V,
        machine: Machine<L>,
        journal: Journal,
    ) -> Self {
        let requests = machine.plan().limits.requests.map(std::num::NonZeroU64::get);
        Self {
            os,
            agents,
            site,
            view,
            machine,
            journal,
            stamps: Stamps::default(),
            clocks: Clocks::default(),
            requests,
            next: VecDeque::new(),
            until: None,
            why: Waiting::Disk,
            stopped: None,
            round: None,
            killed_on: None,
            answered: None,
            warn_at: Ratio::from_ppm(800_000),
            warned: Vec::new(),
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

    /// The share of a cap at which people are warned; nothing is no warning.
    #[must_use]
    pub const fn warning_at(mut self, share: Ratio) -> Self {
        self.warn_at = share;
        self
    }

    /// Runs the loop until a control stops it. Whatever happens, no agent is left.
    ///
    /// # Errors
    /// [`HostError`]: the agent was ended before.
    pub fn run(mut self) -> Result<Ended, HostError> {
        let outcome = self.go();
        if let Some(mut round) = self.round.take() {
            self.os.signal(Send::Kill);
            // the loop is over whether the end of a log can be kept or not
            let _ = round.stdout.finish(self.os, round.number);
            let _ = round.stderr.finish(self.os, round.number);
        }
        self.swept += self.os.sweep();
        let control = outcome?;
        let kept = self.kept();
        self.journal.save(self.os, &kept, Some(control))?;
        let detail = self.killed_on.take().filter(|_| control == Control::KillOn);
        let detail = detail.or_else(|| self.site.detail(control)).map(|detail| redact(&detail).into_owned());
        Ok(Ended { control, detail, asked: self.asked, spent: self.machine.spent(), kept, swept: self.swept })
    }

    fn go(&mut self) -> Result<Control, HostError> {
        self.find()?;
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
                    self.next.push_back(Input::Persisted { seq });
                }
                Output::Spawn { round, effort } => self.spawn(round, effort)?,
                Output::Terminate { how, .. } => self.terminate(how),
                Output::Verify { round } => self.verify(round)?,
                Output::Wait { until, why } => {
                    let Some(input) = self.next.pop_front() else {
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
        self.answered = None;
        let begin = Begin { round, effort: &effort, spent: self.machine.spent(), now: self.os.now() };
        let (prompt, notes) = self.site.before(self.os, &begin).map_err(HostError::Site)?;
        notes.iter().try_for_each(|note| self.note(note))?;
        let launch = self.agents.launch(round, effort.word(), prompt, self.os.now()).map_err(HostError::Agent)?;
        self.keep_prompt(round, &launch)?;
        let now = self.os.now();
        let process = match self.os.spawn(&launch) {
            Ok(process) => process,
            Err(error) => {
                self.note(&format!("round {round}: the agent could not be started: {error}"))?;
                self.next.push_back(Input::Ended { round, exit: RoundExit::Failed });
                return Ok(());
            }
        };
        self.round = Some(Round::new(
            round,
            effort,
            (self.agents.live(), LastMessage::new(self.agents.kind())),
            now,
            self.machine.spent().output,
        ));
        self.journal.write(now, Record::Group { round, process })?;
        self.journal.flush(self.os)?;
        if let Err(error) = self.os.release() {
            self.note(&format!("round {round}: the agent left before it began: {error}"))?;
        }
        self.os.follow(&self.agents.follows(None));
        self.view.began(round, self.round.as_ref().map_or("", |round| round.effort.word()), now);
        self.next.push_back(Input::Spawned { round });
        Ok(())
    }

    fn keep_prompt(&mut self, round: u64, launch: &Launch) -> Result<(), HostError> {
        // a prompt that goes by a file is there already
        if launch.stdin.is_empty() {
            return Ok(());
        }
        let prompt = String::from_utf8_lossy(&launch.stdin);
        Ok(self.os.append(&format!("{}/prompt.md", round_folder(round)), redact(&prompt).as_bytes())?)
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

    /// Tells people something, once.
    fn note(&mut self, text: &str) -> Result<(), HostError> {
        let text = &*redact(text);
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
