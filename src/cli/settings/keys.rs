//! Every setting of the real loop: its key in a settings file, its flag, and what it is where nobody says.
//!
//! The variable of the environment is the flag's name in capitals, with `FLYBALL_` before it.

use crate::engine::LawKind;

/// One setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// Its table in a settings file.
    pub table: &'static str,
    /// Its key there.
    pub name: &'static str,
    /// Its flag, without the dashes.
    pub flag: &'static str,
    /// What it is where nobody says; empty where that follows from the agent.
    pub usual: &'static str,
    /// A cap that `--raise` may lift when a run goes on.
    pub cap: bool,
}

const fn key(table: &'static str, name: &'static str, flag: &'static str, usual: &'static str) -> Key {
    Key { table, name, flag, usual, cap: false }
}

const fn cap(name: &'static str, flag: &'static str, usual: &'static str) -> Key {
    Key { table: "controls", name, flag, usual, cap: true }
}

/// All of them.
pub const KEYS: [Key; 33] = [
    key("governor", "law", "law", LawKind::DEFAULT.name()),
    key("governor", "juice", "juice", "2000"),
    key("governor", "over", "over", "300s"),
    key("governor", "slack", "slack", "0.15"),
    key("governor", "rest", "rest", "5s"),
    Key { table: "governor", name: "budget", flag: "budget", usual: "10", cap: true },
    key("agent", "kind", "agent", ""),
    key("agent", "model", "model", ""),
    key("agent", "effort", "effort", ""),
    key("agent", "ladder", "ladder", ""),
    key("agent", "permissions", "permissions", "safe"),
    key("agent", "program", "program", ""),
    key("agent", "argv", "argv", ""),
    key("agent", "arguments", "argument", ""),
    cap("rounds", "max-rounds", "none"),
    cap("tokens", "max-tokens", "none"),
    cap("cost", "max-cost", "none"),
    cap("wall", "max-wall", "none"),
    key("controls", "round", "round-cap", "45m"),
    key("controls", "inactivity", "inactivity", "10m"),
    key("controls", "requests", "max-requests", "500"),
    key("controls", "failures", "max-failures", "3"),
    key("controls", "backoff", "backoff", "5s"),
    key("controls", "grace", "grace", "10s"),
    key("controls", "after_result", "after-result", "30s"),
    key("controls", "call_turns", "call-turns", "none"),
    key("controls", "call_cost", "call-cost", "none"),
    key("controls", "unlimited", "unlimited", "false"),
    key("sim", "scenario", "scenario", ""),
    key("sim", "seed", "seed", "1"),
    key("sim", "run", "run", "0"),
    key("sim", "wire", "wire", "claude"),
    key("sim", "speed", "speed", "instant"),
];

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

    /// The one with this flag.
    #[must_use]
    pub fn of_flag(flag: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.flag == flag)
    }
}

/// The tables of a settings file with their keys.
pub const TABLES: [(&str, &[&str]); 4] = [
    ("governor", &["law", "juice", "over", "slack", "rest", "budget"]),
    ("agent", &["kind", "model", "effort", "ladder", "permissions", "program", "argv", "arguments"]),
    (
        "controls",
        &[
            "rounds",
            "tokens",
            "cost",
            "wall",
            "round",
            "inactivity",
            "requests",
            "failures",
            "backoff",
            "grace",
            "after_result",
            "call_turns",
            "call_cost",
            "unlimited",
        ],
    ),
    ("sim", &["scenario", "seed", "run", "wire", "speed"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_in_its_table_once_and_has_a_flag_of_its_own() {
        let listed: usize = TABLES.iter().map(|(_, keys)| keys.len()).sum();
        assert_eq!(listed, KEYS.len());
        for key in &KEYS {
            assert!(TABLES.iter().any(|(table, keys)| *table == key.table && keys.contains(&key.name)), "{key:?}");
            assert_eq!(KEYS.iter().filter(|other| other.flag == key.flag).count(), 1, "{key:?}");
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
