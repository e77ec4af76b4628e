//! The world: a made-up agent on a made-up clock, driving the engine's machine event by event.
//!
//! It answers the machine's orders the way a runner does: what is to persist is persisted at once, an agent that is to
//! be spawned takes its turns one after the other, and time jumps to the next thing that happens. It is not a loop of its
//! own: when to rest, move or stop is the machine's to say. Units: milliseconds since the run's epoch; a turn is reported
//! at its end, and a round ends with its last report. Where it has [`Outcomes`], it also tells what comes of a round: limits, failures,
//! what the project is like, what the oracle says. A limit that does not say until when refuses every round that begins before its end.

use super::agent::Accounting;
use super::luck::{Closing, Luck, RoundDraw};
use super::outcome::{Fate, Left, Limit, Made, Outcomes};
use crate::engine::{
    Answer, Control, Cutoff, Decision, Evidence, Grade, Input, Law, Machine, MicroUsd, Millis, Output, RoundExit, Rung,
    StopRequest, Timestamp, Tokens, TraceSink, TurnRecord, Verdict, Why,
};

/// The name under which the simulated agent's turns are recorded.
pub const SOURCE: &str = "sim";

/// What a turn takes in, and what tokens cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Input of each turn. A request always has input; where it is not simulated, one token says that the turn took place.
    pub input: Tokens,
    /// Millionths of a USD for a million tokens of input.
    pub input_price: u64,
    /// Millionths of a USD for a million tokens of output.
    pub output_price: u64,
}

impl Default for Usage {
    /// One token of input, and no price.
    fn default() -> Self {
        Self { input: Tokens::new(1), input_price: 0, output_price: 0 }
    }
}

impl Usage {
    /// What a turn of so much output costs, to the nearest millionth of a USD; none where there is no price.
    #[must_use]
    pub fn cost(&self, output: u64) -> Option<MicroUsd> {
        let part = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
        let whole = part(self.input.count(), self.input_price) + part(output, self.output_price);
        let priced = self.input_price > 0 || self.output_price > 0;
        priced.then(|| MicroUsd::new(u64::try_from((whole + 500_000) / 1_000_000).unwrap_or(u64::MAX)))
    }
}

/// What happened in one round.
#[derive(Clone, Copy, Debug)]
pub struct RoundFacts<'a> {
    /// The round, counted from 0.
    pub round: u32,
    /// When it began.
    pub began: Timestamp,
    /// When it ended.
    pub ended: Timestamp,
    /// What the agent did before it ended, as billed.
    pub draw: &'a RoundDraw,
    /// How it ended.
    pub exit: RoundExit,
    /// Whether a limit of the backend ended it.
    pub limited: bool,
    /// What it left behind; none where nobody says.
    pub left: Option<Left>,
    /// What the governor made of it. A round that is stopped by hand or by a kill-on rule is not read: then that nothing
    /// moved.
    pub verdict: &'a Verdict,
}

/// A simulated agent and its clock.
#[derive(Debug)]
pub struct World<'l, 'm> {
    luck: &'l mut Luck<'m>,
    outcomes: Option<&'l mut dyn Outcomes>,
    accounting: Accounting,
    usage: Usage,
    now: Timestamp,
    draw: RoundDraw,
    left: Option<Left>,
    /// What of it waits for the oracle's answer.
    untold: Option<Left>,
    /// Until when the backend takes no request.
    limit: Timestamp,
}

/// How a round went.
struct Went {
    exit: RoundExit,
    limited: bool,
    interrupted: bool,
    rung: Rung,
}

impl<'l, 'm> World<'l, 'm> {
    /// A world at its epoch, in which nothing comes of rounds but their tokens.
    pub fn new(luck: &'l mut Luck<'m>, accounting: Accounting) -> Self {
        Self {
            luck,
            outcomes: None,
            accounting,
            usage: Usage::default(),
            now: Timestamp::EPOCH,
            draw: RoundDraw::default(),
            left: None,
            untold: None,
            limit: Timestamp::EPOCH,
        }
    }

    /// The same world, in which this comes of rounds and turns take in and cost this.
    #[must_use]
    pub fn with(mut self, outcomes: Option<&'l mut dyn Outcomes>, usage: Usage) -> Self {
        (self.outcomes, self.usage) = (outcomes, usage);
        self
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
        if let Some(outcomes) = &self.outcomes {
            let tree = outcomes.found();
            machine.handle(self.now, Input::Progress { round: 0, tree, error: None }, trace);
        }
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
                    let Went { exit, limited, interrupted, rung } = self.round(machine, round, index, trace);
                    let unread = interrupted || self.left.is_some_and(|left| left.kill_on);
                    let unread = unread.then(|| held(rung, self.now));
                    if let Some(verdict) = unread.as_ref().or_else(|| machine.verdict()) {
                        let (ended, draw, left) = (self.now, &self.draw, self.left);
                        each(&RoundFacts { round: index, began, ended, draw, exit, limited, left, verdict });
                    }
                }
                Output::Wait { until, .. } => {
                    self.now = until.unwrap_or(self.now);
                    machine.handle(self.now, Input::Woke, trace);
                }
                Output::Verify { round } => {
                    machine.poll(trace);
                    let answer = self.left.map_or(Answer::Fail, |left| left.answer);
                    if let Some(left) = self.untold.take() {
                        self.progress(machine, round, &left, trace);
                    }
                    machine.handle(self.now, Input::Verified { round, answer }, trace);
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
    ) -> Went {
        let rung = machine.rung();
        self.luck.realise(rung.index(), index, &mut self.draw);
        let fate = self.fate(index);
        let mut order = self.tell(machine, Input::Spawned { round }, trace);
        let mut turns = 0;
        while turns < fate.turns && !matches!(order, Output::Terminate { .. }) {
            let (start, lasts) = (self.now, Millis::new(u64::from(self.draw.millis[turns])));
            let end = start.after(lasts);
            if let Output::Wait { until: Some(until), .. } = order
                && until < end
            {
                self.now = until;
                order = self.tell(machine, Input::Woke, trace);
                continue;
            }
            self.now = end;
            let turn = self.turn(round, turns, start);
            order = self.tell(machine, Input::Turned { turn }, trace);
            turns += 1;
        }
        let reached = turns == fate.turns;
        let interrupted = fate.interrupted && reached;
        if interrupted {
            order = self.tell(machine, Input::Asked(StopRequest::End), trace);
        }
        let cut = matches!(order, Output::Terminate { .. });
        self.draw.keep(turns, self.accounting);
        let limit = fate.limit.filter(|_| reached && !interrupted);
        if let Some(Limit { lasts, told }) = limit {
            self.limit = self.limit.max(self.now.after(lasts));
            let until = if told { self.limit } else { Timestamp::EPOCH };
            self.tell(machine, Input::LimitUntil { until }, trace);
        }
        if cut {
            // whoever is cut off says no last word
            self.draw.closing = Closing::None;
        } else {
            self.close(machine, round, trace);
        }
        self.leave(machine, round, &Made { round: index, rung: rung.index(), turns, tokens: self.draw.total() }, trace);
        let exit = if cut { RoundExit::Cut } else { fate.exit };
        machine.handle(self.now, Input::Ended { round, exit }, trace);
        Went { exit, limited: limit.is_some(), interrupted, rung }
    }

    /// What will come of the round whose turns are drawn.
    fn fate(&mut self, index: u32) -> Fate {
        let turns = self.draw.tokens.len();
        let fate = self.outcomes.as_mut().map_or(Fate::whole(turns), |outcomes| outcomes.fate(index, turns));
        if self.now < self.limit {
            // the limit that fell in before is still there, and says as little as before
            let limit = Some(Limit { lasts: Millis::ZERO, told: false });
            return Fate { turns: 0, exit: RoundExit::Failed, limit, ..fate };
        }
        Fate { turns: fate.turns.min(turns), ..fate }
    }

    /// The report of a turn that ends now.
    fn turn(&self, round: u64, turn: usize, start: Timestamp) -> TurnRecord {
        let landed = Tokens::new(u64::from(self.draw.landed[turn]));
        let grade = match self.accounting {
            Accounting::Final => Grade::Known,
            Accounting::Partial { .. } => Grade::Estimated,
            Accounting::RoundTotalOnly => Grade::Unknown,
        };
        TurnRecord {
            start: Some(start),
            input: Some(self.usage.input),
            cost: self.usage.cost(u64::from(self.draw.tokens[turn])),
            grade,
            ..TurnRecord::new(round, self.now, landed, SOURCE)
        }
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

    /// What the round leaves behind: told before its end is, or with the oracle's answer where one will be asked.
    fn leave<L: Law, C: Cutoff>(
        &mut self,
        machine: &mut Machine<L, C>,
        round: u64,
        made: &Made,
        trace: &mut impl TraceSink,
    ) {
        self.left = self.outcomes.as_mut().map(|outcomes| outcomes.left(made));
        let Some(left) = self.left else { return };
        if machine.will_verify() && !left.kill_on {
            self.untold = Some(left);
            return;
        }
        self.progress(machine, round, &left, trace);
        if left.kill_on {
            self.tell(machine, Input::Asked(StopRequest::KillOn), trace);
        }
    }

    fn progress<L: Law, C: Cutoff>(
        &self,
        machine: &mut Machine<L, C>,
        round: u64,
        left: &Left,
        trace: &mut impl TraceSink,
    ) {
        self.tell(machine, Input::Progress { round, tree: left.tree, error: left.error }, trace);
    }

    /// Tells one fact and gives the order that follows.
    fn tell<L: Law, C: Cutoff>(&self, machine: &mut Machine<L, C>, input: Input, trace: &mut impl TraceSink) -> Output {
        machine.handle(self.now, input, trace);
        machine.poll(trace)
    }
}

/// What is said of a round that was not read.
fn held(rung: Rung, at: Timestamp) -> Verdict {
    let decision = Decision { to: rung, why: Why::NoTurns, evidence: Evidence::of(None, None) };
    Verdict { at, cutoff: at, from: rung, to: rung, pinned: false, decision }
}
