//! One recording through the engine, and how what it came to compares.

use std::collections::VecDeque;
use std::fmt;

use serde_json::{Map, Value};

use super::original::{PutBack, PutBacks, Window, band, budget};
use super::record::{Expected, Recording, RecordingError, Report, Script, count, nanos};
use crate::engine::{
    AnyLaw, BudgetOrder, Charge, Checkpoint, Control, Effort, Event, Governor, Grade, Input, Ladder, LawKind, Limits,
    Machine, Millis, Output, Plan, RoundExit, StopRequest, Timestamp, Tokens, TurnRecord, Verdict,
};

/// What the engine came to on a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    /// A round each.
    pub rounds: Vec<Expected>,
    /// Why it stopped.
    pub stopped: &'static str,
    /// What it kept.
    pub state: Map<String, Value>,
}

/// One place where expected and got are not the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The round's number; none where it is about the whole run.
    pub round: Option<f64>,
    /// What differs.
    pub what: &'static str,
    /// What the recording says.
    pub expected: String,
    /// What the engine came to.
    pub got: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(round) = self.round {
            write!(f, "round {round}: ")?;
        }
        write!(f, "{}: expected {}, got {}", self.what, self.expected, self.got)
    }
}

/// Plays a recording through the engine with these put back.
///
/// # Errors
/// [`RecordingError`] where the recording is none.
pub fn replay(recording: &Recording, put_back: PutBacks) -> Result<Replay, RecordingError> {
    let mut host = Host::new(recording, put_back)?;
    for script in &recording.rounds {
        if !host.play(script)? {
            break;
        }
    }
    Ok(host.finish(recording))
}

/// Drives the machine with a script instead of an agent.
struct Host {
    machine: Machine<AnyLaw, Window>,
    now: Timestamp,
    orders: VecDeque<Output>,
    verdict: Option<Verdict>,
    kept: Checkpoint,
    efforts: Vec<Effort>,
    rounds: Vec<Expected>,
    interrupted: bool,
    stopped: Option<Control>,
}

impl Host {
    fn new(recording: &Recording, put_back: PutBacks) -> Result<Self, RecordingError> {
        let config = &recording.config;
        let ladder = Ladder::new(recording.ladder.iter().map(String::as_str))?;
        let band = band(config, put_back.has(PutBack::Edges))?;
        let limits = Limits { budget: budget(config, put_back.has(PutBack::Edges))?, ..Limits::default() };
        let window = Window::new(recording, put_back.has(PutBack::Memory))?;
        let governor = Governor::new(LawKind::Reference.build(), band, window, ladder.rungs());
        let efforts = ladder.efforts().to_vec();
        let mut plan = Plan::new(ladder, &recording.configured_effort);
        plan.rest = Millis::new(nanos("rest", config.rest)?);
        plan.limits = limits;
        plan.charge = if put_back.has(PutBack::Charging) { Charge::AtRoundEnd } else { Charge::AsItLands };
        if put_back.has(PutBack::BudgetOrder) {
            plan.budget_order = BudgetOrder::AfterARound;
        }
        let kept = kept(&recording.state_in)?;
        let mut host = Self {
            machine: Machine::new(plan, governor, kept.clone()),
            now: Timestamp::EPOCH,
            orders: VecDeque::new(),
            verdict: None,
            kept,
            efforts,
            rounds: Vec::new(),
            interrupted: false,
            stopped: None,
        };
        host.drain();
        Ok(host)
    }

    fn tell(&mut self, input: Input) {
        let verdict = &mut self.verdict;
        let mut sink = |_: Timestamp, event: Event<'_>| {
            if let Event::Decided { verdict: decided, .. } = event {
                *verdict = Some(*decided);
            }
        };
        self.machine.handle(self.now, input, &mut sink);
        self.drain();
    }

    /// Takes the orders, answering those to persist.
    fn drain(&mut self) {
        loop {
            match self.machine.poll(&mut crate::engine::NoTrace) {
                Output::Persist { seq, checkpoint } => {
                    self.kept = checkpoint;
                    self.machine.handle(self.now, Input::Persisted { seq }, &mut crate::engine::NoTrace);
                }
                Output::Wait { why: crate::engine::Waiting::Disk, .. } => {}
                order @ (Output::Wait { .. } | Output::Stop(_)) => {
                    if let Output::Stop(control) = order {
                        self.stopped = Some(control);
                    }
                    self.orders.push_back(order);
                    return;
                }
                order @ (Output::Spawn { .. } | Output::Terminate { .. } | Output::Verify { .. }) => {
                    self.orders.push_back(order);
                }
            }
        }
    }

    /// Plays one round of the script; says whether the loop goes on.
    fn play(&mut self, script: &Script) -> Result<bool, RecordingError> {
        if let Some(Output::Wait { until: Some(until), .. }) = self.orders.back() {
            self.now = *until;
            self.orders.clear();
            self.tell(Input::Woke);
        }
        let Some(Output::Spawn { round, effort }) = self.orders.pop_front() else { return Ok(false) };
        self.orders.clear();
        self.tell(Input::Spawned { round });
        for report in &script.turns {
            self.report(round, report)?;
        }
        if let Some(ended) = script.ended_at {
            self.now = Timestamp::from_millis(nanos("ended_at", ended)?);
        }
        self.orders.clear();
        if script.interrupted {
            self.interrupted = true;
            self.tell(Input::Asked(StopRequest::End));
            self.tell(Input::Ended { round, exit: RoundExit::Cut });
            return Ok(false);
        }
        let exit = if script.failed { RoundExit::Failed } else { RoundExit::Done };
        self.tell(Input::Ended { round, exit });
        self.take_down(round, &effort);
        Ok(self.stopped.is_none())
    }

    fn report(&mut self, round: u64, report: &Report) -> Result<(), RecordingError> {
        self.now = Timestamp::from_millis(nanos("at", report.at)?);
        let turn = TurnRecord {
            input: Some(Tokens::new(count("input", report.input)?)),
            counts_as_turn: report.turn,
            grade: Grade::Known,
            ..TurnRecord::new(round, self.now, Tokens::new(count("output", report.output)?), "recording")
        };
        self.tell(Input::Turned { turn });
        Ok(())
    }

    fn take_down(&mut self, round: u64, effort: &Effort) {
        let Some(verdict) = self.verdict else { return };
        let mean = verdict.decision.evidence.mean;
        let rest = match self.orders.back() {
            Some(Output::Wait { until: Some(until), .. }) => Some(float(until.since(self.now).count()) / 1e9),
            _ => None,
        };
        self.rounds.push(Expected {
            round: float(round),
            effort: effort.word().into(),
            juice: mean.map_or(0.0, |mean| float(mean.total().count()) / float(mean.turns())),
            effort_next: self.efforts[verdict.to.index()].word().into(),
            output_total: float(self.machine.spent().output.count()),
            rest,
        });
    }

    fn finish(self, recording: &Recording) -> Replay {
        let mut state = Map::new();
        if !self.kept.is_clean() {
            state.clone_from(&recording.state_in);
            state.insert("rounds".into(), self.kept.rounds.into());
            if let Some(output) = self.kept.output {
                state.insert("output".into(), output.count().into());
            }
            if let Some(effort) = &self.kept.effort {
                state.insert("effort".into(), effort.word().into());
            }
        }
        let stopped = match self.stopped {
            Some(Control::Budget) => "budget",
            _ if self.interrupted => "interrupted",
            _ => "script-ended",
        };
        Replay { rounds: self.rounds, stopped, state }
    }
}

/// What the recording's first run took up.
fn kept(state: &Map<String, Value>) -> Result<Checkpoint, RecordingError> {
    let number = |key| state.get(key).and_then(Value::as_f64);
    Ok(Checkpoint {
        rounds: count("state_in.rounds", number("rounds").unwrap_or(0.0))?,
        output: number("output").map(|output| count("state_in.output", output)).transpose()?.map(Tokens::new),
        effort: state.get("effort").and_then(Value::as_str).map(Effort::new),
        ..Checkpoint::default()
    })
}

fn float(count: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "recorded numbers are float64 themselves")]
    let float = count as f64;
    float
}

impl Replay {
    /// Every place where the recording and the engine are not the same.
    #[must_use]
    pub fn differences(&self, recording: &Recording) -> Vec<Difference> {
        let mut all = Vec::new();
        for (index, expected) in recording.expect.iter().enumerate() {
            match self.rounds.get(index) {
                Some(got) => compare(expected, got, &mut all),
                None => all.push(difference(Some(expected.round), "round", "taken", "not taken")),
            }
        }
        for got in self.rounds.iter().skip(recording.expect.len()) {
            all.push(difference(Some(got.round), "round", "not taken", "taken"));
        }
        if self.stopped != recording.stopped {
            all.push(difference(None, "stopped", &recording.stopped, self.stopped));
        }
        if !same_state(&self.state, &recording.state_out) {
            let show = |state: &Map<String, Value>| Value::Object(state.clone()).to_string();
            all.push(difference(None, "state", &show(&recording.state_out), &show(&self.state)));
        }
        all
    }
}

fn difference(round: Option<f64>, what: &'static str, expected: &str, got: &str) -> Difference {
    Difference { round, what, expected: expected.into(), got: got.into() }
}

fn compare(expected: &Expected, got: &Expected, all: &mut Vec<Difference>) {
    let round = Some(expected.round);
    let mut note = |same: bool, what, left: String, right: String| {
        if !same {
            all.push(Difference { round, what, expected: left, got: right });
        }
    };
    let number = |value: f64| value.to_string();
    let rest = |rest: Option<f64>| rest.map_or("none".to_owned(), number);
    note(close(expected.round, got.round), "number", number(expected.round), number(got.round));
    note(expected.effort == got.effort, "effort", expected.effort.clone(), got.effort.clone());
    note(close(expected.juice, got.juice), "juice", number(expected.juice), number(got.juice));
    note(expected.effort_next == got.effort_next, "next", expected.effort_next.clone(), got.effort_next.clone());
    note(
        close(expected.output_total, got.output_total),
        "total",
        number(expected.output_total),
        number(got.output_total),
    );
    let same_rest = match (expected.rest, got.rest) {
        (Some(left), Some(right)) => close(left, right),
        (left, right) => left == right,
    };
    note(same_rest, "rest", rest(expected.rest), rest(got.rest));
}

/// Equal, or within one part in 10^12.
fn close(left: f64, right: f64) -> bool {
    (left - right).abs() <= 1e-12 * left.abs().max(right.abs())
}

fn same_state(left: &Map<String, Value>, right: &Map<String, Value>) -> bool {
    let same = |key: &String, value: &Value| match (value.as_f64(), right.get(key).and_then(Value::as_f64)) {
        (Some(left), Some(right)) => close(left, right),
        _ => right.get(key) == Some(value),
    };
    left.len() == right.len() && left.iter().all(|(key, value)| same(key, value))
}
