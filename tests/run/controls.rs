//! Every control, and every pair of them that can fire in one round, driven to fire by an agent that is told to: the last line, the exit
//! code and the record, through the binary.

use std::fs;

use serde_json::Value;

use crate::world::{Came, World, short, until};

/// One control, and what makes it fire.
#[derive(Clone, Copy, Debug)]
struct Fires {
    /// Its stable name.
    name: &'static str,
    /// Its exit code.
    code: i32,
    flags: &'static [&'static str],
    /// What the agent does, at the place in the script that [`Act`] has.
    acts: &'static [Act],
}

/// What an agent does, in the order in which it does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Act {
    /// Ctrl-C for the runner.
    Interrupts,
    /// Last words that a rule looks for.
    GivesUp,
    /// It answers, and nobody says what that was.
    Uncounted,
    /// A second and a third turn.
    Turns,
    /// The backend's limit.
    Limited,
    /// An error.
    Fails,
    /// Stays until it is told to leave.
    Stays,
}

impl Act {
    const fn lines(self) -> &'static str {
        match self {
            Self::Uncounted => ":",
            Self::Turns => "turn 2 400; turn 3 400",
            Self::GivesUp => "message stop 'GIVE UP' '' 5",
            Self::Limited => "message error '' 'usage limit reached (429)' 0; bye; exit 0",
            Self::Fails => "message error '' 'boom' 3; bye; exit 0",
            Self::Interrupts => "kill -INT $PPID",
            Self::Stays => "trap 'exit 0' TERM; while :; do sleep 0.01; done",
        }
    }
}

/// What the agent's script begins with: answers with text, an error and a count. It hears no signal until it has said all.
const SAYS: &str = r#"trap '' TERM INT
    message() {
        usage="\"usage\":{\"input\":10,\"output\":$4,\"totalTokens\":$(($4 + 10)),\"cost\":{\"total\":0.5}},"
        printf '{"type":"message_end","message":{"role":"assistant","model":"m","responseId":"m%s-%s","stopReason":"%s",%s' "$FLYBALL_ROUND" "$4" "$1" "$usage"
        if [ -n "$3" ]; then printf '"errorMessage":"%s",' "$3"; fi
        printf '"content":[{"type":"text","text":"%s"}]}}\n' "$2"
    }
    cat >/dev/null"#;

/// A turn of 400 tokens.
const HELLO: &str = "message stop 'hello' '' 400";

/// In the documented order.
const ALL: [Fires; 16] = [
    Fires { name: "interrupted", code: 130, flags: &[], acts: &[Act::Interrupts, Act::Stays] },
    Fires { name: "kill-on", code: 1, flags: &["--kill-on", "regex:^GIVE UP$"], acts: &[Act::GivesUp] },
    Fires { name: "wall", code: 1, flags: &["--max-wall", "400ms"], acts: &[Act::Stays] },
    Fires { name: "oracle-passed", code: 0, flags: &["--oracle", "cli:true"], acts: &[] },
    Fires { name: "blocked", code: 1, flags: &["--oracle", "cli:sh -c 'echo flyball: blocked; exit 1'"], acts: &[] },
    Fires { name: "oracle-error", code: 3, flags: &["--oracle", "cli:no-such-program"], acts: &[] },
    Fires { name: "unmetered", code: 1, flags: &[], acts: &[Act::Uncounted] },
    Fires { name: "requests", code: 1, flags: &["--max-requests", "1"], acts: &[Act::Turns, Act::Stays] },
    Fires { name: "limit", code: 1, flags: &["--limit-rounds", "1"], acts: &[Act::Limited] },
    Fires { name: "agent-failures", code: 1, flags: &["--max-failures", "1"], acts: &[Act::Fails] },
    Fires { name: "same-error", code: 1, flags: &["--same-error", "1"], acts: &[Act::Fails] },
    Fires { name: "no-progress", code: 1, flags: &["--no-progress", "1"], acts: &[] },
    Fires { name: "budget", code: 1, flags: &["--budget", "0.0001"], acts: &[] },
    Fires { name: "tokens", code: 1, flags: &["--max-tokens", "0.0001"], acts: &[] },
    Fires { name: "cost", code: 1, flags: &["--max-cost", "0.25"], acts: &[] },
    Fires { name: "rounds", code: 1, flags: &["--max-rounds", "1"], acts: &[] },
];

impl Fires {
    /// Whether the two exclude each other: by a setting of which there is one, or because an agent cannot do both.
    fn excludes(&self, other: &Self) -> bool {
        let same_flag = self.flags.first().is_some_and(|flag| other.flags.first() == Some(flag));
        let error = |fires: &Self| fires.acts.iter().find(|act| matches!(act, Act::Limited | Act::Fails)).copied();
        let two_errors = matches!((error(self), error(other)), (Some(one), Some(two)) if one != two);
        let stays = |fires: &Self| fires.acts.contains(&Act::Stays);
        let one_leaves = error(self).is_some() && stays(other) || stays(self) && error(other).is_some();
        let counts = ["kill-on", "requests", "limit", "agent-failures", "same-error", "budget", "tokens", "cost"];
        let nothing_counted = self.name == "unmetered" && counts.contains(&other.name)
            || other.name == "unmetered" && counts.contains(&self.name);
        // too many requests end a round before its wall does
        let too_early = (self.name, other.name) == ("wall", "requests");
        same_flag || two_errors || one_leaves || nothing_counted || too_early
    }
}
/// One round of an agent that fires all of these.
fn run(fires: &[&Fires]) -> (World, Came) {
    let mut acts: Vec<Act> = fires.iter().flat_map(|fires| fires.acts).copied().collect();
    acts.sort_unstable();
    acts.dedup();
    let lines: Vec<&str> = acts.iter().map(|act| act.lines()).collect();
    let mut flags: Vec<&str> = fires.iter().flat_map(|fires| fires.flags).copied().collect();
    for (flag, value) in [("--limit-wait", "1h"), ("--max-failures", "9")] {
        if !flags.contains(&flag) {
            flags.extend([flag, value]);
        }
    }
    // nobody knows what a program of the person's own spends
    let (kind, hello) = if acts.contains(&Act::Uncounted) { ("command", "") } else { ("pi", HELLO) };
    let world = World::new();
    let program = world.agent(&format!("{SAYS}\n{hello}\n{}\nbye", lines.join("\n")));
    let mut command = world.command();
    command.args(["run", "--agent", kind, "--ladder", "high,medium,low", "--effort", "medium"]).args(short(&flags));
    command.args(flags).args(["a task", "--", &program]);
    let came = world.start(&mut command).ends();
    (world, came)
}

#[track_caller]
fn stopped(world: &World, came: &Came, expected: &Fires, fires: &[&Fires]) {
    let names: Vec<&str> = fires.iter().map(|fires| fires.name).collect();
    assert!(
        came.code == expected.code && came.stop().starts_with(&format!("flyball: stopped by {}: ", expected.name)),
        "{names:?}: code {}\n{}\n{}",
        came.code,
        came.out,
        came.err
    );
    assert_eq!(world.state()["stopped"], expected.name, "{names:?}");
    let last = world.journal().lines.pop().unwrap();
    assert_eq!(serde_json::to_value(&last.record).unwrap()["control"], expected.name, "{names:?}");
    let history = fs::read_to_string(world.project.join(".flyball/history.jsonl")).unwrap();
    let over: Value = serde_json::from_str(history.lines().last().unwrap()).unwrap();
    assert_eq!((&over["control"], &over["exit"]), (&expected.name.into(), &expected.code.into()), "{names:?}");
    let progress = fs::read_to_string(world.project.join(".flyball/progress.txt")).unwrap();
    let line = format!("[flyball] stopped by {}: ", expected.name);
    assert!(progress.lines().last().unwrap().contains(&line), "{names:?}: {progress}");
    world.nothing_left();
}

#[test]
fn each_fires_with_its_line_its_code_and_its_record() {
    for fires in &ALL {
        let (world, came) = run(&[fires]);
        stopped(&world, &came, fires, &[fires]);
    }
}

#[test]
fn of_two_that_fire_in_one_round_the_earlier_is_named() {
    let mut pairs = 0;
    for (at, first) in ALL.iter().enumerate() {
        for second in &ALL[at + 1..] {
            if first.excludes(second) {
                continue;
            }
            let both = [first, second];
            let (world, came) = run(&both);
            stopped(&world, &came, first, &both);
            pairs += 1;
        }
    }
    assert!(pairs >= 80, "{pairs}");
}

#[test]
fn a_strict_loop_stops_at_the_first_failure() {
    let world = World::new();
    let body = format!("{SAYS}\n{}", Act::Fails.lines());
    world.run(&body, &["--on-agent-error", "stop"]).ends(1, "stopped by agent-failures: 1 round in a row failed");
}

#[test]
fn success_on_the_last_round_that_is_allowed_is_success() {
    let world = World::new();
    let body = format!("{SAYS}\n{HELLO}\nif [ \"$FLYBALL_ROUND\" -ge 2 ]; then touch done; fi\nbye");
    let flags = ["--max-rounds", "2", "--budget", "0.0008", "--oracle", "cli:test -e done"];
    world.run(&body, &flags).ends(0, "stopped by oracle-passed");
}

#[test]
fn caps_of_a_day_a_project_and_a_group_hold_over_runs() {
    let world = World::new();
    let state = world.path("state");
    let go = |cap: &str, more: &[&str]| {
        let program = world.agent(&format!("{SAYS}\n{HELLO}\nbye"));
        let mut command = world.command();
        command.env("XDG_STATE_HOME", &state);
        command.args(["run", "--agent", "pi", "--ladder", "high,low", "--fresh", "--cap", cap]).args(short(&[]));
        command.args(more).args(["a task", "--", &program]);
        world.start(&mut command).ends()
    };
    go("day.rounds=5", &["--max-rounds", "3"]).ends(1, "stopped by rounds: 3 of 3 rounds");
    go("day.rounds=5", &[]).ends(1, "stopped by rounds: the day's cap of 5 rounds");
    go("project.cost=3.5", &[]).ends(1, "stopped by cost: the project's cap of $3.50");
    go("group.rounds=2", &["--group", "g"]).ends(1, "stopped by rounds: the group's cap of 2 rounds");
    go("group.rounds=2", &["--group", "g"]).ends(1, "stopped by rounds: the group's cap of 2 rounds");
    assert_eq!(go("group.rounds=2", &[]).says("no group is named").code, 2);
    let rounds: usize =
        world.records().iter().map(|run| fs::read_dir(run.join("rounds")).map_or(0, Iterator::count)).sum();
    assert_eq!(rounds, 3 + 2 + 2 + 2, "of the last run none was begun");
}

#[test]
fn people_are_warned_of_a_cap_that_is_near_and_of_a_round_that_runs_away() {
    let world = World::new();
    let flags = ["--budget", "0.001", "--max-rounds", "40", "--warn", "0.5"];
    let came = world.run(&format!("{SAYS}\n{HELLO}\nbye"), &flags);
    came.ends(1, "stopped by budget").says("50% of the cap on budget is reached").says("ran away");
}

#[test]
fn a_question_that_was_interrupted_on_the_last_round_is_asked_again() {
    let world = World::new();
    let oracle = world.path("oracle.sh").display().to_string();
    // waits where it is asked the first time, and says so
    let script = "if [ -e \"$0.asked\" ]; then exit 0; fi; touch \"$0.asked\"; sleep 600";
    fs::write(&oracle, script).unwrap();
    let asks = format!("cli:sh {oracle}");
    let body = format!("{SAYS}\n{HELLO}\nbye");
    let mut command = world.runs(&body, &["--max-rounds", "1", "--oracle", &asks]);
    let live = world.start(&mut command);
    until(|| world.path("oracle.sh.asked").exists());
    live.signal(rustix::process::Signal::INT);
    live.ends().ends(130, "stopped by interrupted");
    world.start(&mut command).ends().ends(0, "stopped by oracle-passed");
}

#[test]
fn whoever_goes_on_after_a_stop_has_patience_again_and_raises_only_what_is_raised() {
    let world = World::new();
    let body = format!("{SAYS}\n{}", Act::Fails.lines());
    let mut command = world.runs(&body, &["--max-failures", "2", "--max-rounds", "9"]);
    world.start(&mut command).ends().ends(1, "stopped by agent-failures: 2 rounds in a row failed; 2 rounds");
    let args: Vec<std::ffi::OsString> = command.get_args().map(ToOwned::to_owned).collect();
    // flags stand before the task and the agent
    let again = |more: &[&str]| {
        let mut command = world.command();
        command.arg(&args[0]).args(more).args(&args[1..]);
        world.start(&mut command).ends()
    };
    again(&["--resume"]).ends(1, "stopped by agent-failures: 2 rounds in a row failed; 4 rounds");
    for raise in ["rounds=9", "rounds=3"] {
        let came = again(&["--resume", "--raise", raise]);
        assert_eq!(came.code, 2, "{raise}");
        came.says("controls.rounds is 9, and this would not raise it");
    }
    again(&["--resume", "--raise", "rounds=20"]).says("controls.rounds was raised from 9 to 20");
}

#[test]
fn a_question_that_the_wall_cuts_off_is_no_broken_oracle() {
    for flags in [["--oracle", "cli:sleep 600"], ["--kill-on", "cli:sleep 600"]] {
        let world = World::new();
        let flags = [&["--max-wall", "700ms"][..], &flags].concat();
        world.run(&format!("{SAYS}\n{HELLO}\nbye"), &flags).ends(1, "stopped by wall");
    }
}

#[test]
fn a_bracket_that_is_not_closed_is_no_program() {
    let world = World::new();
    let came = world.run(&format!("{SAYS}\n{HELLO}\nbye"), &["--max-rounds", "1", "--oracle", "all(cli:true"]);
    assert_eq!(came.code, 2);
    came.says("a bracket is not closed");
}

#[test]
fn a_judge_sees_what_this_round_has_changed() {
    let world = World::new();
    fs::write(world.project.join("rubric.md"), "---\nthreshold: 4\n---\nTHE RUBRIC\n").unwrap();
    let body = r#"asked=$(cat)
    case "$asked" in
        *"THE RUBRIC"*"+line 1"*) says='score: 5';;
        *"THE RUBRIC"*) says='score: 1';;
        *) echo "line $FLYBALL_ROUND" >>a.txt; says=done;;
    esac"#;
    let says = SAYS.replace("cat >/dev/null", body);
    let flags = ["--max-rounds", "1", "--oracle", "judge:rubric.md"];
    let came = world.run(&format!("{says}\nmessage stop \"$says\" '' 400\nbye"), &flags);
    came.ends(0, "stopped by oracle-passed");
}

#[test]
fn a_rubric_that_says_no_score_is_refused_before_anything_is_spent() {
    for (rubric, flags, words) in [
        ("Is it good?\n", &[][..], "it says no score that passes: begin it with `threshold: 4.0`"),
        ("---\nthreshold: high\n---\nx\n", &["--threshold", "4"], "`high` is no threshold"),
        ("---\nthreshold: 4\nx\n", &[], "no second one"),
    ] {
        let world = World::new();
        fs::write(world.project.join("rubric.md"), rubric).unwrap();
        let oracle = ["--max-rounds", "1", "--oracle", "all(cli:false; judge:rubric.md)"];
        let came = world.run("cat >/dev/null; turn 1 400; bye", &[&oracle[..], flags].concat());
        assert_eq!(came.code, 2, "{}", came.err);
        came.says("the rubric rubric.md: ").says(words);
        assert!(world.records().is_empty(), "nothing was begun");
    }
    let world = World::new();
    fs::write(world.project.join("rubric.md"), "Is it good?\n").unwrap();
    let flags = ["--max-rounds", "1", "--oracle", "all(cli:false; judge:rubric.md)", "--threshold", "4"];
    world.run("cat >/dev/null; turn 1 400; bye", &flags).ends(1, "stopped by rounds");
}
