//! Controls in the order in which they fire, and what they remember.

use super::*;
use crate::engine::{Caps, Rows, Streak};

/// A limit of everything at once, all reached by one round.
fn everything() -> Limits {
    Limits {
        rounds: NonZeroU64::new(1),
        budget: Some(Tokens::new(10)),
        tokens: Some(Tokens::new(10)),
        cost: Some(MicroUsd::new(1)),
        wall: Some(Millis::new(5)),
        requests: NonZeroU64::new(1),
        agent_failures: NonZeroU32::new(1),
        no_progress: NonZeroU32::new(1),
        same_error: NonZeroU32::new(1),
        limit_wait: Some(Millis::new(1)),
        limited: NonZeroU32::new(1),
        ..Limits::default()
    }
}

/// What a round that fires everything but `without` is stopped by. Each is silenced by leaving out what fires it.
fn fired(without: &[Control]) -> Control {
    let fires = |control| !without.contains(&control);
    let mut limits = everything();
    for control in without {
        match control {
            Control::Rounds => limits.rounds = None,
            // what is bounded at all must be counted
            Control::Budget => limits.budget = Some(Tokens::new(1_000)),
            Control::Tokens => limits.tokens = None,
            Control::Cost => limits.cost = None,
            Control::Wall => limits.wall = None,
            Control::Requests => limits.requests = None,
            Control::AgentFailures => limits.agent_failures = None,
            Control::NoProgress => limits.no_progress = None,
            Control::SameError => limits.same_error = None,
            Control::Limit => (limits.limit_wait, limits.limited) = (None, None),
            Control::KillOn
            | Control::Unmetered
            | Control::OraclePassed
            | Control::OracleError
            | Control::Blocked
            | Control::Interrupted => {}
        }
    }
    let answer = [
        (Control::OraclePassed, Answer::Pass),
        (Control::Blocked, Answer::Blocked),
        (Control::OracleError, Answer::Error),
    ];
    let answer = answer.into_iter().find(|(control, _)| fires(*control)).map_or(Answer::Fail, |(_, answer)| answer);
    let mut host = host(Plan { limits, verify: Asks::After, ..plan() }, Checkpoint::default());
    host.tell(Input::Progress { round: 0, tree: Some(Fingerprint([1; 32])), error: None });
    let round = host.start();
    let grade = if fires(Control::Unmetered) { Grade::Unknown } else { Grade::Known };
    let turn = TurnRecord {
        grade,
        cost: Some(MicroUsd::new(9)),
        ..TurnRecord::new(round, Timestamp::EPOCH, Tokens::new(20), "test")
    };
    host.tell(Input::Turned { turn: turn.clone() }).tell(Input::Turned { turn });
    if fires(Control::Limit) {
        host.tell(Input::LimitUntil { until: Timestamp::from_millis(1_000_000) });
    }
    // the wall is reached between the round and its judgement, so that it does not end the round by itself
    let print = Some(Fingerprint([1; 32]));
    host.tell(Input::Progress { round, tree: print, error: print });
    if fires(Control::Interrupted) {
        host.tell(Input::Asked(StopRequest::End));
    } else if fires(Control::KillOn) {
        host.tell(Input::Asked(StopRequest::KillOn));
    }
    host.drain();
    // a round that a limit ended counts as limited and one that failed as failed: the two exclude each other
    host.tell(Input::Ended { round, exit: RoundExit::Failed });
    host.now = 6;
    let last = host.persist();
    if last.contains(&Output::Verify { round }) {
        host.tell(Input::Verified { round, answer });
    }
    match host.persist().pop() {
        Some(Output::Stop(control)) => control,
        other => panic!("{without:?}: {other:?}"),
    }
}

#[test]
fn controls_that_fire_in_one_round_are_named_in_the_documented_order() {
    let order = [
        Control::Interrupted,
        Control::KillOn,
        Control::OraclePassed,
        Control::Blocked,
        Control::OracleError,
        Control::Unmetered,
        Control::Requests,
        Control::Limit,
        Control::AgentFailures,
        Control::SameError,
        Control::NoProgress,
        Control::Budget,
        Control::Tokens,
        Control::Cost,
        Control::Wall,
        Control::Rounds,
    ];
    assert_eq!(order.len(), Control::ALL.len());
    for (first, &expected) in order.iter().enumerate() {
        assert_eq!(fired(&order[..first]), expected);
        // and every pair of two
        for (second, &later) in order.iter().enumerate().skip(first + 1) {
            let others: Vec<Control> =
                order.iter().copied().filter(|control| ![expected, later].contains(control)).collect();
            assert_eq!(fired(&others), expected, "{expected} before {later} ({first}, {second})");
        }
    }
}

#[test]
fn what_is_done_already_costs_nothing() {
    let early = || host(Plan { verify: Asks::BeforeToo, ..plan() }, Checkpoint::default());
    let mut done = early();
    assert_eq!(done.persist()[0], Output::Verify { round: 0 });
    done.tell(Input::Verified { round: 0, answer: Answer::Pass });
    assert_eq!(done.drain(), [Output::Stop(Control::OraclePassed)]);
    assert_eq!(done.machine.spent().rounds, 0);
    let mut not_yet = early();
    not_yet.persist();
    not_yet.tell(Input::Verified { round: 0, answer: Answer::Fail });
    assert_eq!(not_yet.start(), 1, "no rest before the first round");
}

#[test]
fn a_cap_that_is_reached_comes_before_the_first_question() {
    let kept = Checkpoint { rounds: 4, tokens: Tokens::new(9), ..Checkpoint::default() };
    let limits = Limits { tokens: Some(Tokens::new(9)), ..Limits::default() };
    let mut spent = host(Plan { limits, verify: Asks::BeforeToo, ..plan() }, kept.clone());
    assert_eq!(spent.persist(), [Output::Stop(Control::Tokens)]);
    // but for rounds, of which a question is none
    for (answer, control) in [(Answer::Pass, Control::OraclePassed), (Answer::Fail, Control::Rounds)] {
        let limits = Limits { rounds: NonZeroU64::new(4), ..Limits::default() };
        let mut last = host(Plan { limits, verify: Asks::BeforeToo, ..plan() }, kept.clone());
        assert_eq!(last.persist()[0], Output::Verify { round: 0 });
        last.tell(Input::Verified { round: 0, answer });
        assert_eq!(last.drain(), [Output::Stop(control)]);
    }
}

#[test]
fn too_many_requests_still_let_the_oracle_say_that_it_is_done() {
    let limits = Limits { requests: NonZeroU64::new(1), ..Limits::default() };
    let mut host = host(Plan { limits, verify: Asks::After, ..plan() }, Checkpoint::default());
    let round = host.start();
    host.turn(round, 1).turn(round, 1).drain();
    assert_eq!(host.end(round, RoundExit::Cut)[0], Output::Verify { round });
    host.tell(Input::Verified { round, answer: Answer::Pass });
    assert_eq!(host.drain(), [Output::Stop(Control::OraclePassed)]);
}

#[test]
fn what_was_found_at_the_start_is_what_the_first_round_is_held_against() {
    let print = |byte| Some(Fingerprint([byte; 32]));
    let found = Input::Progress { round: 0, tree: print(1), error: None };
    let limits = Limits { no_progress: NonZeroU32::new(2), ..Limits::default() };
    let mut first = limited(limits);
    first.tell(found.clone());
    for stops in [false, true] {
        let round = first.start();
        first.tell(Input::Progress { round, tree: print(1), error: None });
        assert_eq!(first.end(round, RoundExit::Done).pop() == Some(Output::Stop(Control::NoProgress)), stops);
    }
    // a restart gives no new patience, and finding what was left is no round
    let kept = Checkpoint { rounds: 1, rows: first.machine.checkpoint().rows, ..Checkpoint::default() };
    assert_eq!(kept.rows.tree, Streak { last: print(1), length: 3 });
    let rows = Rows { tree: Streak { last: print(1), length: 2 }, ..Rows::default() };
    let mut again = host(Plan { limits, ..plan() }, Checkpoint { rows, ..kept });
    again.tell(found);
    let round = again.start();
    again.tell(Input::Progress { round, tree: print(1), error: None });
    assert_eq!(again.end(round, RoundExit::Done).pop(), Some(Output::Stop(Control::NoProgress)));
}

#[test]
fn shared_caps_stop_after_the_loop_s_own_and_may_change() {
    let mut host = limited(Limits { budget: Some(Tokens::new(1_000)), ..Limits::default() });
    let left = |rounds| Input::Shared { left: Caps { rounds: Some(rounds), ..Caps::default() } };
    host.tell(left(1));
    assert_eq!(host.round(10, RoundExit::Done), Output::Stop(Control::Rounds));
    let mut more = limited(Limits::default());
    more.tell(left(1));
    let round = more.start();
    more.tell(left(2));
    assert!(matches!(more.end(round, RoundExit::Done)[0], Output::Wait { .. }));
    assert_eq!(more.round(10, RoundExit::Done), Output::Stop(Control::Rounds));
}

#[test]
fn a_limit_is_waited_out_and_is_no_failure_of_the_agent() {
    let limits = Limits {
        agent_failures: NonZeroU32::new(1),
        limited: NonZeroU32::new(3),
        limit_wait: Some(Millis::from_secs(3600)),
        ..Limits::default()
    };
    let mut host = host(Plan { limits, salt: 7, ..plan() }, Checkpoint::default());
    let mut waits = Vec::new();
    for stops in [false, false, true] {
        let round = host.start();
        host.tell(Input::LimitUntil { until: Timestamp::EPOCH });
        match host.end(round, RoundExit::Failed).pop() {
            Some(Output::Wait { until: Some(until), why: Waiting::Limit }) => waits.push(until.millis() - host.now),
            Some(Output::Stop(control)) => assert!(stops && control == Control::Limit, "{control}"),
            other => panic!("{other:?}"),
        }
    }
    let within = |wait: u64, secs: u64| (secs * 1000..=secs * 1250).contains(&wait);
    assert!(waits.len() == 2 && within(waits[0], 60) && within(waits[1], 120), "{waits:?}");
    assert_ne!(waits[0] * 2, waits[1], "with salt");
}

#[test]
fn a_limit_that_is_hopeless_stops_by_name() {
    let limits = Limits { limit_wait: Some(Millis::from_secs(60)), ..Limits::default() };
    for (until, stops) in [(60_000, false), (60_001, true)] {
        let mut host = limited(limits);
        let round = host.start();
        host.tell(Input::LimitUntil { until: Timestamp::from_millis(until) });
        let stop = Some(Output::Stop(Control::Limit));
        assert_eq!(host.end(round, RoundExit::Failed).pop() == stop, stops, "{until}");
    }
}
