//! What kind of project it is, by the files in its folder and by what they say. Nothing of it is run.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// A kind of project that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    /// What people call it.
    pub(super) name: &'static str,
    /// Its checks: name, command, what is asked where it fails.
    pub(super) checks: &'static [(&'static str, &'static str, &'static str)],
    /// An image in which the checks can run.
    pub(super) image: &'static str,
}

const TESTS: &str = "Make the tests pass. Do not change what they test.";

macro_rules! kind {
    ($name:literal, $check:literal, $command:literal, $image:literal) => {
        Kind { name: $name, checks: &[($check, $command, TESTS)], image: $image }
    };
}

/// All kinds, each with the file by which it is known.
const KINDS: [(&str, Kind); 14] = [
    (
        "Cargo.toml",
        Kind {
            name: "Rust",
            checks: &[("build", "cargo check --all-targets", "Make it compile."), ("test", "cargo test", TESTS)],
            image: "rust:1-slim",
        },
    ),
    ("package.json", kind!("Node", "node-test", "npm test", "node:22-slim")),
    ("deno.json", kind!("Deno", "deno-test", "deno test", "denoland/deno:debian")),
    ("pyproject.toml", PYTHON),
    ("setup.py", PYTHON),
    ("setup.cfg", PYTHON),
    ("go.mod", kind!("Go", "go-test", "go test ./...", "golang:1")),
    ("pom.xml", kind!("Maven", "maven-test", "mvn --batch-mode test", "maven:3-eclipse-temurin-21")),
    ("gradlew", kind!("Gradle", "gradle-test", "./gradlew test", "eclipse-temurin:21")),
    ("mix.exs", kind!("Elixir", "mix-test", "mix test", "elixir:1-slim")),
    ("Rakefile", kind!("Ruby", "rake-test", "rake test", "ruby:3-slim")),
    ("composer.json", kind!("PHP", "composer-test", "composer test", "composer:2")),
    ("Makefile", kind!("Make", "make-test", "make test", "debian:stable-slim")),
    ("Makefile", kind!("Make", "make-check", "make check", "debian:stable-slim")),
];

const PYTHON: Kind = kind!("Python", "pytest", "pytest -q", "python:3-slim");

/// The kinds of the project in this folder, each once.
pub(super) fn found(project: &Path) -> Vec<Kind> {
    let mut found: Vec<Kind> = Vec::new();
    for (file, kind) in KINDS {
        let Ok(text) = fs::read_to_string(project.join(file)) else { continue };
        if says(file, &kind, &text) && !found.iter().any(|known| known.name == kind.name) {
            found.push(kind);
        }
    }
    // a makefile beside another kind most often calls that kind's own tests
    if found.len() > 1 {
        found.retain(|kind| kind.name != "Make");
    }
    found
}

/// Whether what the file says has such a test.
fn says(file: &str, kind: &Kind, text: &str) -> bool {
    match file {
        "package.json" | "composer.json" => {
            let script = serde_json::from_str::<Value>(text).ok().and_then(|package| {
                let script = &package["scripts"]["test"];
                script.as_str().map(str::to_owned).or_else(|| script.is_array().then(String::new))
            });
            script.is_some_and(|script| !script.contains("no test specified"))
        }
        "Makefile" => {
            let target = kind.checks[0].1.rsplit(' ').next().unwrap_or_default();
            text.lines().any(|line| line.strip_prefix(target).is_some_and(|rest| rest.trim_start().starts_with(':')))
        }
        "Rakefile" => text.contains("test"),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_known_by_what_its_files_say() {
        for (files, names) in [
            (&[("Cargo.toml", "")][..], &["Rust"][..]),
            (&[("package.json", "{\"scripts\": {\"test\": \"vitest\"}}")], &["Node"]),
            (
                &[("package.json", "{\"scripts\": {\"test\": \"echo \\\"Error: no test specified\\\" && exit 1\"}}")],
                &[],
            ),
            (&[("package.json", "{}")], &[]),
            (&[("package.json", "not json")], &[]),
            (&[("pyproject.toml", ""), ("setup.py", "")], &["Python"]),
            (&[("go.mod", "module x"), ("Makefile", "test:\n\tgo test\n")], &["Go"]),
            (&[("Makefile", "all:\n\ntest : all\n")], &["Make"]),
            (&[("Makefile", "all:\n\tcheck: x\ncheck:\n")], &["Make"]),
            (&[("Makefile", "all:\n\ntests:\n")], &[]),
            (&[("Cargo.toml", ""), ("package.json", "{\"scripts\":{\"test\":\"x\"}}")], &["Rust", "Node"]),
            (&[], &[]),
        ] {
            let dir = tempfile::tempdir().unwrap();
            for (name, text) in files {
                fs::write(dir.path().join(name), text).unwrap();
            }
            let found: Vec<&str> = found(dir.path()).iter().map(|kind| kind.name).collect();
            assert_eq!(found, names, "{files:?}");
        }
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("Makefile"), "check:\n").unwrap();
        assert_eq!(found(dir.path())[0].checks[0].1, "make check");
    }

    #[test]
    fn names_of_checks_are_never_the_same() {
        let mut names: Vec<&str> = KINDS
            .iter()
            .filter(|(_, kind)| kind.name != "Python")
            .flat_map(|(_, kind)| kind.checks)
            .map(|check| check.0)
            .collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
