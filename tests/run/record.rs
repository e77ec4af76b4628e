//! What stays of a run: lines for people and for programs, prompts, shared caps, and no keys.

use std::fs;
use std::path::Path;

use flyball::trace::Record;
use serde_json::Value;

use crate::world::{Came, WELL, World, at_work, interrupted};

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The lines of `history.jsonl`.
fn history(world: &World) -> Vec<Value> {
    let lines = text(&world.project.join(".flyball/history.jsonl"));
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn progress(world: &World) -> String {
    text(&world.project.join(".flyball/progress.txt"))
}

#[test]
fn the_note_of_a_round_that_was_ended_is_written_by_flyball() {
    let world = interrupted(&[]);
    let lines = progress(&world);
    let last: Vec<&str> = lines.lines().rev().take(2).collect();
    assert!(last[1].contains("Z [flyball] round 1 at medium: ") && last[1].contains("430 output tokens"), "{lines}");
    assert!(last[0].contains("Z [flyball] stopped by interrupted: ") && last[0].ends_with("(exit 130)"), "{lines}");
    let over = &history(&world)[0];
    assert_eq!(
        (&over["control"], &over["exit"], &over["output_tokens"]),
        (&"interrupted".into(), &130.into(), &430.into())
    );
}

#[test]
fn history_has_a_line_a_run_and_a_torn_one_is_taken_away() {
    let world = World::new();
    world.run(WELL, &["--max-rounds", "1"]).ends(1, "stopped by rounds");
    let path = world.project.join(".flyball/history.jsonl");
    let whole = text(&path);
    fs::write(&path, format!("{whole}{}", &whole[..whole.len() / 2])).unwrap();
    world.run(WELL, &["--max-rounds", "2"]).ends(1, "stopped by rounds");
    let all = history(&world);
    assert_eq!(all.len(), 2);
    for over in &all {
        assert_eq!(
            (&over["control"], &over["agent"], &over["governor"]["juice"]),
            (&"rounds".into(), &"pi".into(), &"2000".into())
        );
    }
    assert!(progress(&world).lines().last().unwrap().contains("stopped by rounds: 2 of 2 rounds"));
}

#[test]
fn what_there_is_one_of_is_said_so() {
    let world = World::new();
    let came = world.run("cat >/dev/null; turn 1 1; bye", &["--max-rounds", "1"]);
    came.ends(1, "; 1 round, 1 output token, ");
    let status = world.start(world.command().arg("status")).ends().out;
    assert!(status.contains("\n1 round, 1 of 10.00M output tokens, "), "{status}");
    assert!(progress(&world).contains(", 1 turn, 1 output token, "), "{}", progress(&world));
}

#[test]
fn a_link_in_place_of_a_page_is_not_written_through() {
    let world = World::new();
    fs::create_dir(world.project.join(".flyball")).unwrap();
    fs::write(world.path("mine"), "mine\n").unwrap();
    for page in ["progress.txt", "history.jsonl"] {
        std::os::unix::fs::symlink(world.path("mine"), world.project.join(".flyball").join(page)).unwrap();
    }
    world.run(WELL, &["--max-rounds", "1"]).ends(1, "stopped by rounds").says("symbolic link");
    assert_eq!(text(&world.path("mine")), "mine\n");
}

#[test]
fn keys_are_in_nothing_that_is_kept() {
    let world = World::new();
    let key = ["sk-ant-api03-", "aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA3cE5"].concat();
    // told in two pieces, by an agent that says it, writes it and fails with it
    let body = format!(
        r#"cat >/dev/null; printf '{{"type":"message_end","message":{{"role":"assistant","responseId":"a","stopReason":"stop","usage":{{"input":1,"output":5,"totalTokens":6}},"content":[{{"type":"text","text":"it is {}'; sleep 0.05; printf '%s"}}]}}}}\n' '{}'; echo "{key}" >&2; echo "{key}" >file; bye; exit 3"#,
        &key[..20],
        &key[20..]
    );
    world.run(&body, &["--max-rounds", "1", "--oracle", &format!("cli:echo {key}")]);
    let run = world.records().pop().unwrap();
    let mut looked_at = 0;
    for name in ["stdout.log", "stderr.log", "output.md", "oracle.log", "oracle.json", "diff.patch"] {
        let Ok(kept) = fs::read_to_string(run.join("rounds/0001").join(name)) else { continue };
        assert!(!kept.contains(&key), "{name}: {kept}");
        looked_at += usize::from(kept.contains("[redacted "));
    }
    assert!(looked_at >= 2, "{looked_at}");
    for kept in [run.join("journal.jsonl"), run.join("state.json"), world.project.join(".flyball/history.jsonl")] {
        assert!(!text(&kept).contains(&key), "{}", kept.display());
    }
    assert!(!progress(&world).contains(&key) && progress(&world).contains("[redacted "), "{}", progress(&world));
}

#[test]
fn a_later_prompt_has_what_failed_what_changed_and_what_is_left() {
    let world = World::new();
    fs::write(world.project.join("rules"), "keep it small\nno new crates\n").unwrap();
    fs::write(world.project.join("first.md"), "\u{feff}Round {round}.\r\n{task} {{}}\r\n").unwrap();
    let flags =
        ["--oracle", "cli:sh -c 'echo it is not there; exit 7'", "--continuation", "usual", "--constraints", "rules"];
    let body = "cat >/dev/null; echo line >>work; turn 1 400; bye";
    world.run(body, &[&flags[..], &["--prompt-template", "first.md", "--max-rounds", "2"]].concat());
    let run = world.records().pop().unwrap();
    assert_eq!(text(&run.join("rounds/0001/prompt.md")), "Round 1.\na task {}\n");
    let second = text(&run.join("rounds/0002/prompt.md"));
    for words in ["a task", "it is not there", "+line", "keep it small", "\n- 1 round, this one among them\n"] {
        assert!(second.contains(words), "{words}: {second}");
    }
    fs::write(world.project.join("first.md"), "{tsak}\n").unwrap();
    let came = world.run(WELL, &["--prompt-template", "first.md", "--max-rounds", "1", "--fresh"]);
    assert_eq!(came.code, 2);
    came.says("{tsak} is no placeholder; did you mean {task}?").says("first.md");
}

#[test]
fn a_warning_comes_before_a_cap() {
    let world = World::new();
    let came = world.run(WELL, &["--budget", "0.001", "--warn", "0.5"]);
    came.ends(1, "stopped by budget").says("50% of the cap on budget is reached");
    let quiet = World::new();
    let came = quiet.run(WELL, &["--budget", "0.001", "--warn", "0"]);
    assert!(!came.err.contains("of the cap on"), "{}", came.err);
}

#[test]
fn the_size_of_an_answer_is_not_kept_from_one_process_to_the_next() {
    let world = World::new();
    let body = r#"cat >/dev/null; if [ "$FLYBALL_ROUND" = 1 ]; then turn 1 400; fi; bye"#;
    let means = || {
        let lines = world.journal().lines.into_iter();
        let of = |record| if let Record::Decided { round, mean, .. } = record { Some((round, mean)) } else { None };
        lines.filter_map(|line| of(line.record)).collect::<Vec<_>>()
    };
    world.run(body, &["--max-rounds", "1"]).ends(1, "stopped by rounds");
    assert!(means()[0].1.is_some_and(|mean| mean.total_tokens == 400), "{:?}", means());
    world.run(body, &["--max-rounds", "2"]).ends(1, "stopped by rounds: 2 of 2");
    assert_eq!(means(), [(2, None)], "no turn of this process is there to be read");
}

#[test]
fn checks_leave_no_byte_code_behind() {
    let world = World::new();
    let oracle = "cli:printenv PYTHONDONTWRITEBYTECODE";
    world.run(WELL, &["--oracle", oracle, "--max-rounds", "1"]).ends(0, "stopped by oracle-passed");
}

/// A run in a group of this state folder.
fn grouped(world: &World, state: &Path, flags: &[&str]) -> Came {
    let mut command = world.runs(WELL, &[&["--group", "night", "--fresh"], flags].concat());
    world.start(command.env("XDG_STATE_HOME", state)).ends()
}

#[test]
fn two_projects_of_a_group_share_a_cap_and_a_purse_that_was_spoilt_stops_both() {
    let (first, second) = (World::new(), World::new());
    let state = first.path("state");
    let cap = ["--cap", "group.budget=0.001", "--budget", "0"];
    grouped(&first, &state, &[&cap[..], &["--max-rounds", "2"]].concat()).ends(1, "stopped by rounds");
    // 800 of 1000 are spent: one more round of 400 passes the cap
    let came = grouped(&second, &state, &cap);
    came.ends(1, "stopped by budget").says("the group's cap of 1000 output tokens, of which other runs spent 800");
    assert!(came.stop().contains("1 round"), "{}", came.err);
    let none_left = grouped(&first, &state, &cap);
    none_left.ends(1, "stopped by budget");
    assert!(none_left.stop().contains("0 rounds"), "{}", none_left.err);

    let purses = state.join("flyball/groups/night");
    let purse = fs::read_dir(&purses).unwrap().next().unwrap().unwrap().path();
    fs::write(&purse, "{").unwrap();
    let came = grouped(&second, &state, &cap);
    assert_ne!(came.code, 0);
    came.says("cannot be read").says(purse.file_name().unwrap().to_str().unwrap());
}

#[test]
fn a_days_cap_holds_over_the_runs_of_a_project() {
    let world = World::new();
    let flags = ["--fresh", "--cap", "day.rounds=3", "--budget", "0"];
    world.run(WELL, &[&flags[..], &["--max-rounds", "2"]].concat()).ends(1, "stopped by rounds: 2 of 2");
    let came = world.run(WELL, &flags);
    came.ends(1, "stopped by rounds").says("the day's cap of 3 rounds, of which other runs spent 2 rounds");
    assert!(came.stop().contains("1 round"), "{}", came.err);
}

#[test]
fn a_run_under_way_has_its_page_and_its_purse() {
    let world = World::new();
    let body = r#"trap 'exit 0' TERM; cat >/dev/null; turn 1 400; echo $$ >"$here/pid"; while :; do sleep 0.02; done"#;
    let (live, _) = at_work(&world, body, &["--cap", "project.rounds=9"]);
    assert!(progress(&world).contains(" begins"), "{}", progress(&world));
    assert_eq!(fs::read_dir(world.project.join(".flyball/purse")).unwrap().count(), 1);
    live.signal(rustix::process::Signal::TERM);
    live.ends().ends(143, "interrupted");
}

#[test]
fn settings_are_kept_without_their_keys_and_still_told_apart() {
    let world = World::new();
    let program = world.agent("cat >/dev/null; turn 1 400; kill -INT $PPID; while :; do sleep 0.02; done");
    let go = |key: &str| {
        let mut command = world.command();
        command
            .args(["run", "--agent", "pi", "--ladder", "high,low", "--max-rounds", "9"])
            .args(crate::world::short(&[]));
        command.args(["a task", "--", &program, "--key", key]);
        world.start(&mut command).ends()
    };
    let (mine, other) = ("sk-ant-api03-aaaaaaaaaaaaaaaaaaaaaaaaaaaa", "sk-ant-api03-bbbbbbbbbbbbbbbbbbbbbbbbbbbb");
    go(mine).ends(130, "stopped by interrupted");
    let config = fs::read_to_string(world.records()[0].join("config.json")).unwrap();
    assert!(config.contains("[redacted ") && !config.contains(mine), "{config}");
    go(mine).ends(130, "stopped by interrupted");
    let refused = go(other);
    assert!(refused.code == 2 && !refused.err.contains(other), "{}", refused.err);
}
