//! The world: a made-up agent on a made-up clock, driving the engine's machine event by event.
//!
//! It answers the machine's orders the way a runner does: what is to persist is persisted at once, an agent that is to
//! be spawned takes its turns one after the other, and time jumps to the next thing that happens. It is not a loop of its
//! own: when to rest, move or stop is the machine's to say. Units: milliseconds since the run's epoch; a turn is reported
//! at its end, and a round ends with its last report.

use super::agent::Accounting;
use super::luck::{Closing, Luck, RoundDraw};
use crate::engine::{
    Answer, Control, Cutoff, Grade, Input, Law, Machine, Millis, Output, RoundExit, StopRequest, Timestamp, Tokens,
    TraceSink, TurnRecord, Verdict,
};

/// The name under which the simulated agent's turns are recorded.
pub const SOURCE: &str = "sim";

/// What happened in one round.
#[derive(Clone, Copy, Debug)]
pub struct RoundFacts<'a> {
    /// The round, counted from 0.
    pub round: u32,
    /// When it began.
    pub began: Timestamp,
    /// When it ended.
    pub ended: Timestamp,
    /// What the agent did, as billed.
    pub draw: &'a RoundDraw,
    /// What the governor made of it.
    pub verdict: &'a Verdict,
}

/// A simulated agent and its clock.
#[derive(Debug)]
pub struct World<'l, 'm> {
    luck: &'l mut Luck<'m>,
    grade: Grade,
    now: Timestamp,
    draw: RoundDraw,
}

impl<'l, 'm> World<'l, 'm> {
    /// A world at its epoch.
    pub fn new(luck: &'l mut Luck<'m>, accounting: Accounting) -> Self {
        let grade = match accounting {
            Accounting::Final => Grade::Known,
            Accounting::Partial { .. } => Grade::Estimated,
            Accounting::RoundTotalOnly => Grade::Unknown,
        };
        Self { luck, grade, now: Timestamp::EPOCH, draw: RoundDraw::default() }
    }

    /// The moment at which the world stands.
    #[must_use]
    pub const fn now(&self) -> Timestamp {
        self.now
    }

    /// Runs the machine until it stops, and tells `each` what came of every round. A machine that would go on after the
    /// last round that luck was drawn for is interrupted there.
    pub fn run<L: Law, C: Cutoff>(
        &mut self,
        machine: &mut Machine<L, C>,
        trace: &mut impl TraceSink,
        mut each: impl FnMut(&RoundFacts<'_>),
    ) -> Control {
        loop {
            match machine.poll(trace) {
                Output::Persist { seq, .. } => {
                    machine.poll(trace);
                    machine.handle(self.now, Input::Persisted { seq }, trace);
                }
                Output::Spawn { round, .. } => {
                    machine.poll(trace);
                    let Some(index) = self.drawn(round) else {
                        machine.handle(self.now, Input::Asked(StopRequest::GiveUp), trace);
                        continue;
                    };
                    let began = self.now;
                    self.round(machine, round, index, trace);
                    if let Some(verdict) = machine.verdict() {
                        each(&RoundFacts { round: index, began, ended: self.now, draw: &self.draw, verdict });
                    }
                }
                Output::Wait { until, .. } => {
                    self.now = until.unwrap_or(self.now);
                    machine.handle(self.now, Input::Woke, trace);
                }
                Output::Verify { round } => {
                    machine.poll(trace);
                    machine.handle(self.now, Input::Verified { round, answer: Answer::Fail }, trace);
                }
                // a round is ended where its turns are told; here none is in progress
                Output::Terminate { .. } => {}
                Output::Stop(control) => return control,
            }
        }
    }

    /// The round's place among those that luck was drawn for.
    fn drawn(&self, round: u64) -> Option<u32> {
        let index = u32::try_from(round.checked_sub(1)?).ok()?;
        usize::try_from(index).is_ok_and(|place| place < self.luck.rounds()).then_some(index)
    }

    /// The agent of one round, from its start to its end, which the machine may order before its last turn.
    fn round<L: Law, C: Cutoff>(
        &mut self,
        machine: &mut Machine<L, C>,
        round: u64,
        index: u32,
        trace: &mut impl TraceSink,
    ) {
        self.luck.realise(machine.rung().index(), index, &mut self.draw);
        let mut order = self.tell(machine, Input::Spawned { round }, trace);
        for turn in 0..self.draw.millis.len() {
            let (start, lasts) = (self.now, Millis::new(u64::from(self.draw.millis[turn])));
            let end = start.after(lasts);
            if let Output::Wait { until: Some(until), .. } = order
                && until < end
            {
                self.now = until;
                order = self.tell(machine, Input::Woke, trace);
            }
            if matches!(order, Output::Terminate { .. }) {
                machine.poll(trace);
                machine.handle(self.now, Input::Ended { round, exit: RoundExit::Cut }, trace);
                return;
            }
            self.now = end;
            let landed = Tokens::new(u64::from(self.draw.landed[turn]));
            // a request always has input; how much is not simulated, and one token says that the turn took place
            let turn = TurnRecord {
                start: Some(start),
                input: Some(Tokens::new(1)),
                grade: self.grade,
                ..TurnRecord::new(round, end, landed, SOURCE)
            };
            order = self.tell(machine, Input::Turned { turn }, trace);
        }
        self.close(machine, round, trace);
        machine.handle(self.now, Input::Ended { round, exit: RoundExit::Done }, trace);
    }

    /// What the backend says as the round ends.
    fn close<L: Law, C: Cutoff>(&self, machine: &mut Machine<L, C>, round: u64, trace: &mut impl TraceSink) {
        let input = match self.draw.closing {
            Closing::None => return,
            Closing::Lump(tokens) => Input::Turned {
                turn: TurnRecord {
                    counts_as_turn: false,
                    ..TurnRecord::new(round, self.now, Tokens::new(tokens), SOURCE)
                },
            },
            Closing::Total(tokens) => Input::Settled { round, total: Tokens::new(tokens), turns: Vec::new() },
        };
        self.tell(machine, input, trace);
    }

    /// Tells one fact and gives the order that follows.
    fn tell<L: Law, C: Cutoff>(&self, machine: &mut Machine<L, C>, input: Input, trace: &mut impl TraceSink) -> Output {
        machine.handle(self.now, input, trace);
        machine.poll(trace)
    }
}
