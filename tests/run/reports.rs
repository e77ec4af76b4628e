//! What users of other runners reported, each kind once, through the binary. The page on controls says which kind is held where.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use flyball::trace::{Record, Trace};
use rustix::process::Signal;

use crate::world::{POLITE, WELL, World, at_work, journal_of, short, spawned, until};

/// `message ROLE ID TEXT` says a text as pi does, and `turn` follows it with a count.
const SAYS: &str = r#"cat >/dev/null
    text() { printf '{"type":"message_end","message":{"role":"%s","content":[{"type":"text","text":"%s"}]}}\n' "$1" "$2"; }
    answer() {
        printf '{"type":"message_end","message":{"role":"assistant","model":"m","responseId":"a%s","stopReason":"stop",' "$FLYBALL_ROUND"
        printf '"usage":{"input":1,"output":400,"totalTokens":401},"content":[{"type":"text","text":"%s"}]}}\n' "$1"
    }"#;

fn git(folder: &Path, words: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"]);
    assert!(command.args(words).current_dir(folder).status().unwrap().success(), "{words:?}");
}

/// How often the loop was told to wait for this.
fn waits(trace: &Trace, what: &str) -> usize {
    let is = |record: &Record| matches!(record, Record::Wait { reason, .. } if reason.0.word() == what);
    trace.lines.iter().filter(|line| is(&line.record)).count()
}

/// The efforts that rounds were asked to run at.
fn efforts(trace: &Trace) -> Vec<String> {
    let of = |record: &Record| if let Record::Spawn { effort, .. } = record { Some(effort.clone()) } else { None };
    trace.lines.iter().filter_map(|line| of(&line.record)).collect()
}

#[test]
fn an_echo_of_the_prompt_is_not_the_agents_word() {
    // the task is what the rule looks for, and the agent repeats it as its user's and as a tool's
    let world = World::new();
    let body = format!("{SAYS}\ntext user 'a task'; text toolResult 'a task'; answer 'working'; bye");
    let flags = ["--kill-on", "regex:^a task$", "--max-rounds", "2"];
    world.run(&body, &flags).ends(1, "stopped by rounds: 2 of 2");
    let own = World::new();
    let body = format!("{SAYS}\nanswer 'a task'; bye");
    own.run(&body, &flags).ends(1, "stopped by kill-on");
    for empty in ["regex:", "regex:x*"] {
        let came = own.run(WELL, &["--kill-on", empty, "--max-rounds", "1", "--fresh"]);
        assert_eq!(came.code, 2, "{empty}: {}", came.err);
    }
}

#[test]
fn a_stale_mark_of_a_run_that_crashed_ends_no_run_before_its_agent() {
    let world = World::new();
    // the runner is lost right after the mark; the agent of the next start takes it back
    let body = r#"cat >/dev/null; turn 1 400
        if [ "$FLYBALL_ROUND" = 1 ]; then echo DONE >status; kill -9 $PPID; sleep 600; fi
        rm -f status; bye"#;
    let mut command = world.runs(body, &["--oracle", "regex:status:^DONE$", "--max-rounds", "3"]);
    let mut live = world.start(&mut command);
    until(|| live.is_over());
    assert_eq!(fs::read_to_string(world.project.join("status")).unwrap(), "DONE\n");
    world.start(&mut command).ends().ends(1, "stopped by rounds: 3 of 3");
    assert_eq!(spawned(&world.journal()), 3, "the agent was asked again");
}

#[test]
fn a_flag_after_a_quoted_prompt_is_a_flag() {
    let world = World::new();
    let program = world.agent(WELL);
    let mut command = world.command();
    command.args(["run", "--agent", "pi", "--ladder", "high,low", "do this; \"then\" that", "--max-rounds", "2"]);
    world.start(command.args(short(&[])).args(["--", &program])).ends().ends(1, "stopped by rounds: 2 of 2");
}

#[test]
fn an_agent_that_refuses_at_once_is_no_loop_without_end() {
    let world = World::new();
    let came = world.run("echo 'nested session' >&2; exit 1", &["--backoff", "20ms", "--max-rounds", "460"]);
    came.ends(1, "stopped by agent-failures: 3 rounds in a row failed");
    assert_eq!((spawned(&world.journal()), waits(&world.journal(), "backoff") > 0), (3, true));
}

#[test]
fn a_cap_does_not_extend_itself() {
    let world = World::new();
    world.run(WELL, &["--max-rounds", "3"]).ends(1, "stopped by rounds: 3 of 3");
    // another start with the same cap has nothing left
    world.run(WELL, &["--max-rounds", "3"]).ends(1, "stopped by rounds: 3 of 3");
    let rounds: u64 = world.records().iter().map(|run| spawned(&journal_of(run))).sum();
    assert_eq!(rounds, 3);
}

#[test]
fn words_about_limits_are_no_limit() {
    for (end, stop) in [("bye", "stopped by rounds: 2 of 2"), ("exit 124", "stopped by agent-failures: 2 rounds")] {
        let world = World::new();
        let body = format!(
            "{SAYS}\ntext toolResult 'usage limit reached (429): your 5-hour limit is over'
            answer 'a review of rate limit code: too many requests, 429'; {end}"
        );
        let flags = ["--max-rounds", "2", "--max-failures", "2", "--limit-rounds", "1"];
        world.run(&body, &flags).ends(1, stop);
        assert_eq!(waits(&world.journal(), "limit"), 0, "{end}");
    }
}

#[test]
fn a_real_limit_is_waited_out_and_is_no_failure() {
    let world = World::new();
    let body = format!(
        r#"{SAYS}
        if [ "$FLYBALL_ROUND" = 1 ]; then
            printf '{{"type":"message_end","message":{{"role":"assistant","model":"m","responseId":"l","stopReason":"error","errorMessage":"usage limit reached (429)","usage":{{"input":0,"output":0,"totalTokens":0}},"content":[]}}}}\n'
            bye; exit 1
        fi
        answer 'done'; bye"#
    );
    let flags = ["--limit-backoff", "40ms", "--max-failures", "1", "--max-rounds", "2"];
    world.run(&body, &flags).ends(1, "stopped by rounds: 2 of 2");
    assert!(waits(&world.journal(), "limit") > 0);
}

#[test]
#[cfg(target_os = "linux")]
fn nothing_is_written_after_an_interrupt() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let world = World::new();
        let body = r#"cat >/dev/null; beat() { while :; do echo x >>beat; sleep 0.02; done; }
            beat & (setsid sh -c 'while :; do echo y >>beat; sleep 0.02; done' &)
            turn 1 400; echo $$ >"$here/pid"; wait"#;
        let (live, _) = at_work(&world, body, &[]);
        let beat = || fs::read_to_string(world.project.join("beat")).unwrap_or_default();
        until(|| beat().contains('x') && beat().contains('y'));
        live.signal(signal);
        let came = live.ends();
        assert!(came.stop().contains("stopped by interrupted"), "{}", came.err);
        // who could write is gone
        world.nothing_left();
    }
}

#[test]
fn ten_starts_under_a_lock_start_nothing() {
    let world = World::new();
    let (live, _) = at_work(&world, POLITE, &[]);
    for _ in 0..10 {
        assert_eq!(world.runs(WELL, &[]).output().unwrap().status.code(), Some(2));
    }
    live.signal(Signal::INT);
    live.ends().ends(130, "stopped by interrupted");
    assert_eq!((world.records().len(), spawned(&world.journal())), (1, 1));
    // and who goes on does not meet a lock of its own
    world.run(WELL, &["--max-rounds", "2", "--fresh"]).ends(1, "stopped by rounds");
}

#[test]
fn an_old_runs_folder_is_left_alone_and_tells_the_next_nothing() {
    let world = World::new();
    world.run(WELL, &["--max-rounds", "2"]).ends(1, "stopped by rounds");
    let old = world.records().pop().unwrap();
    let before = fs::read(old.join("journal.jsonl")).unwrap();
    fs::create_dir(world.project.join(".flyball/runs/not-a-run")).unwrap();
    fs::write(world.project.join(".flyball/runs/not-a-run/journal.jsonl"), "events\n").unwrap();
    world.run(WELL, &["--max-rounds", "2", "--fresh"]).ends(1, "stopped by rounds: 2 of 2");
    assert_eq!(fs::read(old.join("journal.jsonl")).unwrap(), before);
}

#[test]
fn marks_of_order_and_line_ends_of_other_systems_change_nothing() {
    let world = World::new();
    let write = |name: &str, text: &str| fs::write(world.project.join(name), format!("\u{feff}{text}")).unwrap();
    write("flyball.toml", "[controls]\r\nrounds = 3\r\n\r\n[oracle]\r\nchecks = \"checks.toml\"\r\n");
    write("checks.toml", "[[check]]\r\nname = \"one\"\r\ncommand = \"grep -q done out\"\r\n");
    write("first.md", "Round {round}.\r\n{task}\r\n");
    write("task.md", "do it\r\n");
    let body = r#"cat >>"$here/got"; turn 1 400; if [ "$FLYBALL_ROUND" = 2 ]; then printf '\357\273\277done\r\n' >out; fi; bye"#;
    let program = world.agent(body);
    let mut command = world.command();
    command.args(["run", "--agent", "pi", "--ladder", "high,low", "--prompt-template", "first.md"]);
    command.args(["--oracle", "regex:out:^done$", "--prompt-file"]).arg(world.project.join("task.md")).args(short(&[]));
    let came = world.start(command.args(["--", &program])).ends();
    came.ends(0, "stopped by oracle-passed");
    assert!(came.stop().contains("2 rounds"), "{}", came.err);
    let got = fs::read_to_string(world.path("got")).unwrap();
    assert!(got.starts_with("Round 1.\ndo it\r\n") && !got.contains('\u{feff}'), "{got:?}");
}

#[test]
fn files_of_nothing_are_refused_or_are_nothing() {
    let world = World::new();
    for name in ["flyball.toml", "empty"] {
        fs::write(world.project.join(name), "").unwrap();
    }
    world.run(WELL, &["--oracle", "regex:empty:^0$", "--max-rounds", "1"]).ends(1, "stopped by rounds: 1 of 1");
    for flags in [["--checks", "empty"], ["--features", "empty"]] {
        let came = world.run(WELL, &[&flags[..], &["--max-rounds", "1", "--fresh"]].concat());
        assert_eq!(came.code, 2, "{flags:?}: {}", came.err);
        came.says("empty");
    }
    fs::write(world.records().last().unwrap().join("state.json"), "").unwrap();
    let came = world.run(WELL, &["--max-rounds", "9"]);
    assert!(
        came.code != 0 && came.err.contains("state.json") || came.stop().contains("rounds: 9 of 9"),
        "{}",
        came.err
    );
}

#[test]
fn caps_that_hold_are_said_at_the_start_and_kept() {
    let world = World::new();
    fs::write(world.project.join("flyball.toml"), "[controls]\ncost = 5\nrounds = 7\n").unwrap();
    let came = world.run(WELL, &["--max-rounds", "1", "--budget", "2", "--max-wall", "1h", "--cap", "day.rounds=9"]);
    came.ends(1, "stopped by rounds")
        .says("stops at 1 round, 2.00M output tokens, $5.00, 1h00m of time, day.rounds=9 at the latest");
    let kept = fs::read_to_string(world.records()[0].join("config.json")).unwrap();
    let kept: serde_json::Value = serde_json::from_str(&kept).unwrap();
    assert!(kept.to_string().contains("controls.cost"), "{kept:#}");
}

#[test]
fn an_agent_that_commits_each_round_makes_progress() {
    let world = World::new();
    git(&world.project, &["init", "-q"]);
    git(&world.project, &["commit", "-qm", "one", "--allow-empty"]);
    // the tree is clean, and no file is another
    let commits = "cat >/dev/null; turn 1 400; git -c user.name=a -c user.email=a@a commit -qm more --allow-empty; bye";
    world.run(commits, &["--no-progress", "2", "--max-rounds", "4"]).ends(1, "stopped by rounds: 4 of 4");
    world.run(WELL, &["--no-progress", "2", "--max-rounds", "9"]).ends(1, "stopped by no-progress");
}

#[test]
fn work_counts_without_a_repository_and_in_one_within_another() {
    for nested in [false, true] {
        let world = World::new();
        fs::create_dir(world.project.join("inner")).unwrap();
        if nested {
            git(&world.project, &["init", "-q"]);
            git(&world.project.join("inner"), &["init", "-q"]);
        }
        let works = "cat >/dev/null; turn 1 400; echo line >>inner/work; bye";
        world.run(works, &["--no-progress", "2", "--max-rounds", "4"]).ends(1, "stopped by rounds: 4 of 4");
        let patch = fs::read_to_string(world.records()[0].join("rounds/0002/diff.patch")).unwrap();
        assert!(patch.contains("work") || nested && patch.contains("inner"), "{nested}: {patch}");
    }
}

#[test]
fn the_same_status_beside_other_files_is_no_stall() {
    let world = World::new();
    let body = format!("{SAYS}\necho 'task done' >STATUS; touch task-$FLYBALL_ROUND; answer 'task done'; bye");
    let flags = ["--no-progress", "2", "--same-error", "2", "--max-rounds", "5"];
    world.run(&body, &flags).ends(1, "stopped by rounds: 5 of 5");
}

#[test]
fn no_error_is_not_an_error() {
    let world = World::new();
    let body = r#"cat >/dev/null
        echo '{"type":"result","subtype":"success","is_error":false,"result":"no error: 0 errors"}'"#;
    let program = world.agent(body);
    let mut command = world.command();
    command.args(["run", "--agent", "claude", "--ladder", "high,low", "--effort", "high", "--same-error", "1"]);
    command.args(["--max-failures", "1", "--max-rounds", "3", "--budget", "0"]).args(short(&[]));
    world.start(command.args(["a task", "--", &program])).ends().ends(1, "stopped by rounds: 3 of 3");
}

#[test]
fn work_that_only_a_person_can_do_ends_it() {
    let world = World::new();
    let check = world.project.join("check.sh");
    fs::write(&check, "#!/bin/sh\necho 'all green'\necho 'flyball: blocked: sign the contract'\nexit 1\n").unwrap();
    fs::set_permissions(&check, fs::Permissions::from_mode(0o755)).unwrap();
    let came = world.run(WELL, &["--oracle", "cli:./check.sh", "--max-rounds", "99"]);
    came.ends(1, "stopped by blocked").says("sign the contract");
    assert_eq!(spawned(&world.journal()), 1);
}

#[test]
fn somebodys_unfinished_work_is_named_and_is_in_no_commit() {
    let world = World::new();
    git(&world.project, &["init", "-q"]);
    fs::write(world.project.join("mine"), "one\n").unwrap();
    git(&world.project, &["add", "."]);
    git(&world.project, &["commit", "-qm", "one"]);
    fs::write(world.project.join("mine"), "half of two\n").unwrap();
    fs::write(world.project.join("new"), "not added\n").unwrap();
    let body = "cat >/dev/null; turn 1 400; echo work >work; bye";
    world.run(body, &["--commit", "--max-rounds", "1"]).ends(1, "stopped by rounds").says("mine");
    let shown = Command::new("git").args(["show", "--stat", "--format="]).current_dir(&world.project).output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("work") && !shown.contains("mine") && !shown.contains("new"), "{shown}");
    assert_eq!(fs::read_to_string(world.project.join("mine")).unwrap(), "half of two\n");
}

#[test]
fn a_repository_in_the_midst_of_something_is_told_at_the_start() {
    let world = World::new();
    git(&world.project, &["init", "-q"]);
    fs::write(world.project.join("mine"), "one\n").unwrap();
    git(&world.project, &["add", "."]);
    git(&world.project, &["commit", "-qm", "one"]);
    git(&world.project, &["checkout", "-q", "--detach"]);
    let came = world.run(WELL, &["--max-rounds", "1"]);
    came.ends(1, "stopped by rounds").says("HEAD is detached at ").says("`git switch -c NAME` makes one");
}

#[test]
fn three_rounds_that_need_two_moves_have_two() {
    let world = World::new();
    let flags = ["--law", "reference", "--juice", "100", "--max-rounds", "3", "--effort", "high"];
    let program = world.agent(WELL);
    let mut command = world.command();
    command.args(["run", "--agent", "pi", "--ladder", "high,medium,low"]).args(short(&flags)).args(flags);
    world.start(command.args(["a task", "--", &program])).ends().ends(1, "stopped by rounds");
    assert_eq!(efforts(&world.journal()), ["high", "medium", "low"]);
}
