//! Whatever stops the loop in the simulator stops it in the real runner's host: the same control, after the same rounds, at the same
//! efforts, with the same spending and the same checkpoint.
//!
//! A case is a random agent, law, set of controls and script of what comes of rounds. It goes through the simulator's own
//! [`World`](flyball::sim::World), and through the runner's [`Host`](flyball::run::Host) over a machine in memory: the agent's lines are
//! those of a real program, read by the real readers; the project answers through the host's own [`Site`](flyball::run::site::Site);
//! time is virtual. Luck and script are the same in both, and nothing else is shared.
#![cfg(all(feature = "run", feature = "lab"))]
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod case;
#[cfg(all(unix, feature = "cli"))]
mod pipe;
mod stage;

use std::collections::BTreeMap;

use case::{Came, Case};
#[cfg(all(unix, feature = "cli"))]
use flyball::engine::Control;

/// Cases, by number.
const CASES: u32 = 1_000;

#[test]
fn a_thousand_cases_stop_the_same() {
    let mut stops: BTreeMap<&str, u32> = BTreeMap::new();
    for number in 0..CASES {
        let case = Case::new(number);
        let (sim, host) = (case.in_the_world(), stage::through_the_host(&case));
        assert_eq!(sim.rounds, host.rounds, "case {number}: {case:#?}");
        assert_eq!(sim, host, "case {number}: {case:#?}");
        *stops.entry(sim.control.name()).or_default() += 1;
    }
    let expected = [
        "rounds",
        "budget",
        "tokens",
        "cost",
        "wall",
        "requests",
        "no-progress",
        "same-error",
        "limit",
        "agent-failures",
        "kill-on",
        "oracle-passed",
        "oracle-error",
        "blocked",
        "interrupted",
    ];
    for control in expected {
        let count = stops.get(control).copied().unwrap_or(0);
        assert!(count >= 10, "{control} stopped {count} of {CASES}: {stops:?}");
    }
}

/// Thirty of them through `flyball run`: a real process, real pipes, a real project and its oracle. Nothing in these hangs on time.
#[cfg(all(unix, feature = "cli"))]
#[test]
fn thirty_cases_stop_the_same_through_real_processes() {
    let mut stops: BTreeMap<&str, u32> = BTreeMap::new();
    let mut left = 30;
    for case in (0..2_000).map(Case::untimed) {
        let (sim, lefts) = case.played();
        let seen = stops.entry(sim.control.name()).or_default();
        // a few of each control
        if *seen == 3 || left == 0 {
            continue;
        }
        *seen += 1;
        left -= 1;
        let real = pipe::through_processes(&case, &lefts);
        let what = || format!("case {}: {case:#?}\n{}", case.number, real.said);
        assert_eq!(sim.rounds, real.rounds, "{}", what());
        let spent = (sim.spent.output, sim.spent.tokens, sim.spent.cost);
        assert_eq!((sim.control, spent), (real.control, real.spent), "{}", what());
        let codes = [(Control::OraclePassed, 0), (Control::OracleError, 3)];
        let code = codes.into_iter().find(|(control, _)| *control == sim.control).map_or(1, |(_, code)| code);
        assert_eq!(real.code, code, "{}", what());
    }
    assert!(left == 0 && stops.len() >= 11, "{stops:?}");
}

#[test]
fn another_script_is_another_end() {
    let ends: Vec<Came> = (0..20).map(|number| Case::new(number).in_the_world()).collect();
    assert!(ends.windows(2).any(|pair| pair[0].control != pair[1].control));
    assert!(ends.windows(2).all(|pair| pair[0] != pair[1]));
}
