//! The texts that `init` writes. The settings are made of the list of all settings, so that none is forgotten.

use super::kinds::Kind;
use crate::cli::settings::gather::USUAL_FILE;
use crate::cli::settings::keys::{KEYS, Key, TABLES, Times};

/// The check list's name.
pub(super) const CHECKS: &str = "checks.toml";
/// The container recipe's name.
pub(super) const CONTAINER: &str = "Containerfile";
const RECIPE: &str = include_str!("Containerfile");
const IMAGE: &str = "debian:stable-slim";

/// The files: name and text.
pub(super) fn files(kinds: &[Kind]) -> [(&'static str, String); 3] {
    [(USUAL_FILE, settings(kinds)), (CHECKS, checks(kinds)), (CONTAINER, container(kinds))]
}

/// What is set for this project: full name and value.
fn set(kinds: &[Kind]) -> Vec<(&'static str, String)> {
    let mut set = vec![("controls.rounds", "20".to_owned())];
    if !kinds.is_empty() {
        set.push(("oracle.checks", format!("{CHECKS:?}")));
        set.push(("gate.protect", format!("[{USUAL_FILE:?}, {CHECKS:?}]")));
    }
    set
}

fn settings(kinds: &[Kind]) -> String {
    let mut text = String::from(
        "# Settings of flyball run in this project. What stands behind a `#` is what holds where nobody says.\n\
         # A flag beats a variable of the environment (FLYBALL_ and the flag's name), that beats this file, this beats your own file in the\n\
         # config folder. `flyball run --print-config` shows what holds and where it comes from.\n",
    );
    let set = set(kinds);
    for (table, about) in TABLES {
        text.push_str(&format!("\n# {about}.\n[{table}]\n"));
        for key in KEYS.iter().filter(|key| key.table == table) {
            let said = set.iter().find(|(full, _)| *full == key.full());
            text.push_str(&format!("# {}.\n", key.help));
            match said {
                Some((_, value)) => text.push_str(&format!("{} = {value}\n", key.name)),
                None => text.push_str(&format!("# {} = {}\n", key.name, usual(key))),
            }
        }
    }
    text
}

/// What a setting is where nobody says, as a value.
fn usual(key: &Key) -> String {
    let number = !key.usual.is_empty() && key.usual.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    match key.times {
        Times::Many => "[]".to_owned(),
        Times::Switch => key.usual.to_owned(),
        Times::Once if number => key.usual.to_owned(),
        Times::Once => format!("{:?}", key.usual),
    }
}

fn checks(kinds: &[Kind]) -> String {
    let mut text = String::from(
        "# What must hold for the task to be done: all checks are run in this order before the first round, after every round and on every start.\n\
         # The first that fails is the next round's task. Exit code 0 passes; a check that cannot be run stops the loop.\n\
         # A command is split at spaces and goes through no shell; `argv = [\"a\", \"b\"]` says it word by word.\n",
    );
    for (name, command, task) in kinds.iter().flat_map(|kind| kind.checks) {
        text.push_str(&format!(
            "\n[[check]]\nname = {name:?}\ncommand = {command:?}\ntimeout = \"10m\"\ntask = {task:?}\n"
        ));
    }
    if kinds.is_empty() {
        text.push_str("\n# [[check]]\n# name = \"test\"\n# command = \"./test.sh\"\n# timeout = \"10m\"\n# task = \"Make the tests pass.\"\n");
    }
    text
}

fn container(kinds: &[Kind]) -> String {
    RECIPE.replace("IMAGE", kinds.first().map_or(IMAGE, |kind| kind.image))
}

#[cfg(test)]
mod tests {
    use super::super::kinds::found;
    use super::*;
    use crate::cli::settings::{Gathered, Typed};
    use crate::run::oracle::list::CheckList;

    /// Projects of every kind that is known, and of none.
    const PROJECTS: [(&str, &str); 8] = [
        ("Cargo.toml", ""),
        ("package.json", "{\"scripts\": {\"test\": \"x\"}}"),
        ("pyproject.toml", ""),
        ("go.mod", ""),
        ("Makefile", "test:\n"),
        ("pom.xml", ""),
        ("mix.exs", ""),
        ("README", ""),
    ];

    fn of(file: &str, text: &str) -> [(&'static str, String); 3] {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(file), text).unwrap();
        files(&found(dir.path()))
    }

    fn gathered(text: &str) -> Gathered {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(USUAL_FILE), text).unwrap();
        Gathered::gather(&[], |_| None, None, dir.path())
            .unwrap_or_else(|failure| panic!("{}\n{text}", failure.lines()))
    }

    /// What the settings say, all that stands behind a `#` among it.
    fn spoken_out(text: &str) -> String {
        let is_key = |rest: &str| KEYS.iter().any(|key| rest.starts_with(&format!("{} = ", key.name)));
        text.lines()
            .map(|line| line.strip_prefix("# ").filter(|rest| is_key(rest)).unwrap_or(line).to_owned() + "\n")
            .collect()
    }

    #[test]
    fn what_is_written_is_read_by_our_own_readers_and_says_nothing_but_what_it_should() {
        for (file, text) in PROJECTS {
            let [(_, settings), (_, checks), (_, container)] = of(file, text);
            let known = file != "README";
            let read = gathered(&settings);
            Typed::read(&read).unwrap_or_else(|failure| panic!("{}", failure.lines()));
            let said: Vec<String> = KEYS.iter().map(Key::full).filter(|full| read.is_said(full)).collect();
            let want =
                if known { &["controls.rounds", "oracle.checks", "gate.protect"][..] } else { &["controls.rounds"] };
            assert_eq!(said, want, "{file}");
            let list = CheckList::parse(&checks);
            assert_eq!(list.is_ok(), known, "{file}: {list:?}");
            assert!(container.contains("\nUSER ") && !container.contains("IMAGE"), "{container}");
        }
    }

    #[test]
    fn every_setting_stands_in_it_with_what_holds_where_nobody_says() {
        let [(_, settings), ..] = of("README", "");
        let all = spoken_out(&settings);
        let (usual, read) = (gathered(""), gathered(&all));
        for key in &KEYS {
            let (full, is) = (key.full(), read.get(&key.full()));
            assert!(read.is_said(&full), "{full} is missing");
            assert!(settings.contains(&format!("# {}.\n", key.help)), "{full} has no line about it");
            let want = if full == "controls.rounds" { "20" } else { usual.get(&full).text.as_str() };
            let empty = key.times == Times::Many && is.text == "[]";
            assert!(is.text == want || empty && want.is_empty(), "{full}: {:?} {want:?}", is.text);
        }
        Typed::read(&read).unwrap_or_else(|failure| panic!("{}", failure.lines()));
    }
}
