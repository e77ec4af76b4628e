//! Agents that misbehave: each ends as the loop says, within bounds, and nothing is left.

use std::fs;

use flyball::trace::{Record, Trace};

use crate::world::{Came, Live, WELL, World, output, short, spawned, status_of, until};

/// The fake agent in claude's wire, misbehaving.
fn fake(world: &World, act: &str, flags: &[&str]) -> Came {
    started(world, act, flags).ends()
}

fn started(world: &World, act: &str, flags: &[&str]) -> Live {
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/s02-typical.toml");
    let mut command = world.command();
    command.args(["run", "--agent", "claude", "--ladder", "rung-3,rung-2,rung-1", "--effort", "rung-2"]);
    command.args(short(flags)).args(flags).args(["a task", "--", env!("CARGO_BIN_EXE_flyball"), "fake-agent"]);
    command.args(["--scenario", scenario, "--effort", "{effort}", "--act", act]);
    world.start(&mut command)
}

fn exits(trace: &Trace) -> Vec<&'static str> {
    let exit = |record: &Record| if let Record::Ended { exit, .. } = record { Some(exit.0.word()) } else { None };
    trace.lines.iter().filter_map(|line| exit(&line.record)).collect()
}

#[test]
fn one_that_ignores_term_and_stays_after_its_result_is_killed() {
    let world = World::new();
    fake(&world, "ignore-term", &["--max-rounds", "2"]).ends(1, "stopped by rounds: 2 of 2");
    assert_eq!(exits(&world.journal()), ["done", "done"], "the work was done, and its usage kept");
    assert!(world.notes().iter().any(|note| note.contains("did not leave")));
    world.nothing_left();
}

#[test]
fn one_that_ignores_term_at_its_round_cap_is_killed_after_the_grace() {
    let world = World::new();
    let came = world.run(
        "trap '' TERM INT; cat >/dev/null; turn 1 400; while :; do sleep 1; done",
        &["--round-cap", "600ms", "--max-rounds", "1"],
    );
    came.ends(1, "stopped by rounds");
    assert_eq!((exits(&world.journal()), output(&world.journal())), (vec!["cut"], 400));
    world.nothing_left();
}

#[test]
fn a_child_that_holds_the_pipe_delays_nothing_for_long() {
    let world = World::new();
    fake(&world, "grandchild-holds-pipe", &["--max-rounds", "1"]).ends(1, "stopped by rounds");
    assert_eq!(exits(&world.journal()), ["done"]);
    world.nothing_left();
}

#[test]
#[cfg(target_os = "linux")]
fn a_child_in_a_session_of_its_own_is_found() {
    let world = World::new();
    fake(&world, "setsid-child", &["--max-rounds", "2"]).ends(1, "stopped by rounds").says("were ended");
    world.nothing_left();
}

#[test]
#[cfg(target_os = "linux")]
fn children_that_detach_twice_and_forget_their_environment_are_found() {
    let world = World::new();
    let pids = world.path("pids");
    let daemon = r#"cat >/dev/null; turn 1 400
        (setsid env -i sh -c 'echo $$ >>"$0"; exec sleep 600' "$here/pids" >/dev/null 2>&1 </dev/null &)
        while [ ! -s "$here/pids" ]; do sleep 0.01; done; bye"#;
    world.run(daemon, &["--max-rounds", "1"]).ends(1, "stopped by rounds");
    let pid = fs::read_to_string(pids).unwrap().trim().parse().unwrap();
    assert!(matches!(crate::world::state_of(pid), None | Some('Z')), "{pid} lives");
}

#[test]
fn half_a_line_is_a_failed_round_whose_turns_are_counted() {
    let world = World::new();
    let came = fake(&world, "half-line", &["--max-failures", "2"]);
    came.ends(1, "stopped by agent-failures: 2 rounds in a row failed");
    assert_eq!(exits(&world.journal()), ["failed", "failed"]);
    assert!(output(&world.journal()) > 0, "what was whole is charged");
}

#[test]
fn silence_ends_a_round_at_the_inactivity_cap_and_what_was_spent_is_kept() {
    let world = World::new();
    let came = world.run("cat >/dev/null; turn 1 400; exec sleep 600", &["--inactivity", "400ms", "--max-rounds", "2"]);
    came.ends(1, "stopped by rounds");
    assert_eq!((exits(&world.journal()), output(&world.journal())), (vec!["cut", "cut"], 800));
    world.nothing_left();
}

#[test]
fn signs_of_life_put_the_inactivity_cap_off() {
    let world = World::new();
    let busy = "cat >/dev/null; for i in 1 2 3 4 5 6 7 8; do sleep 0.2; echo '{}'; done; turn 1 400; bye";
    world.run(busy, &["--inactivity", "1s", "--max-rounds", "1"]).ends(1, "stopped by rounds");
    assert_eq!(exits(&world.journal()), ["done"]);
}

#[test]
fn exit_0_with_an_error_inside_has_failed() {
    let world = World::new();
    fake(&world, "exit-0-with-error", &["--max-failures", "2"]).ends(1, "stopped by agent-failures");
    assert_eq!(exits(&world.journal()), ["failed", "failed"]);
}

#[test]
fn one_that_fails_at_once_is_given_time_and_then_up() {
    let world = World::new();
    let came = world.run("exit 1", &["--backoff", "40ms"]);
    came.ends(1, "stopped by agent-failures: 3 rounds in a row failed");
    let trace = world.journal();
    let mut waits = Vec::new();
    for line in &trace.lines {
        if let Record::Wait { until_ms: Some(until), reason } = &line.record
            && reason.0.word() == "backoff"
        {
            waits.push(until - line.at_ms);
        }
    }
    waits.dedup();
    assert!(waits.contains(&40) && waits.contains(&80), "{waits:?}");
}

#[test]
fn a_failure_for_ever_is_stopped_by_rounds_where_failures_do_not_count() {
    let world = World::new();
    world.run("exit 1", &["--max-failures", "none", "--max-rounds", "12"]).ends(1, "stopped by rounds: 12 of 12");
    assert_eq!(exits(&world.journal()).len(), 12);
}

#[test]
fn an_effort_that_is_passed_over_midway_leaves_the_ladder_and_is_said_once() {
    let world = World::new();
    let flags = ["--max-rounds", "8", "--juice", "100000"];
    let came = fake(&world, "ignores=rung-3@3", &flags);
    came.ends(1, "stopped by rounds: 8 of 8");
    assert_eq!(came.err.matches("leaves the ladder").count(), 1, "{}", came.err);
    let asked: Vec<String> = world
        .journal()
        .lines
        .into_iter()
        .filter_map(|line| if let Record::Spawn { effort, .. } = line.record { Some(effort) } else { None })
        .collect();
    assert_eq!(asked[2], "rung-3", "{asked:?}");
    assert!(asked[3..].iter().all(|word| word == "rung-2"), "{asked:?}");
}

#[test]
fn one_that_never_reads_its_prompt_is_none_the_worse() {
    let world = World::new();
    let long = world.path("task");
    fs::write(&long, "x".repeat(300_000)).unwrap();
    let program = world.agent("turn 1 400; bye");
    let mut command = world.command();
    command.args(["run", "--agent", "pi", "--max-rounds", "3", "--prompt-file"]).arg(&long);
    command.args(short(&[])).arg("--").arg(program);
    world.start(&mut command).ends().ends(1, "stopped by rounds");
    assert_eq!(exits(&world.journal()), ["done", "done", "done"]);
}

#[test]
fn one_that_closes_its_output_and_goes_on_is_waited_for_and_ended_when_it_is_silent() {
    let world = World::new();
    let body = "cat >/dev/null; turn 1 400; bye; exec >/dev/null 2>&1; sleep 0.3";
    world.run(body, &["--max-rounds", "1", "--after-result", "20s"]).ends(1, "stopped by rounds");
    assert_eq!(exits(&world.journal()), ["done"]);
    let body = "cat >/dev/null; turn 1 400; exec >/dev/null 2>&1; exec sleep 600";
    let came = world.run(body, &["--max-rounds", "1", "--inactivity", "400ms", "--fresh"]);
    came.ends(1, "stopped by rounds");
    assert_eq!(exits(&world.journal()), ["cut"]);
    world.nothing_left();
}

#[test]
fn requests_without_end_stop_the_loop() {
    let world = World::new();
    let body = "cat >/dev/null; i=0; while :; do i=$((i+1)); turn $i 1; sleep 0.01; done";
    world.run(body, &["--max-requests", "20"]).ends(1, "stopped by requests: more than 20");
    world.nothing_left();
}

#[test]
fn spending_that_nobody_counts_stops_a_loop_with_a_budget() {
    let world = World::new();
    let run = |flags: &[&str]| {
        let program = world.agent("cat >/dev/null; echo done");
        let mut command = world.command();
        command.args(["run", "--agent", "command", "--max-rounds", "5", "--fresh"]).args(short(&[])).args(flags);
        world.start(command.args(["a task", "--", &program])).ends()
    };
    run(&[]).ends(1, "stopped by unmetered");
    assert_eq!(spawned(&world.journal()), 1);
    run(&["--budget", "0"]).ends(1, "stopped by rounds: 5 of 5");
}

#[test]
fn a_budget_ends_the_loop_and_is_passed_by_less_than_a_round() {
    let world = World::new();
    world.run(WELL, &["--budget", "0.001"]).ends(1, "stopped by budget: 1200 of 1000 output tokens");
    assert_eq!(spawned(&world.journal()), 3);
}

/// Floods, and watches the memory of the runner; in kB.
fn peak(act: &str, megabytes: u64) -> u64 {
    let world = World::new();
    let act = format!("{act}={}", megabytes * 1_000_000);
    let mut live = started(&world, &act, &["--max-rounds", "1", "--inactivity", "60s"]);
    let mut peak = 0;
    until(|| {
        peak = status_of(live.pid(), "VmHWM").unwrap_or(0).max(peak);
        live.is_over()
    });
    live.ends().ends(1, "stopped by rounds");
    assert_eq!(exits(&world.journal()), ["done"]);
    let kept = fs::metadata(world.records()[0].join("rounds/0001/stdout.log")).unwrap().len();
    assert!(kept <= 64 * 1024 * 1024, "{kept} bytes are kept");
    peak
}

#[test]
#[cfg(target_os = "linux")]
fn a_flood_does_not_fill_memory() {
    let peak = peak("flood", 150);
    assert!(peak < 80_000, "{peak} kB");
}

#[test]
#[cfg(target_os = "linux")]
fn a_line_of_a_hundred_megabytes_is_passed_over() {
    let peak = peak("long-line", 100);
    assert!(peak < 200_000, "{peak} kB");
}

#[test]
#[cfg(target_os = "linux")]
#[ignore = "slow: a gigabyte through a pipe"]
fn a_flood_of_a_gigabyte_does_not_fill_memory() {
    let peak = peak("flood", 1_000);
    assert!(peak < 80_000, "{peak} kB");
}
