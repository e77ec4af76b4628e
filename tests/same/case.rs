//! A random case: what the agent is like, what comes of its rounds, what stops the loop; and how it goes in the simulator.

use std::num::{NonZeroU32, NonZeroU64};

use flyball::engine::{
    AnyLaw, Asks, Band, Checkpoint, Control, Governor, Ladder, LawKind, Limits, Machine, MicroUsd, Millis, NoTrace,
    Over, Plan, Ratio, Spent, Target, Tokens,
};
use flyball::sim::{
    AgentModel, AgentSpec, Fate, Fortune, Left, LimitSpec, Made, OutcomeModel, OutcomeSpec, Outcomes, Span, Usage,
    World,
};

pub(crate) const WORDS: [&str; 3] = ["high", "medium", "low"];

/// Rounds that luck is drawn for; every case is capped below it.
pub(crate) const ROUNDS: u32 = 40;

/// A case.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) number: u32,
    pub(crate) agent: AgentModel,
    pub(crate) outcome: OutcomeModel,
    /// The round in which somebody asks for a stop, from 0.
    pub(crate) interrupted: Option<u32>,
    pub(crate) usage: Usage,
    pub(crate) plan: Plan,
    law: LawKind,
    over: Millis,
    slack: Ratio,
}

/// What came of a case.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Came {
    pub(crate) control: Control,
    pub(crate) spent: Spent,
    pub(crate) kept: Checkpoint,
    /// Each round's effort, turns and output.
    pub(crate) rounds: Vec<(String, u64, u64)>,
}

/// Random numbers of one case, one after the other: `SplitMix64`.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let bits = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    fn real(&mut self, least: f64, most: f64) -> f64 {
        let part = u32::try_from(self.next() >> 32).unwrap();
        least + f64::from(part) / f64::from(u32::MAX) * (most - least)
    }

    fn count(&mut self, least: u64, most: u64) -> u64 {
        least + self.next() % (most - least + 1)
    }

    fn happens(&mut self, chance: f64) -> bool {
        self.real(0.0, 1.0) < chance
    }

    /// A chance, or none.
    fn chance(&mut self, often: f64, most: f64) -> f64 {
        if self.happens(often) { self.real(0.02, most) } else { 0.0 }
    }

    /// A bound, or none.
    fn maybe(&mut self, often: f64, least: u64, most: u64) -> Option<u64> {
        let bound = self.count(least, most);
        self.happens(often).then_some(bound)
    }

    fn seconds(&mut self, least: u64, most: u64) -> Millis {
        Millis::new(self.count(least * 1000, most * 1000))
    }
}

impl Case {
    /// A case for real processes, whose time cannot be told beforehand: nothing that stops it hangs on time.
    #[cfg(all(unix, feature = "cli"))]
    pub(crate) fn untimed(number: u32) -> Self {
        let mut case = Self::new(10_000 + number);
        let mut dice = Dice(u64::from(number));
        let mut spec = case.outcome.spec().clone();
        (spec.same_error, case.interrupted) = (None, None);
        if let Some(limit) = &mut spec.limit {
            (limit.told, limit.lasts) = (0.0, Span { mean: 0.0, cv: 0.0 });
        }
        case.outcome = OutcomeModel::new(spec, WORDS.len()).unwrap();
        case.usage = Usage { input_price: 1_000_000, output_price: 15_000_000, ..case.usage };
        case.law = if dice.happens(0.7) { LawKind::Reference } else { LawKind::Fixed };
        case.over = Millis::from_secs(30 * 24 * 3600);
        (case.plan.rest, case.plan.backoff, case.plan.limit_backoff) =
            (Millis::from_secs(1), Millis::ZERO, Millis::ZERO);
        if case.plan.verify == Asks::After {
            case.plan.verify = Asks::BeforeToo;
        }
        let limits = &mut case.plan.limits;
        limits.rounds = limits.rounds.min(NonZeroU64::new(12));
        (limits.wall, limits.round_wall, limits.inactivity) = (None, None, None);
        (limits.limit_wait, limits.same_error) = (None, None);
        case
    }

    /// The law's name, its window and its slack, as flags take them.
    #[cfg(all(unix, feature = "cli"))]
    pub(crate) fn governor(&self) -> [String; 3] {
        [self.law.name().to_owned(), format!("{}s", self.over.count() / 1000), format!("{}e-6", self.slack.ppm())]
    }

    pub(crate) fn new(number: u32) -> Self {
        let mut dice = Dice(u64::from(number));
        let usage = usage(&mut dice);
        let ladder = Ladder::new(WORDS).unwrap();
        let mut plan = Plan::new(ladder, WORDS[usize::try_from(dice.count(0, 2)).unwrap()]);
        (plan.rest, plan.backoff) = (dice.seconds(0, 20), dice.seconds(0, 30));
        (plan.limit_backoff, plan.salt) = (dice.seconds(1, 90), dice.next());
        plan.verify = [Asks::Never, Asks::After, Asks::BeforeToo][usize::try_from(dice.count(0, 2)).unwrap()];
        plan.limits = limits(&mut dice);
        let interrupted = dice.maybe(0.08, 0, 8).map(|round| u32::try_from(round).unwrap());
        Self {
            number,
            agent: agent(&mut dice),
            outcome: outcome(&mut dice, usage.output_price > 0),
            interrupted,
            usage,
            plan,
            law: LawKind::ALL[usize::try_from(dice.count(0, 10)).unwrap()],
            over: dice.seconds(10, 900),
            slack: Ratio::from_ppm(u32::try_from(dice.count(0, 400_000)).unwrap()),
        }
    }

    /// The agent's lines are of a program that says what each answer cost; the other one says until when a limit lasts.
    pub(crate) fn is_priced(&self) -> bool {
        self.usage.output_price > 0
    }

    pub(crate) fn machine(&self) -> Machine<AnyLaw> {
        let band = Band::new(Target::from_tokens(600), self.slack).unwrap();
        let rungs = self.plan.ladder.rungs();
        let governor = Governor::new(self.law.build(), band, Over::new(self.over), rungs);
        Machine::new(self.plan.clone(), governor, Checkpoint::default())
    }

    pub(crate) fn script(&self) -> Script<'_> {
        Script { fortune: self.outcome.fortune(77, self.number), interrupted: self.interrupted }
    }

    pub(crate) fn in_the_world(&self) -> Came {
        self.played().0
    }

    /// What comes of it in the simulator, and what each round leaves behind.
    pub(crate) fn played(&self) -> (Came, Vec<Left>) {
        let mut machine = self.machine();
        let mut luck = self.agent.luck(77, self.number, ROUNDS);
        let (mut script, mut rounds, mut lefts) = (self.script(), Vec::new(), Vec::new());
        let mut world = World::new(&mut luck, self.agent.spec().accounting).with(Some(&mut script), self.usage);
        let control = world.run(&mut machine, &mut NoTrace, |facts| {
            let turns = u64::try_from(facts.draw.tokens.len()).unwrap();
            lefts.extend(facts.left);
            rounds.push((WORDS[facts.verdict.from.index()].to_owned(), turns, facts.draw.total()));
        });
        (Came { control, spent: machine.spent(), kept: machine.checkpoint().clone(), rounds }, lefts)
    }
}

/// What comes of rounds by chance, and a stop that somebody asks for.
#[derive(Debug)]
pub(crate) struct Script<'c> {
    fortune: Fortune<'c>,
    interrupted: Option<u32>,
}

impl Outcomes for Script<'_> {
    fn found(&self) -> Option<flyball::engine::Fingerprint> {
        self.fortune.found()
    }

    fn fate(&mut self, round: u32, turns: usize) -> Fate {
        let fate = self.fortune.fate(round, turns);
        Fate { interrupted: self.interrupted == Some(round), ..fate }
    }

    fn left(&mut self, made: &Made) -> Left {
        self.fortune.left(made)
    }
}

fn usage(dice: &mut Dice) -> Usage {
    let input = Tokens::new(dice.count(1, 5_000));
    let priced = dice.happens(0.4);
    let mut price = |most| if priced { dice.count(1, most) * 10_000 } else { 0 };
    Usage { input, input_price: price(100), output_price: price(3_000) }
}

fn agent(dice: &mut Dice) -> AgentModel {
    let mut spec = AgentSpec::geometric(dice.real(100.0, 800.0), dice.real(1.1, 2.5), WORDS.len()).unwrap();
    (spec.turns.mean, spec.turns.cv, spec.turns.min) = (dice.real(1.0, 9.0), dice.real(0.0, 1.0), 1);
    spec.time.overhead = Span { mean: dice.real(0.1, 20.0), cv: dice.real(0.0, 1.5) };
    AgentModel::new(spec).unwrap()
}

fn outcome(dice: &mut Dice, priced: bool) -> OutcomeModel {
    let lasts = Span { mean: dice.real(0.1, 600.0), cv: dice.real(0.0, 1.0) };
    // the program that says what an answer cost does not say until when a limit lasts
    let told = if priced { 0.0 } else { dice.real(0.0, 1.0) };
    let limit = LimitSpec { chance: dice.chance(0.35, 0.7), lasts, told };
    let spec = OutcomeSpec {
        failed: dice.chance(0.5, 0.8),
        early: dice.real(0.0, 1.0),
        limit: Some(limit),
        unchanged: dice.chance(0.5, 0.95),
        same_error: dice.happens(0.4).then(|| dice.real(0.0, 0.95)),
        done: dice.chance(0.3, 0.3),
        finish: if dice.happens(0.3) { vec![dice.real(5e3, 1e5); WORDS.len()] } else { Vec::new() },
        hopeless: dice.chance(0.2, 0.5),
        blocked: dice.chance(0.2, 0.2),
        oracle_error: dice.chance(0.2, 0.2),
        kill_on: dice.chance(0.15, 0.3),
    };
    OutcomeModel::new(spec, WORDS.len()).unwrap()
}

fn limits(dice: &mut Dice) -> Limits {
    let few = |bound: Option<u64>| bound.and_then(|bound| NonZeroU32::new(u32::try_from(bound).unwrap()));
    Limits {
        rounds: NonZeroU64::new(dice.count(1, 30)),
        budget: dice.maybe(0.25, 100, 60_000).map(Tokens::new),
        tokens: dice.maybe(0.2, 100, 300_000).map(Tokens::new),
        cost: dice.maybe(0.4, 10, 400_000).map(MicroUsd::new),
        wall: dice.maybe(0.25, 1_000, 3_000_000).map(Millis::new),
        round_wall: dice.maybe(0.2, 1_000, 200_000).map(Millis::new),
        inactivity: dice.maybe(0.2, 1_000, 60_000).map(Millis::new),
        requests: dice.maybe(0.3, 1, 8).and_then(NonZeroU64::new),
        agent_failures: few(dice.maybe(0.4, 1, 4)),
        no_progress: few(dice.maybe(0.4, 1, 5)),
        same_error: few(dice.maybe(0.4, 1, 5)),
        limit_wait: dice.maybe(0.4, 100, 900_000).map(Millis::new),
        limited: few(dice.maybe(0.4, 1, 5)),
    }
}
