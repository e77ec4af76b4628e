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
mod stage;

use std::collections::BTreeMap;

use case::{Came, Case};

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
    println!("{stops:?}");
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

#[test]
fn another_script_is_another_end() {
    let ends: Vec<Came> = (0..20).map(|number| Case::new(number).in_the_world()).collect();
    assert!(ends.windows(2).any(|pair| pair[0].control != pair[1].control));
    assert!(ends.windows(2).all(|pair| pair[0] != pair[1]));
}
