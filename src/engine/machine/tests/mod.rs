//! The machine, fact by fact.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::num::{NonZeroU32, NonZeroU64};

use super::*;
use crate::engine::{
    Band, Checkpoint, Control, Fingerprint, Governor, Grade, Ladder, LawKind, Limits, MicroUsd, Millis, NoTrace, Over,
    Ratio, Target, Timestamp, Tokens, TurnRecord,
};

mod controls;

type Loop = Machine<crate::engine::AnyLaw>;

struct Host {
    machine: Loop,
    now: u64,
    log: Vec<String>,
}

fn plan() -> Plan {
    Plan::new(Ladder::new(["max", "high", "low"]).unwrap(), "high")
}

fn host(plan: Plan, kept: Checkpoint) -> Host {
    let band = Band::new(Target::from_tokens(100), Ratio::from_ppm(100_000)).unwrap();
    let governor =
        Governor::new(LawKind::Reference.build(), band, Over::new(Millis::from_secs(300)), plan.ladder.rungs());
    Host { machine: Machine::new(plan, governor, kept), now: 0, log: Vec::new() }
}

fn limited(limits: Limits) -> Host {
    host(Plan { limits, ..plan() }, Checkpoint::default())
}

impl Host {
    fn tell(&mut self, input: Input) -> &mut Self {
        self.machine.handle(Timestamp::from_millis(self.now), input, &mut NoTrace);
        self
    }

    /// Drains the orders; what ends the drain is the last of them.
    fn drain(&mut self) -> Vec<Output> {
        let mut orders = Vec::new();
        loop {
            let order = self.machine.poll(&mut NoTrace);
            let last = matches!(order, Output::Wait { .. } | Output::Stop(_));
            orders.push(order);
            if last {
                return orders;
            }
        }
    }

    /// Answers orders to persist, and gives what follows them.
    fn persist(&mut self) -> Vec<Output> {
        loop {
            let orders = self.drain();
            let Output::Persist { seq, .. } = orders[0] else { return orders };
            assert_eq!(orders[1..], [Output::Wait { until: None, why: Waiting::Disk }], "nothing before the write");
            self.tell(Input::Persisted { seq });
        }
    }

    /// Runs to the point where the agent of the next round works.
    fn start(&mut self) -> u64 {
        let mut orders = self.persist();
        if let Output::Wait { until: Some(until), why: Waiting::Rest | Waiting::Backoff | Waiting::Limit } = orders[0] {
            self.now = until.millis();
            self.tell(Input::Woke);
            orders = self.persist();
        }
        let Output::Spawn { round, effort } = &orders[0] else { panic!("{orders:?}") };
        self.log.push(effort.word().into());
        let round = *round;
        self.tell(Input::Spawned { round });
        round
    }

    fn turn(&mut self, round: u64, output: u64) -> &mut Self {
        let turn = TurnRecord::new(round, Timestamp::from_millis(self.now), Tokens::new(output), "test");
        self.tell(Input::Turned { turn })
    }

    /// Ends the round and gives what follows the write.
    fn end(&mut self, round: u64, exit: RoundExit) -> Vec<Output> {
        self.tell(Input::Ended { round, exit });
        self.persist()
    }

    /// One whole round of one turn.
    fn round(&mut self, output: u64, exit: RoundExit) -> Output {
        let round = self.start();
        self.now += 1000;
        self.turn(round, output);
        self.end(round, exit).pop().unwrap()
    }

    fn kept(&self) -> (u64, Option<u64>, Option<&str>) {
        let kept = self.machine.checkpoint();
        (kept.rounds, kept.output.map(Tokens::count), kept.effort.as_ref().map(crate::engine::Effort::word))
    }
}

fn rest(until: u64) -> Output {
    Output::Wait { until: Some(Timestamp::from_millis(until)), why: Waiting::Rest }
}

#[test]
fn an_attempt_is_durable_before_its_agent_starts() {
    let mut host = host(plan(), Checkpoint::default());
    let orders = host.drain();
    let Output::Persist { seq, checkpoint } = &orders[0] else { panic!() };
    assert_eq!((checkpoint.rounds, &checkpoint.output, &checkpoint.effort), (1, &None, &None));
    host.tell(Input::Persisted { seq: seq + 1 });
    assert_eq!(host.drain(), [Output::Wait { until: None, why: Waiting::Disk }], "another number is no answer");
    host.tell(Input::Persisted { seq: *seq });
    assert!(matches!(&host.drain()[0], Output::Spawn { round: 1, effort } if effort.word() == "high"));
}

#[test]
fn rounds_move_one_rung_and_keep_the_word() {
    let mut host = host(plan(), Checkpoint::default());
    assert_eq!(host.round(50, RoundExit::Done), rest(6000));
    assert_eq!(host.kept(), (1, Some(50), Some("max")));
    assert_eq!(host.round(1000, RoundExit::Done), rest(12_000));
    host.round(1000, RoundExit::Done);
    host.round(1000, RoundExit::Done);
    assert_eq!(host.log, ["high", "max", "high", "low"]);
    assert_eq!(host.kept(), (4, Some(3050), Some("low")));
}

#[test]
fn a_kept_word_and_a_width_prefix_are_honoured() {
    let kept = Checkpoint { rounds: 7, effort: Some(crate::engine::Effort::new("low")), ..Checkpoint::default() };
    let mut host = host(Plan { configured: "swarmhigh".into(), ..plan() }, kept);
    let round = host.start();
    assert_eq!((round, host.log[0].as_str()), (8, "swarmlow"));
    host.now = 1;
    host.turn(8, 1).end(8, RoundExit::Done);
    assert_eq!(host.kept().2, Some("high"), "stored without the prefix");
}

#[test]
fn a_spent_budget_stops_before_a_round_and_clears_what_is_kept() {
    let kept = Checkpoint { rounds: 3, output: Some(Tokens::new(10)), ..Checkpoint::default() };
    let limits = Limits { budget: Some(Tokens::new(10)), ..Limits::default() };
    let mut fresh = host(Plan { limits, ..plan() }, kept.clone());
    assert_eq!(fresh.persist(), [Output::Stop(Control::Budget)]);
    assert!(fresh.machine.checkpoint().is_clean());
    let mut original = host(Plan { limits, budget_order: BudgetOrder::AfterARound, ..plan() }, kept);
    assert_eq!(original.start(), 4, "the original runs one more");
    assert_eq!(original.turn(4, 5).end(4, RoundExit::Done), [Output::Stop(Control::Budget)]);
}

#[test]
fn a_budget_reached_in_a_round_stops_after_it_without_a_rest() {
    let mut host = limited(Limits { budget: Some(Tokens::new(100)), rounds: NonZeroU64::new(1), ..Limits::default() });
    let round = host.start();
    host.turn(round, 99).turn(round, 1);
    assert_eq!(host.end(round, RoundExit::Done), [Output::Stop(Control::Budget)]);
    assert!(host.machine.checkpoint().is_clean(), "cleared, and durable before the stop");
    host.tell(Input::Woke).turn(round, 5);
    assert_eq!(host.drain(), [Output::Stop(Control::Budget)], "for ever");
    assert_eq!(host.machine.spent().output, Tokens::new(105), "and what lands late is charged");
}

#[test]
fn an_interrupted_round_is_charged_and_not_read() {
    for (charge, output) in [(Charge::AsItLands, 60), (Charge::AtRoundEnd, 50)] {
        let mut host = host(Plan { charge, ..plan() }, Checkpoint::default());
        host.round(50, RoundExit::Done);
        let round = host.start();
        host.turn(round, 10).tell(Input::Asked(StopRequest::End));
        let gently = Output::Terminate { round, how: Urgency::Gently };
        assert_eq!(host.drain()[0], gently);
        assert_eq!(host.end(round, RoundExit::Cut), [Output::Stop(Control::Interrupted)]);
        assert_eq!(host.kept(), (2, Some(output), Some("max")), "{charge:?}: the rung of the round before");
    }
}

#[test]
fn a_second_request_kills_and_a_third_gives_up() {
    let mut host = host(plan(), Checkpoint::default());
    let round = host.start();
    host.tell(Input::Asked(StopRequest::End)).drain();
    let waits = host.drain();
    assert_eq!(waits, [Output::Wait { until: Some(Timestamp::from_millis(10_000)), why: Waiting::End }]);
    host.tell(Input::Asked(StopRequest::Kill));
    assert_eq!(host.drain()[0], Output::Terminate { round, how: Urgency::Now });
    host.tell(Input::Asked(StopRequest::GiveUp));
    assert_eq!(host.drain(), [Output::Stop(Control::Interrupted)]);
}

#[test]
fn a_stop_while_resting_or_saving_starts_nothing() {
    let mut resting = host(plan(), Checkpoint::default());
    let round = resting.start();
    resting.end(round, RoundExit::Done);
    resting.tell(Input::Asked(StopRequest::End));
    assert_eq!(resting.drain(), [Output::Stop(Control::Interrupted)]);
    let mut saving = host(plan(), Checkpoint::default());
    saving.drain();
    saving.tell(Input::Asked(StopRequest::End)).tell(Input::Persisted { seq: 1 });
    assert_eq!(saving.drain(), [Output::Stop(Control::Interrupted)]);
}

#[test]
fn a_gentle_end_turns_into_a_kill_when_grace_is_over() {
    let mut host = limited(Limits { round_wall: Some(Millis::from_secs(60)), ..Limits::default() });
    let round = host.start();
    assert_eq!(host.drain(), [Output::Wait { until: Some(Timestamp::from_millis(60_000)), why: Waiting::Turns }]);
    host.now = 59_999;
    host.tell(Input::Woke);
    assert!(matches!(host.drain()[0], Output::Wait { .. }), "too early");
    host.now = 60_000;
    host.tell(Input::Woke);
    assert_eq!(host.drain()[0], Output::Terminate { round, how: Urgency::Gently });
    host.now = 70_000;
    host.tell(Input::Woke);
    assert_eq!(host.drain()[0], Output::Terminate { round, how: Urgency::Now });
    host.turn(round, 1000);
    assert_eq!(host.end(round, RoundExit::Cut), [rest(75_000)], "the loop goes on");
    assert_eq!(host.kept(), (1, Some(1000), Some("low")), "and the round was read");
}

#[test]
fn silence_ends_a_round_and_a_report_breaks_it() {
    let mut host = limited(Limits { inactivity: Some(Millis::from_secs(10)), ..Limits::default() });
    let round = host.start();
    host.now = 8000;
    host.turn(round, 1);
    assert_eq!(host.drain(), [Output::Wait { until: Some(Timestamp::from_millis(18_000)), why: Waiting::Turns }]);
}

#[test]
fn the_wall_ends_the_round_and_the_loop() {
    let mut host = limited(Limits { wall: Some(Millis::from_secs(10)), ..Limits::default() });
    let round = host.start();
    host.now = 10_000;
    host.tell(Input::Woke).drain();
    assert_eq!(host.end(round, RoundExit::Cut), [Output::Stop(Control::Wall)]);
    assert_eq!(host.kept().2, Some("high"), "it was read: nothing to go on");
}

#[test]
fn too_many_requests_end_the_round_and_the_loop() {
    let mut host = limited(Limits { requests: NonZeroU64::new(2), ..Limits::default() });
    let round = host.start();
    host.turn(round, 1).turn(round, 1);
    assert!(matches!(host.drain()[0], Output::Wait { .. }));
    host.turn(round, 1).turn(round, 1);
    assert_eq!(host.drain()[0], Output::Terminate { round, how: Urgency::Gently });
    assert_eq!(host.end(round, RoundExit::Cut), [Output::Stop(Control::Requests)]);
}

#[test]
fn failures_back_off_and_then_stop() {
    let limits = Limits { agent_failures: NonZeroU32::new(3), ..Limits::default() };
    let mut host = host(Plan { limits, backoff: Millis::from_secs(10), ..plan() }, Checkpoint::default());
    let backoff = |until| Output::Wait { until: Some(Timestamp::from_millis(until)), why: Waiting::Backoff };
    assert_eq!(host.round(100, RoundExit::Failed), backoff(11_000));
    assert_eq!(host.round(100, RoundExit::Done), rest(17_000));
    assert_eq!(host.round(100, RoundExit::Failed), backoff(28_000));
    assert_eq!(host.round(100, RoundExit::Failed), backoff(49_000));
    assert_eq!(host.round(100, RoundExit::Failed), Output::Stop(Control::AgentFailures));
}

#[test]
fn a_backend_limit_stretches_the_rest() {
    let mut host = host(plan(), Checkpoint::default());
    let round = host.start();
    host.tell(Input::LimitUntil { until: Timestamp::from_millis(60_000) });
    let limit = |until| Output::Wait { until: Some(Timestamp::from_millis(until)), why: Waiting::Limit };
    assert_eq!(host.end(round, RoundExit::Done), [limit(60_000)]);
    host.tell(Input::LimitUntil { until: Timestamp::from_millis(90_000) });
    assert_eq!(host.drain(), [limit(90_000)]);
}

#[test]
fn the_oracle_comes_before_the_caps() {
    let answers = [
        (Answer::Pass, Control::OraclePassed),
        (Answer::Blocked, Control::Blocked),
        (Answer::Error, Control::OracleError),
        (Answer::Fail, Control::Rounds),
    ];
    for (answer, control) in answers {
        let limits = Limits { rounds: NonZeroU64::new(1), ..Limits::default() };
        let mut host = host(Plan { limits, verify: Asks::After, ..plan() }, Checkpoint::default());
        let round = host.start();
        assert_eq!(host.end(round, RoundExit::Done)[0], Output::Verify { round });
        host.tell(Input::Verified { round, answer });
        assert_eq!(host.drain(), [Output::Stop(control)]);
    }
}

#[test]
fn spend_that_nobody_counts_stops_a_bounded_loop() {
    for (budget, stopped) in [(Some(Tokens::new(1000)), true), (None, false)] {
        let mut host = limited(Limits { budget, ..Limits::default() });
        let round = host.start();
        let turn =
            TurnRecord { grade: Grade::Unknown, ..TurnRecord::new(round, Timestamp::EPOCH, Tokens::ZERO, "test") };
        host.tell(Input::Turned { turn });
        let stop = [Output::Stop(Control::Unmetered)];
        assert_eq!(host.end(round, RoundExit::Done) == stop, stopped);
    }
}

#[test]
fn a_closing_total_is_charged_and_read_once() {
    let mut host = limited(Limits { budget: Some(Tokens::new(1000)), ..Limits::default() });
    let round = host.start();
    host.turn(round, 30).turn(round, 10);
    host.tell(Input::Settled { round, total: Tokens::new(220), turns: vec![] });
    assert_eq!(host.end(round, RoundExit::Done), [rest(5000)]);
    assert_eq!(host.kept(), (1, Some(220), Some("high")), "220 over two turns is within the band");
    host.tell(Input::Settled { round, total: Tokens::new(999), turns: vec![] });
    assert_eq!(host.machine.spent().output, Tokens::new(220), "once");
}

#[test]
fn rows_of_nothing_and_of_one_error_stop() {
    let print = |byte| Some(Fingerprint([byte; 32]));
    let limits = Limits { no_progress: NonZeroU32::new(2), same_error: NonZeroU32::new(2), ..Limits::default() };
    let run = |prints: &[(Option<Fingerprint>, Option<Fingerprint>)]| {
        let mut host = limited(limits);
        for &(tree, error) in prints {
            let round = host.start();
            host.tell(Input::Progress { round, tree, error });
            if let Some(Output::Stop(control)) = host.end(round, RoundExit::Done).pop() {
                return Some(control);
            }
        }
        None
    };
    assert_eq!(run(&[(print(1), None), (print(1), None), (print(1), None)]), Some(Control::NoProgress));
    assert_eq!(run(&[(print(1), None), (print(1), None), (print(2), None), (print(2), None)]), None);
    assert_eq!(run(&[(None, print(1)), (None, print(1))]), Some(Control::SameError));
    assert_eq!(run(&[(None, print(1)), (None, None), (None, print(1))]), None);
}

#[test]
fn tokens_and_cost_have_caps_of_their_own() {
    let turn = |round| TurnRecord {
        input: Some(Tokens::new(50)),
        cost: Some(MicroUsd::new(7)),
        ..TurnRecord::new(round, Timestamp::EPOCH, Tokens::new(50), "test")
    };
    let cases = [
        (Limits { tokens: Some(Tokens::new(100)), ..Limits::default() }, Control::Tokens),
        (Limits { cost: Some(MicroUsd::new(7)), ..Limits::default() }, Control::Cost),
    ];
    for (limits, control) in cases {
        let mut host = limited(limits);
        let round = host.start();
        host.tell(Input::Turned { turn: turn(round) });
        assert_eq!(host.end(round, RoundExit::Done), [Output::Stop(control)]);
    }
}

#[test]
fn late_and_repeated_facts_are_absorbed_and_charged() {
    let mut host = host(plan(), Checkpoint::default());
    let round = host.start();
    host.turn(round, 100).end(round, RoundExit::Done);
    let mut absorbed = 0;
    let mut sink = |_: Timestamp, event: crate::engine::Event<'_>| {
        absorbed += usize::from(matches!(event, crate::engine::Event::Absorbed));
    };
    let late = TurnRecord::new(round, Timestamp::EPOCH, Tokens::new(7), "test");
    for input in [
        Input::Turned { turn: late },
        Input::Ended { round, exit: RoundExit::Done },
        Input::Spawned { round },
        Input::Persisted { seq: 1 },
        Input::Verified { round, answer: Answer::Pass },
        Input::Woke,
    ] {
        host.machine.handle(Timestamp::EPOCH, input, &mut sink);
    }
    assert_eq!(absorbed, 6);
    assert_eq!(host.machine.spent().output, Tokens::new(107));
    assert_eq!(host.drain(), [rest(5000)], "time does not run backwards, and the rest goes on");
}

#[test]
fn a_sign_of_life_puts_off_the_end_of_patience_and_costs_nothing() {
    let mut host = limited(Limits { inactivity: Some(Millis::from_secs(60)), ..Limits::default() });
    let round = host.start();
    host.now = 59_000;
    host.tell(Input::Heard { round });
    let until = Some(Timestamp::from_millis(119_000));
    assert_eq!(host.drain(), [Output::Wait { until, why: Waiting::Turns }]);
    host.tell(Input::Heard { round: round + 1 });
    assert_eq!(host.drain(), [Output::Wait { until, why: Waiting::Turns }], "another round's is absorbed");
    host.now = 119_000;
    host.tell(Input::Woke);
    assert!(matches!(host.drain()[0], Output::Terminate { how: Urgency::Gently, .. }));
    assert_eq!(host.machine.spent().output, Tokens::ZERO);
}

#[test]
fn an_effort_that_did_not_take_hold_leaves_the_ladder() {
    let effort = |word| crate::engine::Effort::new(word);
    let mut host = host(plan(), Checkpoint::default());
    assert_eq!(host.round(50, RoundExit::Done), rest(6000));
    let round = host.start();
    host.tell(Input::Refused { round, effort: effort("max"), got: Some(effort("high")) });
    host.turn(round, 50);
    host.end(round, RoundExit::Done);
    assert_eq!(host.kept().2, Some("high"), "harder asks for a rung that is gone");
    host.round(50, RoundExit::Done);
    host.round(5_000, RoundExit::Done);
    assert_eq!(host.log, ["high", "max", "high", "high"]);
    assert_eq!(host.kept().2, Some("low"));
    let round = host.start();
    for word in ["low", "high", "nonsense"] {
        host.tell(Input::Refused { round, effort: effort(word), got: None });
    }
    host.turn(round, 50);
    host.end(round, RoundExit::Done);
    assert_eq!(host.kept().2, Some("high"), "the last one stays");
}

#[test]
fn a_round_that_is_cut_while_it_works_is_no_failure_and_no_success() {
    let limits = Limits { agent_failures: NonZeroU32::new(2), ..Limits::default() };
    let mut host = limited(limits);
    assert!(matches!(host.round(100, RoundExit::Failed), Output::Wait { .. }));
    for _ in 0..3 {
        assert!(matches!(host.round(100, RoundExit::Cut), Output::Wait { .. }));
    }
    assert_eq!(host.round(100, RoundExit::Failed), Output::Stop(Control::AgentFailures));
    let mut silent = limited(limits);
    let round = silent.start();
    silent.end(round, RoundExit::Cut);
    let round = silent.start();
    assert_eq!(silent.end(round, RoundExit::Cut).pop(), Some(Output::Stop(Control::AgentFailures)), "nothing landed");
}

#[test]
fn too_many_requests_end_the_round_and_stop_the_loop_by_name() {
    let mut host = limited(Limits::default());
    let round = host.start();
    host.tell(Input::Asked(StopRequest::Requests));
    assert!(matches!(host.drain()[0], Output::Terminate { how: Urgency::Gently, .. }));
    host.tell(Input::Ended { round, exit: RoundExit::Cut });
    assert_eq!(host.persist().pop(), Some(Output::Stop(Control::Requests)));
}

#[test]
fn a_report_of_cost_alone_is_charged_and_is_no_turn() {
    let mut host = limited(Limits { cost: Some(MicroUsd::new(10)), ..Limits::default() });
    let round = host.start();
    let none = TurnRecord::new(round, Timestamp::from_millis(0), Tokens::ZERO, "test");
    host.tell(Input::Turned { turn: TurnRecord { cost: Some(MicroUsd::new(10)), counts_as_turn: false, ..none } });
    host.turn(round, 100);
    assert_eq!(host.end(round, RoundExit::Done).pop(), Some(Output::Stop(Control::Cost)));
    assert_eq!(host.machine.verdict().unwrap().decision.evidence.mean.unwrap().turns(), 1);
}
