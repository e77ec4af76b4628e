//! SIGKILL of the real binary at any moment: the same command again, until the loop is done.

use std::fs;
use std::path::Path;

use flyball::engine::RoundExit;
use flyball::trace::Record;
use rustix::process::Signal;

use crate::world::{World, now, output, spawned};

/// Notes when another of its run lives, that it began, and each report before it is made.
const NOTES: &str = r#"for pid in $(cat "$here/began" 2>/dev/null); do
        if [ -r /proc/$pid/stat ] && read -r _ _ state _ </proc/$pid/stat && [ "$state" != Z ] && [ "$state" != X ] &&
            grep -q "$0" /proc/$pid/cmdline; then echo "$pid $state lives beside $$" >>"$here/two"; fi
    done
    echo $$ >>"$here/began"; cat >/dev/null
    echo 100 >>"$here/said"; turn 1 100; echo 100 >>"$here/said"; turn 2 100; bye"#;

const ROUND: u64 = 200;

fn lines(path: &Path) -> u64 {
    fs::read_to_string(path).unwrap_or_default().lines().count().try_into().unwrap()
}

/// A number below `below`, the next of a row that begins with a seed.
fn below(row: &mut u64, below: u64) -> u64 {
    *row = row.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*row >> 33) % below
}

/// Kills so many runs, each after the record grew by some bytes, or after some time where it may not have begun.
fn killed(kills: u32, seed: u64) {
    let (world, mut row) = (World::new(), seed);
    // one program for all starts, since the same command is given again
    let command = world.runs(NOTES, &["--max-rounds", "30"]);
    let start = || {
        let mut again = world.command();
        again.args(command.get_args());
        world.start(&mut again)
    };
    let mut done = 0;
    for _ in 0..kills {
        let grown = || -> u64 {
            world.records().iter().map(|run| fs::metadata(run.join("journal.jsonl")).map_or(0, |meta| meta.len())).sum()
        };
        let (before, by, micros) = (grown(), below(&mut row, 4_000), below(&mut row, 30_000));
        let early = below(&mut row, 4) == 0;
        let began = now();
        let mut live = start();
        while !live.is_over() {
            let due = began.elapsed().as_micros() > micros.into();
            if if early { due } else { grown() >= before + by } {
                live.signal(Signal::KILL);
                break;
            }
            std::thread::yield_now();
        }
        let came = live.ends();
        assert!(came.code == 1009 || came.code == 1, "{}\n{}", came.code, came.err);
        if came.code == 1 {
            done += 1;
            break;
        }
    }
    if done == 0 {
        start().ends().ends(1, "stopped by rounds: 30 of 30");
    }
    assert!(!world.path("two").exists(), "{}", fs::read_to_string(world.path("two")).unwrap());
    let (trace, began, said) = (world.journal(), lines(&world.path("began")), lines(&world.path("said")) * 100);
    // one that was lost before its first line was whole has started nothing, and is left
    assert_eq!(world.records().len(), 1, "one run all along");
    assert!(
        began <= spawned(&trace) && spawned(&trace) <= 30,
        "{began} agents began, {} are recorded",
        spawned(&trace)
    );
    let counted = world.state()["kept"]["output_tokens"].as_u64().unwrap();
    assert_eq!(counted, output(&trace), "all that the journal has is counted");
    assert!(counted <= said && said <= counted + u64::from(kills) * ROUND, "{counted} counted of {said}");
    // what a round reported that came to its end is counted to the token
    for line in &trace.lines {
        if let Record::Ended { round, exit } = &line.record
            && exit.0 == RoundExit::Done
        {
            let of = trace
                .lines
                .iter()
                .filter_map(|line| if let Record::Turned(turn) = &line.record { Some(turn) } else { None });
            let of = of.filter(|turn| turn.round == *round).map(|turn| turn.output_tokens);
            assert_eq!(of.sum::<u64>(), ROUND, "round {round}");
        }
    }
    world.nothing_left();
}

#[test]
fn twenty_times() {
    killed(20, 1);
}

#[test]
#[ignore = "slow: a hundred kills of the binary"]
fn a_hundred_times() {
    for seed in 2..7 {
        killed(20, seed);
    }
}
