//! Every setting of the real loop: its key in a settings file, its flag, what it is where nobody says, and a line about it.
//!
//! It is the only list of them: the flags of `run`, its help, the keys that a settings file may have and what `init` writes are made
//! of it. The variable of the environment is the flag's name in capitals, with `FLYBALL_` before it.

use crate::engine::LawKind;
use crate::lab::scenario::Takes;

/// One setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// Its table in a settings file.
    pub table: &'static str,
    /// Its key there.
    pub name: &'static str,
    /// Its flag, without the dashes.
    pub flag: &'static str,
    /// What it is where nobody says; empty where that follows from something else.
    pub usual: &'static str,
    /// A cap that `--raise` may lift when a run goes on.
    pub cap: bool,
    /// What stands for its value.
    pub value: &'static str,
    /// How often its flag may be given.
    pub times: Times,
    /// What it is, in a line.
    pub help: &'static str,
}

/// How often a flag may be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// Once, with a value.
    Once,
    /// As often as there are values: the setting is a list.
    Many,
    /// It has no value: it is given or not.
    Switch,
}

const fn key(
    table: &'static str,
    name: &'static str,
    flag: &'static str,
    usual: &'static str,
    value: &'static str,
    help: &'static str,
) -> Key {
    Key { table, name, flag, usual, cap: false, value, times: Times::Once, help }
}

const fn cap(
    name: &'static str,
    flag: &'static str,
    usual: &'static str,
    value: &'static str,
    help: &'static str,
) -> Key {
    Key { cap: true, ..key("controls", name, flag, usual, value, help) }
}

const fn many(
    table: &'static str,
    name: &'static str,
    flag: &'static str,
    value: &'static str,
    help: &'static str,
) -> Key {
    Key { times: Times::Many, ..key(table, name, flag, "", value, help) }
}

const fn switch(table: &'static str, name: &'static str, flag: &'static str, help: &'static str) -> Key {
    Key { times: Times::Switch, ..key(table, name, flag, "false", "", help) }
}

/// All of them, table by table.
pub const KEYS: [Key; 63] = [
    key("governor", "law", "law", LawKind::DEFAULT.name(), "LAW", "The law; `reference` is the original's"),
    key("governor", "juice", "juice", "2000", "TOKENS", "The target, output tokens per turn of the model"),
    key("governor", "over", "over", "300s", "TIME", "The window"),
    key("governor", "slack", "slack", "0.15", "SHARE", "Half width of the band, a share of the target"),
    key("governor", "rest", "rest", "5s", "TIME", "The pause between rounds"),
    Key {
        cap: true,
        ..key("governor", "budget", "budget", "10", "MILLIONS", "Millions of output tokens, 0 for no limit")
    },
    key(
        "agent",
        "kind",
        "agent",
        "",
        "AGENT",
        "claude, codex, pi, opencode, gemini, copilot, command (any argv after --), or sim: no account needed",
    ),
    key("agent", "model", "model", "", "MODEL", "The model, as the agent's program calls it"),
    key("agent", "effort", "effort", "", "WORD", "The effort to start at; where nobody says, the model's own"),
    key(
        "agent",
        "ladder",
        "ladder",
        "",
        "WORDS",
        "The efforts, hardest first, with commas between; where nobody says, what is known of the model",
    ),
    key(
        "agent",
        "permissions",
        "permissions",
        "safe",
        "safe|skip",
        "What the agent may do unasked: safe is its program's own mode without a terminal, skip is anything",
    ),
    key("agent", "program", "program", "", "PATH", "The program to start in place of the agent's usual name"),
    // after `--`, not by a flag
    many("agent", "argv", "argv", "WORD", "The whole argv of the agent, in place of what its adapter makes"),
    many("agent", "arguments", "argument", "WORD", "A further argument for the agent's program; may be given again"),
    cap("rounds", "max-rounds", "none", "N", "Rounds of the whole loop"),
    cap("tokens", "max-tokens", "none", "MILLIONS", "Millions of tokens of all kinds"),
    cap("cost", "max-cost", "none", "USD", "US dollars, as the agent states its cost"),
    cap("wall", "max-wall", "none", "TIME", "Wall time of this invocation"),
    Key {
        times: Times::Many,
        ..cap(
            "shared",
            "cap",
            "",
            "SCOPE.KIND=VALUE",
            "A cap that runs share: project, day or group; rounds, budget, tokens, cost or wall, such as day.cost=20; may be given again",
        )
    },
    key("controls", "group", "group", "", "NAME", "The group of runs, over projects, that caps on `group` mean"),
    key("controls", "warn", "warn", "0.8", "SHARE", "The share of a cap at which to warn; 0 is never"),
    key("controls", "round", "round-cap", "45m", "TIME", "Wall time of one round: it is ended, the loop goes on"),
    key(
        "controls",
        "inactivity",
        "inactivity",
        "10m",
        "TIME",
        "Time without a sign of life in a round: it is ended, the loop goes on",
    ),
    key(
        "controls",
        "requests",
        "max-requests",
        "500",
        "N",
        "Requests to the model in one round: more of them stop the loop",
    ),
    key("controls", "failures", "max-failures", "3", "N", "Failed rounds in a row"),
    key(
        "controls",
        "on_agent_error",
        "on-agent-error",
        "go-on",
        "go-on|stop",
        "What a failed round does: go-on backs off until so many in a row, stop ends the loop",
    ),
    key("controls", "backoff", "backoff", "5s", "TIME", "The pause after a failed round, doubled for each further one"),
    key(
        "controls",
        "limit_wait",
        "limit-wait",
        "6h",
        "TIME",
        "The longest wait for a rate or session limit; a longer one stops the loop",
    ),
    key("controls", "limit_rounds", "limit-rounds", "10", "N", "Rounds in a row that such a limit may end"),
    key(
        "controls",
        "limit_backoff",
        "limit-backoff",
        "60s",
        "TIME",
        "The pause where a limit does not say when it ends, doubled for each further round",
    ),
    key(
        "controls",
        "no_progress",
        "no-progress",
        "",
        "N",
        "Rounds in a row that change nothing; 3 where there is an oracle, else none",
    ),
    key("controls", "same_error", "same-error", "none", "N", "Rounds in a row that end with the same error"),
    many(
        "controls",
        "kill_on",
        "kill-on",
        "RULE",
        "What gives up: oracle-pass, no-progress:N, same-error-repeats:N, agent-failures:N, regex:PATTERN, cli:COMMAND, python:FILE; may be given again",
    ),
    key("controls", "grace", "grace", "10s", "TIME", "How long an agent that was told to end may take"),
    key(
        "controls",
        "after_result",
        "after-result",
        "30s",
        "TIME",
        "How long an agent may go on after its closing line",
    ),
    key(
        "controls",
        "call_turns",
        "call-turns",
        "none",
        "N",
        "Requests of one round, for programs that take such a cap themselves",
    ),
    key(
        "controls",
        "call_cost",
        "call-cost",
        "none",
        "USD",
        "US dollars of one round, for programs that take such a cap themselves",
    ),
    switch("controls", "unlimited", "unlimited", "Run without any cap that ends the loop"),
    key(
        "oracle",
        "run",
        "oracle",
        "",
        "ORACLE",
        "What says that the task is done: cli:COMMAND, regex:FILE:PATTERN, python:FILE, judge:RUBRIC, all(A; B), any(A; B)",
    ),
    key(
        "oracle",
        "checks",
        "checks",
        "",
        "FILE",
        "A list of checks: all must pass, the first that fails is the round's task",
    ),
    key("oracle", "timeout", "oracle-timeout", "10m", "TIME", "How long one question to the oracle may take"),
    switch(
        "oracle",
        "strict",
        "oracle-strict",
        "Only exit codes 0 and 2 are answers of a command; any other stops the loop",
    ),
    key(
        "oracle",
        "blocked",
        "oracle-blocked",
        "none",
        "CODE",
        "The exit code by which a command says that nothing more can be done here",
    ),
    key(
        "oracle",
        "judge",
        "judge",
        "",
        "AGENT[/MODEL][:EFFORT]",
        "The agent that judges, in a session of its own; where nobody says, the loop's own",
    ),
    key(
        "oracle",
        "threshold",
        "threshold",
        "",
        "SCORE",
        "The score at which a judge's rubric is met; where nobody says, the rubric's own",
    ),
    many("oracle", "ignore", "ignore", "PATTERN", "Files whose change is no progress; may be given again"),
    key(
        "gate",
        "features",
        "features",
        "",
        "FILE",
        "A list of features of which the agent may flip `passes` alone; all passing is done",
    ),
    key(
        "gate",
        "test",
        "gate-test",
        "",
        "COMMAND",
        "How a feature's test is run, with {test} in it; a flip survives only if it passes",
    ),
    key(
        "gate",
        "folder",
        "gate-folder",
        "",
        "DIR",
        "Where it is run: outside the project, and not the agent's to write",
    ),
    switch("gate", "strict", "strict-gate", "Refuse a gate that the agent's user can write"),
    many("gate", "protect", "protect", "PATTERN", "Files that the agent must not change; may be given again"),
    key("gate", "on_change", "on-change", "restore", "restore|stop", "What follows where it does"),
    switch("git", "commit", "commit", "Commit what each round changed"),
    key("git", "branch", "branch", "", "NAME", "The branch on which to commit, made where it is not there"),
    key(
        "prompt",
        "first",
        "prompt-template",
        "",
        "FILE",
        "The template of the prompt; where nobody says, the task as it is",
    ),
    key(
        "prompt",
        "next",
        "continuation",
        "",
        "FILE",
        "The template of the prompts after the first; `usual` is flyball's own",
    ),
    key("prompt", "constraints", "constraints", "", "FILE", "Lines of which templates quote the first"),
    key("prompt", "most", "prompt-limit", "400000", "BYTES", "The most bytes of a prompt; it is cut with a note"),
    key(
        "sim",
        "scenario",
        "scenario",
        "",
        "FILE",
        "The scenario that the simulated agent plays; where nobody says, a typical one",
    ),
    key("sim", "seed", "seed", "1", "N", "What the simulated agent's luck comes from"),
    key("sim", "run", "run", "0", "N", "Which run of that seed"),
    key(
        "sim",
        "wire",
        "wire",
        "claude",
        "WIRE",
        "Whose lines it speaks: claude, claude-result-only, codex, pi, opencode",
    ),
    key("sim", "speed", "speed", "instant", "FACTOR", "How many times faster than real it plays, or instant"),
];

/// What the tables of a settings file are about, in their order.
pub const TABLES: [(&str, &str); 8] = [
    ("governor", "Governor"),
    ("agent", "Agent"),
    ("controls", "Caps and patience"),
    ("oracle", "Done or not"),
    ("gate", "What protects it"),
    ("git", "Git"),
    ("prompt", "Prompt"),
    ("sim", "Simulated agent"),
];

/// What stands for values that may be written as numbers.
const NUMBERS: [&str; 10] = ["TOKENS", "TIME", "SHARE", "MILLIONS", "USD", "N", "CODE", "SCORE", "BYTES", "FACTOR"];

/// The tables of a settings file with their keys, and how each is written.
#[must_use]
pub fn tables() -> Vec<(&'static str, Vec<(&'static str, Takes)>)> {
    let of = |table| KEYS.iter().filter(|key| key.table == table).map(|key| (key.name, key.takes())).collect();
    TABLES.into_iter().map(|(table, _)| (table, of(table))).collect()
}

impl Key {
    /// Its whole name, such as `governor.juice`.
    #[must_use]
    pub fn full(&self) -> String {
        format!("{}.{}", self.table, self.name)
    }

    /// Its variable of the environment.
    #[must_use]
    pub fn variable(&self) -> String {
        format!("FLYBALL_{}", self.flag.to_ascii_uppercase().replace('-', "_"))
    }

    /// How its value is written in a settings file.
    #[must_use]
    pub fn takes(&self) -> Takes {
        match self.times {
            Times::Switch => Takes::Truth,
            Times::Many => Takes::Texts,
            // a ladder, and a program with its first arguments, are one flag each
            Times::Once if matches!(self.flag, "ladder" | "program") => Takes::Texts,
            Times::Once if NUMBERS.contains(&self.value) => Takes::Number,
            Times::Once => Takes::Text,
        }
    }

    /// The one with this flag.
    #[must_use]
    pub fn of_flag(flag: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.flag == flag)
    }

    /// What its table is about.
    #[must_use]
    pub fn about(&self) -> &'static str {
        TABLES.iter().find(|(table, _)| *table == self.table).map_or("", |(_, about)| about)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_a_table_and_a_flag_of_its_own() {
        for key in &KEYS {
            assert!(TABLES.iter().any(|(table, _)| *table == key.table), "{key:?}");
            assert_eq!(KEYS.iter().filter(|other| other.flag == key.flag).count(), 1, "{key:?}");
            assert_eq!(KEYS.iter().filter(|other| other.full() == key.full()).count(), 1, "{key:?}");
            assert!(!key.help.is_empty() && !key.help.ends_with('.'), "{key:?}");
        }
    }
    #[test]
    fn what_an_agent_finds_in_its_environment_is_no_setting_of_a_flyball_that_it_starts() {
        use crate::agents::adapter::ASKED;
        use crate::run::agent::{NOW_VARIABLE, RECORD_VARIABLE, ROUND_VARIABLE};
        let all = KEYS.map(|key| key.variable());
        for told in ASKED.into_iter().chain([NOW_VARIABLE, RECORD_VARIABLE, ROUND_VARIABLE]) {
            assert!(told.starts_with("FLYBALL_") && !all.iter().any(|variable| variable == told), "{told}");
        }
    }
}
