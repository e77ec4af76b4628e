//! `flyball doctor`: which agents' programs are there, in which versions, and what is missing. No model is asked.
//!
//! Each program found is run once, with `--version`, a limit of time, and a plain environment in which it is told not to update
//! itself. Whether an effort reaches a model cannot be known without asking one: what is known is which words the
//! versions that were run sent, for the models that were tried.

use std::env;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};

use super::fake_agent::pause;
use crate::agents::adapter::ladders::{self, ladders_of};
use crate::agents::adapter::{AgentKind, Capabilities, EffortBy};
use crate::cli::args::ShortFormat;
use crate::cli::error::Outcome;
use crate::cli::exit::Exit;
use crate::cli::output;

/// How long a program may take to say its version.
const LIMIT: Duration = Duration::from_secs(10);

/// How often it is looked at.
const SLICE: Duration = Duration::from_millis(20);

/// `doctor`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct Doctor {
    /// What to print on stdout
    #[arg(long, value_enum, default_value = "table")]
    pub format: ShortFormat,
}

const HELP: &str = "\
A version other than those that were run may print other lines, or take other words of effort; what it prints is read as far as it is \
known. A ladder stands here for the models that were tried; any other takes one by --ladder.

Examples:
  flyball doctor
  flyball doctor --format json";

/// What was found of one program.
#[derive(Debug)]
struct Found {
    kind: AgentKind,
    known: Capabilities,
    path: Option<PathBuf>,
    version: Option<String>,
    /// Keys that the environment has.
    keys: Vec<&'static str>,
    login: bool,
    problems: Vec<String>,
}

/// Looks at every program.
///
/// # Errors
/// Output that nobody takes.
pub fn run(args: &Doctor) -> Outcome {
    let kinds = AgentKind::ALL.into_iter().filter(|kind| *kind != AgentKind::Command);
    let all: Vec<Found> = kinds.map(look).collect();
    match args.format {
        ShortFormat::Table => output::print(table(&all).as_bytes())?,
        ShortFormat::Json => output::print(format!("{}\n", object(&all)).as_bytes())?,
    }
    Ok(Exit::Success)
}

fn look(kind: AgentKind) -> Found {
    let known = kind.adapter().capabilities();
    let set = |name: &&&'static str| env::var_os(name).is_some_and(|value| !value.is_empty());
    let keys: Vec<&'static str> = known.keys.iter().filter(set).copied().collect();
    let home = env::home_dir();
    let login = known.login.zip(home.as_deref()).is_some_and(|(file, home)| home.join(file).exists());
    let mut found = Found { kind, known, path: on_path(kind.name()), version: None, keys, login, problems: Vec::new() };
    let Some(path) = &found.path else { return found };
    match said_version(path) {
        Ok(text) => found.version = version_in(&text),
        Err(why) => found.problems.push(why),
    }
    match found.version.as_deref() {
        Some(version) if !known.tested.contains(&version) => {
            found.problems.push(format!("version {version} was never run here; {} was", known.tested.join(" and ")))
        }
        None if found.problems.is_empty() => found.problems.push("it does not say its version".to_owned()),
        Some(_) | None => {}
    }
    if found.keys.is_empty() && !found.login {
        found.problems.push(format!("no login is known of: log in, or set {}", known.keys.join(" or ")));
    }
    for name in kind.adapter().unsets().iter().filter(|name| env::var_os(name).is_some()) {
        found.problems.push(format!("{name} is set, which would beat what is asked for: a round is run without it"));
    }
    found
}

/// The first program of this name on the path.
fn on_path(name: &str) -> Option<PathBuf> {
    let ends: &[&str] = if cfg!(windows) { &[".exe", ".cmd", ""] } else { &[""] };
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders)
        .flat_map(|folder| ends.iter().map(move |end| folder.join(format!("{name}{end}"))))
        .find(|file| is_program(file))
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    file.is_file()
}

/// What a program prints when it is asked for its version.
fn said_version(path: &Path) -> Result<String, String> {
    let kept = ["PATH", "HOME", "USERPROFILE", "SystemRoot", "APPDATA", "LOCALAPPDATA", "TMPDIR", "TEMP"];
    let kept: Vec<(&str, OsString)> = kept.into_iter().filter_map(|name| Some((name, env::var_os(name)?))).collect();
    let quiet = [
        ("DISABLE_AUTOUPDATER", "1"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("COPILOT_AUTO_UPDATE", "false"),
        ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        ("PI_OFFLINE", "1"),
        ("TERM", "dumb"),
    ];
    let mut command = Command::new(path);
    command.arg("--version").env_clear().envs(kept).envs(quiet);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| format!("it cannot be started: {error}"))?;
    let text = child.stdout.take().map(|out| {
        thread::spawn(move || {
            let mut text = Vec::new();
            // what does not come is not there
            let _ = out.take(4096).read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        })
    });
    if !wait(&mut child) {
        return Err(format!("it did not say its version within {} s", LIMIT.as_secs()));
    }
    Ok(text.and_then(|thread| thread.join().ok()).unwrap_or_default())
}

/// Waits for a child and ends it where it takes too long; whether it ended by itself.
fn wait(child: &mut Child) -> bool {
    let mut left = LIMIT;
    while !left.is_zero() {
        if !matches!(child.try_wait(), Ok(None)) {
            return true;
        }
        pause(SLICE);
        left = left.saturating_sub(SLICE);
    }
    // it is gone either way
    let _ = child.kill();
    let _ = child.wait();
    false
}

/// The first word of a text that looks like a version.
fn version_in(text: &str) -> Option<String> {
    let plain = |word: &'_ str| -> String {
        word.trim_matches(|mark: char| !mark.is_ascii_alphanumeric()).trim_start_matches('v').to_owned()
    };
    let numbered = |word: &String| {
        let mut parts = word.split(['.', '-', '+']);
        let number = |part: Option<&str>| part.is_some_and(|part| part.parse::<u32>().is_ok());
        number(parts.next()) && number(parts.next()) && number(parts.next())
    };
    text.split_whitespace().map(plain).find(numbered)
}

fn asked_by(known: &Capabilities) -> String {
    match known.effort {
        EffortBy::Flag(flag) => flag.to_owned(),
        EffortBy::Setting(key) => format!("-c {key}="),
        EffortBy::File(variable) => format!("a settings file ({variable})"),
        EffortBy::Template => "its template".to_owned(),
    }
}

fn table(all: &[Found]) -> String {
    let mut text = String::new();
    for found in all {
        let name = found.kind.name();
        let Some(path) = &found.path else {
            text.push_str(&format!("{name:<9} not found\n"));
            continue;
        };
        let version = found.version.as_deref().unwrap_or("version unknown");
        text.push_str(&format!("{name:<9} {version}  {}\n", path.display()));
        let confirmed = if found.known.confirms_effort { "confirmed by its log" } else { "not confirmed" };
        text.push_str(&format!("          effort by {}, {confirmed}\n", asked_by(&found.known)));
        for ladder in ladders_of(found.kind).filter(|ladder| !ladder.words.is_empty()) {
            text.push_str(&format!("          {}: {}\n", ladder.models.join(", "), ladder.words.join(" ")));
        }
        let has: Vec<&str> = found.keys.iter().copied().chain(found.login.then_some("a login")).collect();
        if !has.is_empty() {
            text.push_str(&format!("          has {}\n", has.join(", ")));
        }
        for problem in &found.problems {
            text.push_str(&format!("          ! {problem}\n"));
        }
    }
    text.push_str(&format!("\nLadders as of {}. `command` runs any other program.\n", ladders::AS_OF));
    text
}

fn object(all: &[Found]) -> Value {
    let agent = |found: &Found| {
        let ladder =
            |known: &ladders::Known| json!({"models": known.models, "efforts": known.words, "default": known.default});
        json!({
            "agent": found.kind.name(),
            "path": found.path.as_ref().map(|path| path.to_string_lossy()),
            "version": found.version,
            "tested": found.version.as_deref().is_some_and(|version| found.known.tested.contains(&version)),
            "tested_versions": found.known.tested,
            "effort_by": asked_by(&found.known),
            "confirms_effort": found.known.confirms_effort,
            "ladders": ladders_of(found.kind).map(ladder).collect::<Vec<_>>(),
            "keys": found.keys,
            "login": found.login,
            "problems": found.problems,
        })
    };
    json!({"version": 1, "ladders_as_of": ladders::AS_OF, "agents": all.iter().map(agent).collect::<Vec<_>>()})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_programs_say() {
        for (text, version) in [
            ("2.1.332 (Claude Code)\n", Some("2.1.332")),
            ("codex-cli 0.171.0\n", Some("0.171.0")),
            ("GitHub Copilot CLI v1.0.102.\nCommit: abc", Some("1.0.102")),
            ("1.6.0", Some("1.6.0")),
            ("1.2.3-beta.1", Some("1.2.3-beta.1")),
            ("no 1.2 version", None),
            ("", None),
        ] {
            assert_eq!(version_in(text).as_deref(), version, "{text}");
        }
    }
}
