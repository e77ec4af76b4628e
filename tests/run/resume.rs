//! What another start makes of what is there.

use std::fs;
use std::process::Command;

use flyball::trace::Record;
use rustix::process::Signal;

use crate::world::{Came, POLITE, SHORT, WELL, World, file, interrupted, output, spawned, state_of, until_or};

/// The same world again, with these flags and this task.
fn again(world: &World, flags: &[&str], task: &str) -> Came {
    let program = world.agent(WELL);
    let mut command = world.command();
    command.args(["run", "--agent", "pi", "--ladder", "high,medium,low", "--effort", "medium"]).args(SHORT);
    world.start(command.args(flags).args([task, "--", &program])).ends()
}

/// A run that was stopped by its rounds.
fn over(rounds: &str) -> World {
    let world = World::new();
    world.run(WELL, &["--max-rounds", rounds]).ends(1, "stopped by rounds");
    world
}

/// The efforts that were asked for in the last run.
fn asked(world: &World) -> Vec<String> {
    let lines = world.journal().lines.into_iter();
    lines.filter_map(|line| if let Record::Spawn { effort, .. } = line.record { Some(effort) } else { None }).collect()
}

/// The first start's command, so that its argv is the same.
fn same(world: &World, run: &Command, more: &[&str]) -> Came {
    let mut command = world.command();
    let at = run.get_args().position(|arg| arg == "a task").unwrap();
    command.args(run.get_args().take(at)).args(more).args(run.get_args().skip(at));
    world.start(&mut command).ends()
}

#[test]
fn an_interrupted_run_goes_on_only_with_its_own_settings_and_task() {
    let world = World::new();
    let run = world.runs(POLITE, &["--max-rounds", "2"]);
    let live = world.start(world.command().args(run.get_args()));
    file(&world.path("pid"));
    live.signal(Signal::INT);
    live.ends().ends(130, "stopped by interrupted");
    let before = fs::read(world.records()[0].join("journal.jsonl")).unwrap();
    let came = same(&world, &run, &["--juice", "1500", "--slack", "0.3"]);
    assert_eq!(came.code, 2);
    came.says("governor.juice: \"2000\" there, \"1500\" here").says("governor.slack: \"0.15\" there, \"0.3\" here");
    came.says("--fresh starts a new run");
    let mut other = world.command();
    other.args(run.get_args().map(|arg| if arg == "a task" { "another".as_ref() } else { arg }));
    let came = world.start(&mut other).ends();
    assert_eq!(came.code, 2);
    came.says("the task is another one");
    assert_eq!(fs::read(world.records()[0].join("journal.jsonl")).unwrap(), before, "refusing changes nothing");
    let came = same(&world, &run, &["--resume", "--raise", "juice=9"]);
    assert_eq!(came.code, 2);
    came.says("no cap is called juice").says("budget, rounds");
    assert_eq!(world.records().len(), 1);
}

#[test]
fn fresh_takes_over_nothing_and_leaves_the_old_run_as_it_is() {
    let world = interrupted(&[]);
    let before = fs::read(world.records()[0].join("journal.jsonl")).unwrap();
    again(&world, &["--max-rounds", "2", "--fresh"], "another").ends(1, "stopped by rounds: 2 of 2");
    assert_eq!((world.records().len(), output(&world.journal())), (2, 800));
    assert_eq!(fs::read(world.records()[0].join("journal.jsonl")).unwrap(), before);
}

#[test]
fn after_rounds_the_same_loop_goes_on_counting_in_a_new_run() {
    let world = over("2");
    again(&world, &["--max-rounds", "2"], "a task").ends(1, "stopped by rounds: 2 of 2");
    assert_eq!(spawned(&world.journal()), 0);
    let came = again(&world, &["--max-rounds", "4"], "a task");
    came.ends(1, "stopped by rounds: 4 of 4").says("goes on counting");
    assert_eq!((world.records().len(), spawned(&world.journal())), (3, 2));
    assert_eq!(world.state()["kept"]["output_tokens"].as_u64(), Some(1_600));
    // its rung was moved up by now, and is kept for another task, whose counts are its own
    let rung = world.state()["kept"]["effort"].as_str().unwrap().to_owned();
    assert_eq!(rung, "high");
    again(&world, &["--max-rounds", "1"], "another").ends(1, "stopped by rounds: 1 of 1");
    assert_eq!((asked(&world), output(&world.journal())), (vec![rung], 400));
    again(&world, &["--max-rounds", "1", "--model", "other"], "another").ends(1, "stopped by rounds: 1 of 1");
    assert_eq!(asked(&world), ["medium"], "another model begins where it is set up");
}

#[test]
fn after_a_budget_the_next_run_is_clean_and_its_rung_can_be_kept() {
    let spend = || {
        let world = World::new();
        world.run(WELL, &["--budget", "0.001"]).ends(1, "stopped by budget");
        assert_eq!(asked(&world), ["medium", "high", "high"]);
        world
    };
    let world = spend();
    again(&world, &["--budget", "0.0004"], "a task").ends(1, "stopped by budget: 400 of 400");
    assert_eq!(asked(&world), ["medium"]);
    let world = spend();
    again(&world, &["--budget", "0.0004", "--keep-rung"], "a task").ends(1, "stopped by budget: 400 of 400");
    assert_eq!(asked(&world), ["high"]);
}

#[test]
fn a_raised_budget_goes_on_and_is_written_down() {
    let world = World::new();
    let run = world.runs(WELL, &["--budget", "0.001"]);
    world.start(world.command().args(run.get_args())).ends().ends(1, "stopped by budget: 1200 of 1000");
    let came = same(&world, &run, &["--resume", "--raise", "budget=0.002"]);
    came.ends(1, "stopped by budget: 2000 of 2000").says("governor.budget was raised from 0.001 to 0.002");
    assert_eq!((world.records().len(), output(&world.journal())), (1, 2_000));
    assert!(world.notes().iter().any(|note| note.contains("was raised")));
    let config = fs::read_to_string(world.records()[0].join("config.json")).unwrap();
    assert!(config.contains("\"0.002\"") && config.contains("--raise"), "{config}");
    let came = same(&world, &run, &["--raise", "budget=1"]);
    assert_eq!(came.code, 2, "raising needs --resume");
}

#[test]
fn there_must_be_a_run_to_go_on_with() {
    let world = World::new();
    let came = again(&world, &["--resume"], "a task");
    assert_eq!(came.code, 2);
    came.says("there is no run to go on with");
}

#[test]
fn a_changed_byte_in_the_journal_is_refused_by_its_line() {
    let world = over("2");
    let path = world.records()[0].join("journal.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let at = lines.iter().position(|line| line.contains("\"turned\"")).unwrap();
    let changed = lines[at].replace("\"output_tokens\":400", "\"output_tokens\":401");
    assert_ne!(changed, lines[at]);
    fs::write(&path, text.replace(lines[at], &changed)).unwrap();
    let came = again(&world, &["--max-rounds", "4"], "a task");
    assert_eq!(came.code, 2, "{}", came.err);
    // the hash that the next line holds is of another line
    came.says(&format!("line {}", at + 2)).says("--fresh starts a new one");
    again(&world, &["--max-rounds", "1", "--fresh"], "a task").ends(1, "stopped by rounds: 1 of 1");
}

#[test]
fn a_changed_state_is_refused_and_a_missing_one_is_made_again() {
    let world = over("2");
    let path = world.records()[0].join("state.json");
    let text = fs::read_to_string(&path).unwrap();
    for (from, to, why) in [
        ("\"output_tokens\": 800", "\"output_tokens\": 80", "keeps something else"),
        ("\"journal_lines\": ", "\"journal_lines\": 9", "is not there as it was"),
        ("\"version\": 1", "\"version\": 9", "use a newer one"),
        ("{", "", "state.json"),
    ] {
        assert!(text.contains(from), "{text}");
        fs::write(&path, text.replacen(from, to, 1)).unwrap();
        let came = again(&world, &["--max-rounds", "4"], "a task");
        assert_eq!(came.code, 2, "{from}: {}", came.err);
        came.says(why);
    }
    fs::remove_file(&path).unwrap();
    again(&world, &["--max-rounds", "4"], "a task").ends(1, "stopped by rounds: 4 of 4");
    assert_eq!(spawned(&world.journal()), 2);
}

#[test]
fn a_line_that_was_cut_off_is_left_out() {
    let world = World::new();
    let run = world.runs(WELL, &["--max-rounds", "3", "--rest", "10m"]);
    let live = world.start(world.command().args(run.get_args()));
    until_or(|| !world.records().is_empty() && output(&world.journal()) == 400, || live.err());
    live.signal(Signal::KILL);
    assert_eq!(live.ends().code, 1009);
    let path = world.records()[0].join("journal.jsonl");
    let mut text = fs::read(&path).unwrap();
    text.extend_from_slice(b"{\"at_ms\":99,\"kind\":\"turn");
    fs::write(&path, text).unwrap();
    let live = world.start(world.command().args(run.get_args()));
    until_or(|| output(&world.journal()) == 800, || live.err());
    live.signal(Signal::INT);
    live.ends().ends(130, "stopped by interrupted");
    assert_eq!(world.state()["kept"]["rounds"].as_u64(), Some(2));
}

#[test]
fn a_run_that_was_lost_before_it_began_hides_none_before_it() {
    let world = over("2");
    let lost = world.records()[0].with_file_name("99991231-235959");
    fs::create_dir(&lost).unwrap();
    fs::write(lost.join("journal.jsonl"), "{\"format\":\"fly").unwrap();
    let came = again(&world, &["--max-rounds", "3"], "a task");
    came.ends(1, "stopped by rounds: 3 of 3").says("goes on counting");
    // and the calendar going back makes no run older than those before it
    again(&world, &["--max-rounds", "4"], "a task").ends(1, "stopped by rounds: 4 of 4").says("3 rounds");
}

#[test]
fn many_runs_in_one_second_go_on_counting_one_from_the_other() {
    let world = World::new();
    for rounds in 1..=12 {
        again(&world, &["--max-rounds", &rounds.to_string()], "a task").ends(1, "stopped by rounds");
        assert_eq!(world.state()["kept"]["rounds"].as_u64(), Some(rounds));
    }
    assert_eq!(world.records().len(), 12);
}

#[test]
fn settings_that_were_half_written_when_it_was_lost_are_not_there() {
    let world = interrupted(&["--max-rounds", "2"]);
    let run = &world.records()[0];
    assert!(!fs::read_dir(run).unwrap().any(|entry| entry.unwrap().file_name().to_string_lossy().ends_with(".new")));
    // a write that was under way lies beside, and disturbs nothing
    fs::write(run.join("config.json.new"), "{\"format").unwrap();
    fs::write(run.join("state.json.new"), "{\"format").unwrap();
    again(&world, &["--max-rounds", "1", "--fresh"], "a task").ends(1, "stopped by rounds: 1 of 1");
}

/// An agent whose child has a session of its own, and what it writes its number into.
const LEAVES: &str = r#"cat >/dev/null; setsid sh -c 'echo $$ >"$0"; exec sleep 600' "$here/child" >/dev/null 2>&1 &
    turn 1 400; while :; do sleep 0.02; done"#;

#[test]
#[cfg(target_os = "linux")]
fn what_a_lost_run_left_is_ended_whatever_is_started_next() {
    for flags in [&["--max-rounds", "1"][..], &["--fresh"]] {
        let world = World::new();
        let run = world.runs(LEAVES, flags);
        let live = world.start(world.command().args(run.get_args()));
        let child: i32 = file(&world.path("child")).trim().parse().unwrap();
        until_or(|| !world.records().is_empty() && output(&world.journal()) == 400, || live.err());
        live.signal(Signal::KILL);
        assert_eq!(live.ends().code, 1009);
        assert!(state_of(child).is_some_and(|state| state != 'Z'), "the child outlives the runner");
        let came = again(&world, &["--max-rounds", "1", "--fresh"], "a task");
        came.ends(1, "stopped by rounds").says("had left").says("they were ended");
        world.nothing_left();
    }
}

#[test]
#[cfg(target_os = "linux")]
fn another_projects_agents_are_left_alone() {
    let (lost, other) = (World::new(), World::new());
    let (live, pid) = crate::world::at_work(&other, POLITE, &[]);
    // a lost run of the same name in another project
    lost.run(WELL, &["--max-rounds", "1"]).ends(1, "stopped by rounds");
    let name = other.records()[0].file_name().unwrap().to_owned();
    let run = &lost.records()[0];
    fs::rename(run, run.with_file_name(name)).unwrap();
    again(&lost, &["--max-rounds", "2"], "a task").ends(1, "stopped by rounds: 2 of 2");
    assert!(state_of(pid).is_some_and(|state| state != 'Z'), "it still works");
    live.signal(Signal::INT);
    live.ends().ends(130, "stopped by interrupted");
}
