//! The machine itself: phases, and what each fact does in them.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::io::{Answer, Input, Output, RoundExit, StopRequest, Urgency, Waiting};
use super::plan::{Asks, BudgetOrder, Charge, Plan};
use crate::engine::checkpoint::Checkpoint;
use crate::engine::control::{Caps, Control, Fingerprint, Rows, Spent};
use crate::engine::event::{Event, TraceSink};
use crate::engine::governor::{Cutoff, Governor, Over, Verdict};
use crate::engine::ladder::{Effort, Rung};
use crate::engine::law::Law;
use crate::engine::turn::TurnRecord;
use crate::engine::units::{Millis, Timestamp, Tokens};

/// Where the loop stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Fresh,
    Saving { seq: u64, then: Then },
    Starting,
    Working,
    Ending { kill_at: Option<Timestamp> },
    Verifying,
    Resting { until: Timestamp, why: Waiting },
    Stopped(Control),
}

/// What a write is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    Start,
    Judge,
    Stop(Control),
}

/// The round in progress, or the last one.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    number: u64,
    started: Timestamp,
    heard: Timestamp,
    requests: u64,
    output: Tokens,
    unmetered: bool,
    /// It made more requests than are allowed.
    overrun: bool,
    /// The backend's limit fell into it.
    limited: bool,
}

/// The loop. See the [module page](super) for its contract.
#[derive(Clone, Debug)]
pub struct Machine<L, C = Over> {
    plan: Plan,
    governor: Governor<L, C>,
    efforts: Vec<Effort>,
    rung: Rung,
    kept: Checkpoint,
    spent: Spent,
    began: Option<Timestamp>,
    now: Timestamp,
    phase: Phase,
    seq: u64,
    first: bool,
    round: Round,
    rows: Rows,
    asked: Option<Control>,
    shared: Caps,
    limit_until: Timestamp,
    verdict: Option<Verdict>,
    orders: VecDeque<Output>,
}

impl<L: Law, C: Cutoff> Machine<L, C> {
    /// A loop that takes up `kept`, which is clean for a first run. Nothing happens before the first fact or poll.
    pub fn new(plan: Plan, mut governor: Governor<L, C>, kept: Checkpoint) -> Self {
        let start = plan.ladder.start(kept.effort.as_ref().map(Effort::word), &plan.configured);
        let asked_for = |effort: &Effort| match start.prefix {
            "" => effort.clone(),
            prefix => Effort::new(&alloc::format!("{prefix}{effort}")),
        };
        governor.law_mut().restore(&kept.law);
        Self {
            efforts: plan.ladder.efforts().iter().map(asked_for).collect(),
            rung: start.rung,
            spent: kept.spent(),
            rows: kept.rows,
            plan,
            governor,
            kept,
            began: None,
            now: Timestamp::EPOCH,
            phase: Phase::Fresh,
            seq: 0,
            first: true,
            round: Round::default(),
            asked: None,
            shared: Caps::default(),
            limit_until: Timestamp::EPOCH,
            verdict: None,
            orders: VecDeque::new(),
        }
    }

    /// What it was set up with.
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The governor.
    pub const fn governor(&self) -> &Governor<L, C> {
        &self.governor
    }

    /// What is kept, as of the last order to persist.
    pub const fn checkpoint(&self) -> &Checkpoint {
        &self.kept
    }

    /// What has been spent so far.
    pub const fn spent(&self) -> Spent {
        self.spent
    }

    /// The rung of the round in progress, or of the next one.
    pub const fn rung(&self) -> Rung {
        self.rung
    }

    /// Whether the oracle will be asked once the round in progress has ended, as things stand.
    pub fn will_verify(&self) -> bool {
        self.plan.verify != Asks::Never && self.asked.is_none()
    }

    /// Whether the last round left the project as another than it was; none where nobody looked.
    pub fn changed(&self) -> Option<bool> {
        self.rows.tree.last.map(|_| self.rows.tree.length == 1)
    }

    /// The last decision.
    pub const fn verdict(&self) -> Option<&Verdict> {
        self.verdict.as_ref()
    }

    /// Takes in one fact. Time never runs backwards: an earlier `now` counts as the last one seen.
    pub fn handle(&mut self, now: Timestamp, input: Input, trace: &mut impl TraceSink) {
        self.tick(now);
        trace.note(self.now, Event::Fact(&input));
        let taken = match input {
            Input::Persisted { seq } => self.persisted(seq),
            Input::Spawned { round } => self.spawned(round),
            Input::Turned { turn } => self.turned(&turn),
            Input::Settled { round, total, turns } => self.settled(round, total, &turns, trace),
            Input::Heard { round } => self.heard(round),
            Input::Refused { round, effort, got } => self.refused(round, &effort, got.as_ref()),
            Input::Ended { round, exit } => self.ended(round, exit, trace),
            Input::Verified { round, answer } => self.verified(round, answer),
            Input::Progress { round, tree, error } => self.progressed(round, tree, error),
            Input::LimitUntil { until } => self.limited(until),
            Input::Shared { left } => self.share(left),
            Input::Asked(request) => self.requested(request),
            Input::Woke => self.woke(),
        };
        if !taken {
            trace.note(self.now, Event::Absorbed);
        }
    }

    /// The next order. Call until [`Output::Wait`] or [`Output::Stop`].
    pub fn poll(&mut self, trace: &mut impl TraceSink) -> Output {
        if self.phase == Phase::Fresh {
            self.begin();
        }
        let order = self.orders.pop_front().unwrap_or_else(|| self.idle());
        trace.note(self.now, Event::Order(&order));
        order
    }

    fn tick(&mut self, now: Timestamp) {
        self.now = self.now.max(now);
        let began = *self.began.get_or_insert(self.now);
        self.spent.wall = self.now.since(began);
    }

    /// What to say when there is nothing to order.
    fn idle(&self) -> Output {
        let (until, why) = match self.phase {
            Phase::Fresh | Phase::Saving { .. } => (None, Waiting::Disk),
            Phase::Starting => (None, Waiting::Start),
            Phase::Working => (self.deadline(), Waiting::Turns),
            Phase::Ending { kill_at } => (kill_at, Waiting::End),
            Phase::Verifying => (None, Waiting::Answer),
            Phase::Resting { until, why } => (Some(until), why),
            Phase::Stopped(control) => return Output::Stop(control),
        };
        Output::Wait { until, why }
    }

    /// The moment at which a round has gone on, or has been silent, for too long.
    fn deadline(&self) -> Option<Timestamp> {
        let limits = &self.plan.limits;
        let round = limits.round_wall.map(|cap| self.round.started.after(cap));
        let silent = limits.inactivity.map(|cap| self.round.heard.after(cap));
        let run = limits.wall.map(|cap| self.began.unwrap_or(self.now).after(cap));
        [round, silent, run].into_iter().flatten().min()
    }

    /// Begins a round, unless a cap forbids it.
    fn begin(&mut self) {
        let first = core::mem::take(&mut self.first);
        let original = first && self.plan.budget_order == BudgetOrder::AfterARound;
        let reached = self.reached().filter(|&cap| !(original && cap == Control::Budget));
        // a question costs no round: one that was lost with the last round that is allowed is still asked
        let asks = first && self.plan.verify == Asks::BeforeToo && self.asked.is_none();
        if asks && reached.is_none_or(|cap| cap == Control::Rounds) {
            return self.verify();
        }
        if let Some(control) = self.asked.or(reached) {
            return self.stop(control);
        }
        self.kept.rows = self.rows;
        self.kept.rounds = self.kept.rounds.saturating_add(1);
        self.spent.rounds = self.kept.rounds;
        self.round = Round { number: self.kept.rounds, ..Round::default() };
        self.save(Then::Start);
    }

    fn save(&mut self, then: Then) {
        self.seq += 1;
        self.phase = Phase::Saving { seq: self.seq, then };
        self.orders.push_back(Output::Persist { seq: self.seq, checkpoint: self.kept.clone() });
    }

    /// Stops; after the budget, once the cleared checkpoint is durable.
    fn stop(&mut self, control: Control) {
        if control == Control::Budget && !self.kept.is_clean() {
            self.kept = Checkpoint::default();
            self.save(Then::Stop(control));
        } else {
            self.phase = Phase::Stopped(control);
        }
    }

    fn persisted(&mut self, seq: u64) -> bool {
        let Phase::Saving { seq: due, then } = self.phase else { return false };
        if seq != due {
            return false;
        }
        match (then, self.asked) {
            (Then::Stop(control), _) => self.phase = Phase::Stopped(control),
            (Then::Start | Then::Judge, Some(control)) => self.stop(control),
            (Then::Start, None) => self.start(),
            (Then::Judge, None) if self.plan.verify != Asks::Never => self.verify(),
            (Then::Judge, None) => self.judge(),
        }
        true
    }

    /// Has the oracle asked of the last round, or of what was found.
    fn verify(&mut self) {
        self.phase = Phase::Verifying;
        self.orders.push_back(Output::Verify { round: self.round.number });
    }

    /// The first cap that is reached: the loop's own before those that it shares.
    fn reached(&self) -> Option<Control> {
        self.plan.limits.caps().reached(&self.spent).or_else(|| self.shared.reached(&self.spent))
    }

    fn start(&mut self) {
        self.phase = Phase::Starting;
        self.governor.begin(self.rung);
        let effort = self.efforts[self.rung.index()].clone();
        self.orders.push_back(Output::Spawn { round: self.round.number, effort });
    }

    fn spawned(&mut self, round: u64) -> bool {
        let due = self.phase == Phase::Starting && round == self.round.number;
        if due {
            self.phase = Phase::Working;
            self.round.started = self.now;
            self.round.heard = self.now;
        }
        due
    }

    /// Whether a fact about this round still belongs to a round in progress.
    fn is_open(&self, round: u64) -> bool {
        let open = matches!(self.phase, Phase::Starting | Phase::Working | Phase::Ending { .. });
        open && round == self.round.number
    }

    fn turned(&mut self, turn: &TurnRecord) -> bool {
        if turn.is_nothing() {
            return true;
        }
        self.spent.tokens = self.spent.tokens.plus(turn.all_tokens());
        self.spent.cost = self.spent.cost.plus(turn.cost.unwrap_or_default());
        let open = self.is_open(turn.round);
        self.charge(turn.output, open);
        if !open {
            return false;
        }
        self.round.heard = self.now;
        self.governor.report(turn);
        if turn.counts_as_turn {
            self.round.requests += 1;
            if self.plan.limits.requests.is_some_and(|cap| self.round.requests > cap.get()) && !self.round.overrun {
                self.overrun();
            }
        }
        true
    }

    /// Ends a round that makes too many requests.
    fn overrun(&mut self) {
        self.round.overrun = true;
        self.terminate(Urgency::Gently);
    }

    /// Charges output: at once, or with its round.
    fn charge(&mut self, output: Tokens, open: bool) {
        if self.plan.charge == Charge::AsItLands || !open {
            self.spent.output = self.spent.output.plus(output);
        } else {
            self.round.output = self.round.output.plus(output);
        }
    }

    fn settled(&mut self, round: u64, total: Tokens, known: &[(Arc<str>, Tokens)], trace: &mut impl TraceSink) -> bool {
        if !self.is_open(round) {
            return false;
        }
        let before = self.governor.meter().open_output();
        let settled = self.governor.settle(total, known);
        let added = self.governor.meter().open_output().minus(before).plus(settled.homeless);
        self.charge(added, true);
        self.spent.tokens = self.spent.tokens.plus(added);
        trace.note(self.now, Event::Settled { round, settled });
        true
    }

    fn heard(&mut self, round: u64) -> bool {
        let open = self.is_open(round);
        if open {
            self.round.heard = self.now;
        }
        open
    }

    /// Takes a rung off the ladder, unless it is the last one.
    fn refused(&mut self, round: u64, effort: &Effort, got: Option<&Effort>) -> bool {
        let Some(rung) = self.plan.ladder.find(effort.word()).filter(|_| self.is_open(round)) else { return false };
        let closed = self.governor.close(rung);
        if closed && self.rung == rung {
            let got = got.and_then(|got| self.plan.ladder.find(got.word()));
            self.rung = self.governor.land(got.unwrap_or(rung), rung);
        }
        closed
    }

    fn ended(&mut self, round: u64, exit: RoundExit, trace: &mut impl TraceSink) -> bool {
        if !self.is_open(round) {
            return false;
        }
        let by_hand = matches!(self.asked, Some(Control::Interrupted | Control::KillOn));
        if by_hand {
            self.governor.skip();
        } else {
            self.read(exit, trace);
        }
        if self.spent.output != self.kept.output.unwrap_or_default() {
            self.kept.output = Some(self.spent.output);
        }
        self.kept.tokens = self.spent.tokens;
        self.kept.cost = self.spent.cost;
        self.kept.rows = self.rows;
        self.save(Then::Judge);
        true
    }

    /// Reads the round that ended and moves the rung.
    fn read(&mut self, exit: RoundExit, trace: &mut impl TraceSink) {
        self.spent.output = self.spent.output.plus(self.round.output);
        self.round.output = Tokens::ZERO;
        self.round.unmetered = self.governor.meter().has_unknown();
        let verdict = self.governor.read(self.now, self.spent.output, self.plan.limits.budget);
        trace.note(self.now, Event::Decided { round: self.round.number, verdict: &verdict });
        self.rung = verdict.to;
        self.verdict = Some(verdict);
        self.count(exit);
        self.kept.effort = Some(self.plan.ladder.effort(self.rung).clone());
        self.kept.output = Some(self.spent.output);
        self.kept.law = self.governor.law().save();
    }

    /// Counts rounds in a row of which nothing came.
    fn count(&mut self, exit: RoundExit) {
        let Rows { failures, limited, .. } = self.rows;
        (self.rows.failures, self.rows.limited) = match exit {
            RoundExit::Done => (0, 0),
            // what the backend refuses is no fault of the agent's
            RoundExit::Failed | RoundExit::Cut if self.round.limited => (failures, limited.saturating_add(1)),
            // a round that was cut at a cap while it worked says nothing of whether the agent can
            RoundExit::Cut if self.round.requests > 0 => (failures, limited),
            RoundExit::Failed | RoundExit::Cut => (failures.saturating_add(1), limited),
        };
    }

    /// What follows from a round: a stop, or a rest.
    fn judge(&mut self) {
        if let Some(control) = self.fired() {
            return self.stop(control);
        }
        if self.round.number == 0 {
            return self.begin();
        }
        let rest = self.now.after(self.plan.rest);
        let backoff = self.now.after(doubled(self.plan.backoff, self.rows.failures));
        let limit = self.limit_until.max(self.unknown_limit());
        let waits = [(rest, Waiting::Rest), (backoff, Waiting::Backoff), (limit, Waiting::Limit)];
        let longest = waits.into_iter().reduce(|longest, wait| if wait.0 > longest.0 { wait } else { longest });
        let (until, why) = longest.unwrap_or((rest, Waiting::Rest));
        self.phase = Phase::Resting { until, why };
    }

    /// When to try again where a backend's limit ended the round and does not say until when.
    fn unknown_limit(&self) -> Timestamp {
        if !self.round.limited || self.rows.limited == 0 || self.limit_until > self.now {
            return Timestamp::EPOCH;
        }
        let wait = doubled(self.plan.limit_backoff, self.rows.limited).count();
        let salted = mixed(self.plan.salt.wrapping_add(self.round.number));
        let wait = Millis::new(wait.saturating_add(salted % (wait / 4).saturating_add(1)));
        self.now.after(self.plan.limits.limit_wait.map_or(wait, |most| wait.min(most)))
    }

    /// The control that a finished round fires, in the documented order.
    fn fired(&self) -> Option<Control> {
        let limits = &self.plan.limits;
        let bounded = limits.caps().bounds_spend() || self.shared.bounds_spend();
        let limited = limits.limited.is_some_and(|cap| self.rows.limited >= cap.get()) || self.is_hopeless();
        let failed = limits.agent_failures.is_some_and(|cap| self.rows.failures >= cap.get());
        let same_error = limits.same_error.is_some_and(|cap| self.rows.error.length >= cap.get());
        // the first one seen is what the others are the same as
        let unchanged = limits.no_progress.is_some_and(|cap| self.rows.tree.length > cap.get());
        let fired = [
            (self.round.unmetered && bounded, Control::Unmetered),
            (self.round.overrun, Control::Requests),
            (limited, Control::Limit),
            (failed, Control::AgentFailures),
            (same_error, Control::SameError),
            (unchanged, Control::NoProgress),
        ];
        let fired = fired.into_iter().find_map(|(fired, control)| fired.then_some(control));
        fired.or_else(|| self.reached())
    }

    /// Whether the backend's limit lasts longer than may be waited for.
    fn is_hopeless(&self) -> bool {
        self.plan.limits.limit_wait.is_some_and(|most| self.limit_until.since(self.now) > most)
    }

    fn verified(&mut self, round: u64, answer: Answer) -> bool {
        if self.phase != Phase::Verifying || round != self.round.number {
            return false;
        }
        match answer {
            Answer::Pass => self.stop(Control::OraclePassed),
            Answer::Blocked => self.stop(Control::Blocked),
            Answer::Error => self.stop(Control::OracleError),
            Answer::Fail => self.judge(),
        }
        true
    }

    fn progressed(&mut self, round: u64, tree: Option<Fingerprint>, error: Option<Fingerprint>) -> bool {
        let asked = matches!(self.phase, Phase::Fresh | Phase::Verifying) && round == self.round.number;
        let due = self.is_open(round) || asked;
        // where a run is taken up, what is found is what it left
        if due && !(round == 0 && self.rows.tree.last == tree) {
            self.rows.tree.see(tree);
        }
        if due && round > 0 {
            self.rows.error.see(error);
        }
        due
    }

    fn limited(&mut self, until: Timestamp) -> bool {
        self.limit_until = self.limit_until.max(until);
        self.round.limited |= self.is_open(self.round.number);
        match self.phase {
            Phase::Resting { .. } if self.is_hopeless() => self.stop(Control::Limit),
            Phase::Resting { until, .. } if self.limit_until > until => {
                self.phase = Phase::Resting { until: self.limit_until, why: Waiting::Limit };
            }
            Phase::Stopped(_) => return false,
            Phase::Fresh
            | Phase::Saving { .. }
            | Phase::Starting
            | Phase::Working
            | Phase::Ending { .. }
            | Phase::Verifying
            | Phase::Resting { .. } => {}
        }
        true
    }

    fn share(&mut self, left: Caps) -> bool {
        self.shared = left;
        !matches!(self.phase, Phase::Stopped(_))
    }

    fn requested(&mut self, request: StopRequest) -> bool {
        let control = request.control();
        if matches!(self.phase, Phase::Stopped(_)) {
            return false;
        }
        if request == StopRequest::Requests {
            let open = self.is_open(self.round.number);
            if open {
                self.overrun();
            }
            return open;
        }
        self.asked = Some(control);
        match self.phase {
            Phase::Starting | Phase::Working | Phase::Ending { .. } => match request {
                StopRequest::End | StopRequest::KillOn | StopRequest::Requests => self.terminate(Urgency::Gently),
                StopRequest::Kill => self.terminate(Urgency::Now),
                StopRequest::GiveUp => self.phase = Phase::Stopped(control),
            },
            Phase::Fresh | Phase::Verifying | Phase::Resting { .. } => self.stop(control),
            Phase::Saving { .. } | Phase::Stopped(_) => {}
        }
        true
    }

    fn terminate(&mut self, how: Urgency) {
        let kill_at = (how == Urgency::Gently).then(|| self.now.after(self.plan.grace));
        let already = matches!(self.phase, Phase::Ending { .. }) && how == Urgency::Gently;
        if !already {
            self.phase = Phase::Ending { kill_at };
            self.orders.push_back(Output::Terminate { round: self.round.number, how });
        }
    }

    fn woke(&mut self) -> bool {
        match self.phase {
            Phase::Resting { until, .. } if self.now >= until => self.begin(),
            Phase::Ending { kill_at: Some(kill_at) } if self.now >= kill_at => self.terminate(Urgency::Now),
            Phase::Working if self.deadline().is_some_and(|deadline| self.now >= deadline) => {
                let over = self.plan.limits.wall.is_some_and(|cap| self.spent.wall >= cap);
                if over && self.asked.is_none() {
                    self.asked = Some(Control::Wall);
                }
                self.terminate(Urgency::Gently);
            }
            Phase::Fresh => {}
            Phase::Saving { .. }
            | Phase::Starting
            | Phase::Working
            | Phase::Ending { .. }
            | Phase::Verifying
            | Phase::Resting { .. }
            | Phase::Stopped(_) => return false,
        }
        true
    }
}

/// A pause after so many rounds in a row: none after none, doubled with each up to 64 times.
fn doubled(pause: Millis, rounds: u32) -> Millis {
    match rounds {
        0 => Millis::ZERO,
        rounds => Millis::new(pause.count().saturating_mul(1 << (rounds - 1).min(6))),
    }
}

/// The same bits well mixed: the finaliser of `SplitMix64` (Steele, Lea and Flood 2014).
const fn mixed(bits: u64) -> u64 {
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}
