//! A case through `flyball run`: an agent that is a program, a project that it changes, and an oracle that is asked by its exit code.
//!
//! What the agent says in each round at each effort, how it leaves, and what the oracle answers lie ready in files, made from the same luck
//! and script as the simulator's. Time is real and nothing hangs on it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use flyball::engine::{Answer, Asks, Control, MicroUsd, Tokens};
use flyball::sim::{Left, Outcomes as _, RoundDraw};
use flyball::trace::{Record, read};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::case::{Case, ROUNDS, WORDS};

/// What `flyball run` came to.
pub(crate) struct Real {
    pub(crate) control: Control,
    pub(crate) code: i32,
    pub(crate) spent: (Tokens, Tokens, MicroUsd),
    pub(crate) rounds: Vec<(String, u64, u64)>,
    /// What it said.
    pub(crate) said: String,
}

/// Reads its prompt, changes the project, says what lies ready, and leaves as it is told to.
const AGENT: &str = r#"#!/bin/sh
here=$(dirname "$0")
cat >/dev/null
round=$FLYBALL_ROUND
echo "$round" >"$here/now"
[ -e "$here/change-$round" ] && echo "$round" >work
cat "$here/say-$round-$FLYBALL_ASKED_EFFORT"
[ -e "$here/hang-$round-$FLYBALL_ASKED_EFFORT" ] && exec sleep 600
exit "$(cat "$here/code-$round")"
"#;

/// Answers for the last round.
const ORACLE: &str = r#"#!/bin/sh
here=$(dirname "$0")
round=$(cat "$here/now" 2>/dev/null || echo 0)
exit "$(cat "$here/answer-$round" 2>/dev/null || echo 1)"
"#;

/// The exit code by which the oracle says that nothing more can be done.
const BLOCKED: &str = "7";

/// Runs a case whose rounds leave this behind.
pub(crate) fn through_processes(case: &Case, lefts: &[Left]) -> Real {
    let dir = TempDir::new().unwrap();
    let home = dir.path().canonicalize().unwrap();
    let project = home.join("project");
    fs::create_dir_all(&project).unwrap();
    program(&home.join("agent"), AGENT);
    program(&home.join("oracle"), ORACLE);
    rounds(&home, case, lefts);
    let oracle = format!("cli:{}", home.join("oracle").display());
    let mut command = Command::new(env!("CARGO_BIN_EXE_flyball"));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("FLYBALL_")) {
        command.env_remove(name);
    }
    command.current_dir(&project).stdin(Stdio::null());
    command.env("XDG_CONFIG_HOME", home.join("config")).env("XDG_STATE_HOME", home.join("state"));
    command.args(["run", "--agent", "pi", "--ladder", &WORDS.join(","), "--effort", &case.plan.configured]);
    command.args(flags(case));
    if case.plan.verify != Asks::Never {
        command.args(["--oracle", &oracle, "--oracle-blocked", BLOCKED]);
    }
    let ran = command.args(["a task", "--"]).arg(home.join("agent")).output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    let code = ran.status.code().unwrap_or_else(|| panic!("{said}"));
    came(&project, code, said)
}

fn program(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// The case's controls as flags.
fn flags(case: &Case) -> Vec<String> {
    let limits = &case.plan.limits;
    let [law, over, slack] = case.governor();
    let none = || "none".to_owned();
    let millionths = |count: Option<u64>| count.map_or_else(none, |count| format!("{count}e-6"));
    let whole = |count: Option<u64>| count.map_or_else(none, |count| count.to_string());
    let few = |count: Option<std::num::NonZeroU32>| whole(count.map(|count| count.get().into()));
    let pairs = [
        ("--law", law),
        ("--juice", "600".to_owned()),
        ("--over", over),
        ("--slack", slack),
        ("--rest", "0s".to_owned()),
        ("--backoff", "0s".to_owned()),
        ("--limit-backoff", "0s".to_owned()),
        ("--grace", "300ms".to_owned()),
        ("--budget", limits.budget.map_or_else(|| "0".to_owned(), |tokens| millionths(Some(tokens.count())))),
        ("--max-tokens", millionths(limits.tokens.map(Tokens::count))),
        ("--max-cost", millionths(limits.cost.map(MicroUsd::count))),
        ("--max-rounds", whole(limits.rounds.map(std::num::NonZeroU64::get))),
        ("--max-requests", whole(limits.requests.map(std::num::NonZeroU64::get))),
        ("--max-failures", few(limits.agent_failures)),
        ("--no-progress", few(limits.no_progress)),
        ("--limit-wait", none()),
        ("--limit-rounds", few(limits.limited)),
    ];
    let mut flags: Vec<String> = pairs.into_iter().flat_map(|(flag, value)| [flag.to_owned(), value]).collect();
    if case.outcome.spec().kill_on > 0.0 {
        flags.extend(["--kill-on".to_owned(), "regex:enough of this".to_owned()]);
    }
    flags
}

/// Lays down what is said and done in each round.
fn rounds(home: &Path, case: &Case, lefts: &[Left]) {
    let mut luck = case.agent.luck(77, case.number, ROUNDS);
    let (mut script, mut draw) = (case.script(), RoundDraw::default());
    let mut before = script.found();
    let most = case.plan.limits.requests.map_or(usize::MAX, |cap| usize::try_from(cap.get()).unwrap() + 1);
    for (number, left) in (1_u32..).zip(lefts) {
        let (round, mut well) = (number - 1, true);
        for (rung, effort) in WORDS.iter().enumerate() {
            luck.realise(rung, round, &mut draw);
            let fate = script.fate(round, draw.tokens.len());
            well = fate.exit == flyball::engine::RoundExit::Done;
            let turns = fate.turns.min(most);
            let mut lines = vec![json!({"type": "session", "id": format!("s{number}")})];
            for (turn, tokens) in draw.tokens[..turns].iter().enumerate() {
                let last = turn + 1 == turns;
                let text = if last && left.kill_on { "enough of this" } else { "" };
                lines.push(answer(case, &format!("r{number}-{turn}"), u64::from(*tokens), text));
            }
            if turns == most {
                fs::write(home.join(format!("hang-{number}-{effort}")), "").unwrap();
            } else if fate.limit.is_some() {
                let message = json!({"role": "assistant", "model": "m", "content": [], "stopReason": "error",
                                     "errorMessage": "429 rate limit exceeded"});
                lines.push(json!({"type": "message_end", "message": message}));
                lines.push(json!({"type": "agent_end", "willRetry": false}));
            } else if well {
                lines.push(json!({"type": "agent_end", "willRetry": false}));
            }
            let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
            fs::write(home.join(format!("say-{number}-{effort}")), text).unwrap();
        }
        fs::write(home.join(format!("code-{number}")), u8::from(!well).to_string()).unwrap();
        if left.tree != before {
            fs::write(home.join(format!("change-{number}")), "").unwrap();
        }
        before = left.tree;
        let code = match left.answer {
            Answer::Pass => "0",
            Answer::Fail => "1",
            Answer::Blocked => BLOCKED,
            Answer::Error => "127",
        };
        fs::write(home.join(format!("answer-{number}")), code).unwrap();
    }
}

/// An answer in pi's words.
fn answer(case: &Case, id: &str, output: u64, text: &str) -> Value {
    let (input, cost) = (case.usage.input.count(), case.usage.cost(output).unwrap().count());
    let dollars: Value = serde_json::from_str(&format!("{}.{:06}", cost / 1_000_000, cost % 1_000_000)).unwrap();
    let usage = json!({"input": input, "output": output, "cacheRead": 0, "cacheWrite": 0, "totalTokens": input + output,
                       "cost": {"total": dollars}});
    json!({"type": "message_end", "message": {"role": "assistant", "model": "m", "responseId": id, "stopReason": "stop",
           "content": [{"type": "text", "text": text}], "usage": usage}})
}

/// What the journal says.
fn came(project: &Path, code: i32, said: String) -> Real {
    let runs = fs::read_dir(project.join(".flyball/runs")).unwrap_or_else(|error| panic!("{error}: {said}"));
    let run = runs.map(|entry| entry.unwrap().path()).find(|path| path.join("journal.jsonl").exists());
    let journal = fs::read(run.unwrap().join("journal.jsonl")).unwrap();
    let trace = read(&journal[..]).unwrap();
    let (mut control, mut spent) = (None, (Tokens::ZERO, Tokens::ZERO, MicroUsd::ZERO));
    let mut rounds: Vec<(String, u64, u64)> = Vec::new();
    for line in &trace.lines {
        if let Some(added) = line.record.adds() {
            spent = (spent.0.plus(added.output), spent.1.plus(added.tokens), spent.2.plus(added.cost));
            if let Some((_, turns, output)) = rounds.last_mut() {
                *turns += 1;
                *output += added.output.count();
            }
        }
        if let Record::Spawn { effort, .. } = &line.record {
            rounds.push((effort.clone(), 0, 0));
        }
        if let Record::Stop { control: stop } = &line.record {
            control = Some(stop.0);
        }
    }
    Real { control: control.unwrap_or_else(|| panic!("{said}")), code, spent, rounds, said }
}
