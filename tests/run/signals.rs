//! Ctrl-C once, twice and thrice, TERM, HUP, Ctrl-Z, and a second runner.

use std::fs;

use rustix::process::Signal;

use crate::world::{POLITE, SHORT, WELL, World, at_work, file, now, output, spawned, state_of, until, until_or};

/// Takes no notice of TERM.
const STUBBORN: &str =
    r#"trap '' TERM INT; cat >/dev/null; turn 1 400; echo $$ >"$here/pid"; while :; do sleep 0.02; done"#;

#[test]
fn the_first_ends_the_round_with_its_usage_and_the_next_start_goes_on() {
    let world = World::new();
    let run = world.runs(POLITE, &["--max-rounds", "3"]);
    let live = world.start(world.command().args(run.get_args()));
    until_or(|| !world.records().is_empty() && output(&world.journal()) > 0, || live.err());
    live.signal(Signal::INT);
    live.ends().ends(130, "stopped by interrupted: run the same command again");
    assert_eq!(output(&world.journal()), 430, "what it said while it ended is counted");
    assert_eq!(world.state()["stopped"], "interrupted");
    world.nothing_left();
    let came = world.start(world.command().args(run.get_args())).ends();
    came.ends(1, "stopped by rounds: 3 of 3").says("goes on with run");
    assert_eq!((world.records().len(), output(&world.journal())), (1, 430 + 800));
}

#[test]
fn the_second_kills() {
    let world = World::new();
    let (live, _) = at_work(&world, STUBBORN, &["--grace", "10m"]);
    live.signal(Signal::INT);
    until(|| fs::read_to_string(world.records()[0].join("journal.jsonl")).unwrap().contains("\"asked\""));
    live.signal(Signal::INT);
    live.ends().ends(130, "stopped by interrupted");
    assert_eq!(world.state()["kept"]["output_tokens"].as_u64().unwrap(), 400);
    world.nothing_left();
}

#[test]
fn the_third_gives_up_at_once() {
    let world = World::new();
    let (live, _) = at_work(&world, STUBBORN, &["--grace", "10m"]);
    for _ in 0..3 {
        // signals that come together may be heard as one
        live.signal(Signal::INT);
        let heard =
            || fs::read_to_string(world.records()[0].join("journal.jsonl")).unwrap().matches("\"asked\"").count();
        let before = heard();
        let mut turns = 0;
        until(|| {
            turns += 1;
            heard() > before || turns > 40 || world.left().is_empty()
        });
    }
    live.ends().ends(130, "stopped by interrupted");
    assert_eq!(world.state()["kept"]["output_tokens"].as_u64().unwrap(), 400);
    world.nothing_left();
}

#[test]
fn term_and_hup_have_codes_of_their_own() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129)] {
        let world = World::new();
        let (live, _) = at_work(&world, POLITE, &[]);
        live.signal(signal);
        live.ends().ends(code, "stopped by interrupted");
        assert_eq!(output(&world.journal()), 430);
        world.nothing_left();
    }
}

#[test]
#[cfg(target_os = "linux")]
fn hup_is_nothing_under_nohup() {
    let world = World::new();
    let run = world.runs(POLITE, &[]);
    let mut nohup = std::process::Command::new("sh");
    nohup.args(["-c", "trap '' HUP; exec \"$@\"", "sh"]).arg(run.get_program()).args(run.get_args());
    nohup.current_dir(&world.project).stdin(std::process::Stdio::null());
    let live = world.start(&mut nohup);
    file(&world.path("pid"));
    live.signal(Signal::HUP);
    live.signal(Signal::TERM);
    live.ends().ends(143, "stopped by interrupted");
}

#[test]
fn between_rounds_it_stops_at_once() {
    let world = World::new();
    let live = world.start(&mut world.runs(WELL, &["--rest", "10m"]));
    until_or(|| !world.records().is_empty() && world.journal().lines.iter().any(is_rest), || live.err());
    live.signal(Signal::INT);
    live.ends().ends(130, "stopped by interrupted");
    assert_eq!(spawned(&world.journal()), 1);
}

fn is_rest(line: &flyball::trace::Line) -> bool {
    matches!(&line.record, flyball::trace::Record::Wait { reason, .. } if reason.0.word() == "rest")
}

#[test]
#[cfg(target_os = "linux")]
fn ctrl_z_stops_the_agent_too_and_the_clock_stands() {
    let world = World::new();
    let began = now();
    // one process that starts no others: a shell that is stopped while it forks is shown as waiting for the disk
    let body = r#"cat >/dev/null; turn 1 400; echo $$ >"$here/pid"; exec sleep 600"#;
    let (live, agent) = at_work(&world, body, &["--max-rounds", "1"]);
    live.signal(Signal::TSTP);
    until(|| state_of(live.pid()) == Some('T') && state_of(agent) == Some('T'));
    let stopped = now();
    let sleep = std::process::Command::new("sleep").arg("1.5").status().unwrap();
    assert!(sleep.success() && state_of(agent) == Some('T'));
    let stood = stopped.elapsed();
    live.signal(Signal::CONT);
    until(|| state_of(agent).is_some_and(|state| state != 'T'));
    live.signal(Signal::INT);
    live.ends().ends(130, "stopped by interrupted");
    let (all, last) = (began.elapsed(), world.journal().lines.last().unwrap().at_ms);
    assert!(u128::from(last) <= (all - stood).as_millis(), "{last} ms of its clock, {stood:?} of {all:?} stopped");
}

#[test]
fn a_second_runner_is_refused_and_is_told_whose_the_first_is() {
    let world = World::new();
    let (live, _) = at_work(&world, POLITE, &[]);
    for _ in 0..3 {
        let second = world.runs(WELL, &[]).output().unwrap();
        let said = String::from_utf8(second.stderr).unwrap();
        assert_eq!(second.status.code(), Some(2), "{said}");
        assert!(said.contains(&format!("process {}", live.pid())), "{said}");
    }
    live.signal(Signal::INT);
    live.ends().ends(130, "stopped by interrupted");
    assert_eq!(world.records().len(), 1);
}

/// A program that is asked something after a round, as opencode is for its subagents, may take as long as it likes: nobody waits
/// for it who wants to stop.
#[test]
fn a_question_after_the_round_holds_nobody_up() {
    let world = World::new();
    let agent = world.agent(
        r#"if [ "$1" = export ]; then echo $$ >"$here/pid"; exec sleep 600; fi
        cat >/dev/null
        say() { printf '{"type":"%s","timestamp":1796053726000,"sessionID":"ses_1","part":{"messageID":"msg_1",%s}}\n' "$1" "$2"; }
        say step_start '"type":"step-start"'
        say tool_use '"state":{"input":{},"metadata":{"sessionId":"ses_2"}}'
        say step_finish '"reason":"stop","tokens":{"input":10,"output":400,"reasoning":0,"cache":{"read":0,"write":0}}'"#,
    );
    let mut command = world.command();
    command.args(["run", "--agent", "opencode", "--ladder", "high,low", "--effort", "high"]).args(SHORT);
    let live = world.start(command.args(["--program", &agent, "a task"]));
    file(&world.path("pid"));
    live.signal(Signal::INT);
    live.ends().ends(130, "stopped by interrupted").says("what a subagent came to cannot be asked for");
    assert_eq!(output(&world.journal()), 400);
    assert!(world.journal().lines.last().unwrap().at_ms < 60_000, "a minute is what a question may take");
    world.nothing_left();
}
