//! Adapters: how each agent's program is asked for one round, and what to expect of it.
//!
//! One program a file, data and pure functions: an [`Ask`] becomes a [`CommandSpec`], and nothing here starts, reads or
//! waits for anything. What the program then says is [`live`](super::live)'s to read. No adapter adds a flag that skips
//! permissions unless [`Permissions::Skip`] says so. Words of effort that are known stand in [`ladders`]. The prompt goes by standard input wherever the program takes it, and
//! never through a shell.
//!
//! Units: money in millionths of a USD. Source: runs of the versions named in [`Capabilities::tested`] against a scripted
//! server, and the programs' own documentation where a comment says so.

use core::fmt;
use core::str::FromStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::live::Live;

mod claude;
mod codex;
mod command;
mod copilot;
mod gemini;
pub mod ladders;
mod opencode;
mod pi;

pub use command::{ASKED, PLACEHOLDERS};

/// Which program is the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AgentKind {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// pi.
    Pi,
    /// opencode.
    Opencode,
    /// The Gemini CLI.
    Gemini,
    /// The Copilot CLI.
    Copilot,
    /// Any other program: its whole argv is given.
    Command,
}

impl AgentKind {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Claude, Self::Codex, Self::Pi, Self::Opencode, Self::Gemini, Self::Copilot, Self::Command];

    /// The word for it, which is also the program's name but for `command`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Pi => "pi",
            Self::Opencode => "opencode",
            Self::Gemini => "gemini",
            Self::Copilot => "copilot",
            Self::Command => "command",
        }
    }

    /// Its adapter.
    #[must_use]
    pub const fn adapter(self) -> Adapter {
        Adapter(self)
    }
}

impl fmt::Display for AgentKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// No agent has this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownAgent(pub String);

impl fmt::Display for UnknownAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no agent is called `{}`; there are {}", self.0, AgentKind::ALL.map(AgentKind::name).join(", "))
    }
}

impl core::error::Error for UnknownAgent {}

impl FromStr for AgentKind {
    type Err = UnknownAgent;

    fn from_str(word: &str) -> Result<Self, UnknownAgent> {
        Self::ALL.into_iter().find(|kind| kind.name() == word).ok_or_else(|| UnknownAgent(word.to_owned()))
    }
}

/// What the agent may do without asking: nobody is there to be asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Permissions {
    /// The program's own safe mode without a terminal.
    #[default]
    Safe,
    /// Anything.
    Skip,
}

/// Caps on one round that are handed to the program itself, where it takes them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallCaps {
    /// Requests to the model.
    pub turns: Option<u64>,
    /// Cost, in millionths of a USD.
    pub usd_micro: Option<u64>,
}

/// What is asked for in one round.
#[derive(Clone, Copy)]
pub struct Ask<'a> {
    /// Stands for the program's own name; empty is the name. For `command`, the whole argv where there is no template.
    pub program: &'a [String],
    /// The whole argv; `{model}`, `{effort}`, `{session}` and `{prompt_file}` are replaced in each word.
    pub template: Option<&'a [String]>,
    /// The model, as the program calls it; none is the program's default.
    pub model: Option<&'a str>,
    /// The word of effort; none asks for none.
    pub effort: Option<&'a str>,
    /// A fresh UUID, for programs that let their session be named.
    pub session: &'a str,
    /// The project's folder, in which the program is started.
    pub project: &'a Path,
    /// A folder of this round outside the agent's way, for files that the program is pointed to.
    pub round_dir: &'a Path,
    /// Looks a variable of the environment up.
    pub home: &'a dyn Fn(&str) -> Option<String>,
    /// Looks a text file of the person's up, where it is there: settings that are to be added to.
    pub file: &'a dyn Fn(&Path) -> Option<String>,
    /// What the agent may do without asking.
    pub permissions: Permissions,
    /// Caps for the program itself.
    pub caps: CallCaps,
    /// Further arguments, as the person gave them.
    pub extra: &'a [String],
}

impl fmt::Debug for Ask<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ask")
            .field("program", &self.program)
            .field("template", &self.template)
            .field("model", &self.model)
            .field("effort", &self.effort)
            .field("session", &self.session)
            .field("project", &self.project)
            .field("permissions", &self.permissions)
            .field("caps", &self.caps)
            .field("extra", &self.extra)
            .finish_non_exhaustive()
    }
}

impl Ask<'_> {
    /// Where the prompt is to be written for programs that read it from a file.
    #[must_use]
    pub fn prompt_file(&self) -> PathBuf {
        self.round_dir.join("prompt.md")
    }

    /// A folder named by a variable, else one below the home folder.
    fn folder(&self, variable: &str, below_home: &str) -> Option<PathBuf> {
        let named = (self.home)(variable).filter(|path| !path.is_empty()).map(PathBuf::from);
        named.or_else(|| Some(self.home_folder()?.join(below_home)))
    }

    fn home_folder(&self) -> Option<PathBuf> {
        let named = |variable| (self.home)(variable).filter(|path| !path.is_empty());
        named("HOME").or_else(|| named("USERPROFILE")).map(PathBuf::from)
    }
}

/// How the prompt reaches the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PromptBy {
    /// By standard input, which is then closed.
    Stdin,
    /// In this file; standard input is empty.
    File(PathBuf),
}

/// A program to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandSpec {
    /// The program and its arguments; never empty.
    pub argv: Vec<String>,
    /// Variables to set.
    pub set: Vec<(String, String)>,
    /// Variables to take away: they would beat what is asked for.
    pub unset: Vec<&'static str>,
    /// Files to write before, all of them inside the round's folder.
    pub files: Vec<(PathBuf, String)>,
    /// Symbolic links to make before, inside the round's folder: the link and what it leads to. What is not there needs none.
    pub links: Vec<(PathBuf, PathBuf)>,
    /// How the prompt reaches it.
    pub prompt: PromptBy,
}

impl CommandSpec {
    fn new(ask: &Ask<'_>, name: &str) -> Self {
        let argv = if ask.program.is_empty() { vec![name.to_owned()] } else { ask.program.to_vec() };
        Self { argv, set: Vec::new(), unset: Vec::new(), files: Vec::new(), links: Vec::new(), prompt: PromptBy::Stdin }
    }

    fn args<const N: usize>(&mut self, words: [&str; N]) -> &mut Self {
        self.argv.extend(words.map(str::to_owned));
        self
    }

    fn set(&mut self, name: &str, value: &str) -> &mut Self {
        self.set.push((name.to_owned(), value.to_owned()));
        self
    }
}

/// Why an ask cannot be put to a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AskError {
    /// No program is named.
    NoCommand,
    /// The template names something that was not given.
    Missing(&'static str),
    /// The environment names no home folder, and the program is asked by a file there.
    NoHome,
    /// The program has no way to be asked for an effort.
    NoEffort(AgentKind),
    /// The effort is none that this program can be asked for; why.
    Effort(String),
    /// A settings file of the person's cannot be added to; which, and why.
    Settings(PathBuf, String),
    /// A variable of the environment is in the way; which, and why.
    Environment(&'static str, &'static str),
}

impl AskError {
    /// Whether other settings mend it; what else is wrong is wrong where the program is to run.
    #[must_use]
    pub const fn is_of_settings(&self) -> bool {
        match self {
            Self::NoCommand | Self::Missing(_) | Self::NoEffort(_) | Self::Effort(_) => true,
            Self::NoHome | Self::Settings(..) | Self::Environment(..) => false,
        }
    }
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCommand => f.write_str("the agent `command` needs its argv: name the program and its arguments"),
            Self::Missing(what) => write!(f, "the command's template has {{{what}}}, and no {what} is given"),
            Self::NoHome => f.write_str("the environment names no home folder: set HOME"),
            Self::NoEffort(kind) => write!(f, "{kind} cannot be asked for an effort"),
            Self::Effort(why) => f.write_str(why),
            Self::Settings(path, why) => write!(f, "{} cannot be added to: {why}", path.display()),
            Self::Environment(name, why) => write!(f, "the environment sets {name}, {why}"),
        }
    }
}

impl core::error::Error for AskError {}

/// Files that a program writes while it works. Only what was not there when the round began, or grew since, is of the round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Follow {
    /// Below which folder; it need not be there yet.
    pub folder: PathBuf,
    /// How many folders further down a file may lie.
    pub depth: usize,
    /// What a file's name contains, or the name of a folder that it is in, below `folder`.
    pub name_contains: String,
    /// How a file's name ends, without the dot.
    pub extension: &'static str,
    /// Only files that were not there when the round began: their names tell nothing of the session.
    pub fresh: bool,
    /// What a file's first line contains, where its name does not tell whose it is.
    pub begins: Option<String>,
}

impl Follow {
    /// Whether it is for a file of this path, as far as names tell.
    #[must_use]
    pub fn names(&self, path: &Path) -> bool {
        let Ok(below) = path.strip_prefix(&self.folder) else { return false };
        below.extension().is_some_and(|end| end == self.extension)
            && below.components().count() <= self.depth + 1
            && below.components().any(|part| part.as_os_str().to_string_lossy().contains(&self.name_contains))
    }

    /// Whether it is for a file with this beginning; `None` where the first line is not there to its end.
    #[must_use]
    pub fn begins(&self, bytes: &[u8]) -> Option<bool> {
        let Some(wanted) = &self.begins else { return Some(true) };
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let line = String::from_utf8_lossy(&bytes[..end.unwrap_or(bytes.len())]).contains(wanted.as_str());
        (line || end.is_some()).then_some(line)
    }
}

/// The signal that ends a program with most of its usage kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// SIGINT.
    Int,
    /// SIGTERM.
    Term,
}

/// How a program is asked for an effort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffortBy {
    /// By a flag of this name.
    Flag(&'static str),
    /// By a setting that is given on the command line.
    Setting(&'static str),
    /// By a settings file that a variable points to.
    File(&'static str),
    /// By the person's own template.
    Template,
}

/// What is known of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// The count of each turn is known while the round goes on.
    pub live_turns: bool,
    /// It states a total as it ends.
    pub closing_total: bool,
    /// How it is asked for an effort.
    pub effort: EffortBy,
    /// It records the effort that took hold, and not only the one asked for.
    pub confirms_effort: bool,
    /// It takes a cap on requests.
    pub caps_turns: bool,
    /// It takes a cap on cost.
    pub caps_cost: bool,
    /// The versions that were run.
    pub tested: &'static [&'static str],
    /// What [`Permissions::Safe`] means, for people.
    pub safe: &'static str,
    /// What [`Permissions::Skip`] means, for people.
    pub skip: &'static str,
    /// Variables that hold a key for it, any of which will do.
    pub keys: &'static [&'static str],
    /// A file below the home folder that a login leaves behind, where one is known.
    pub login: Option<&'static str>,
}

/// The adapter of one program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adapter(AgentKind);

impl Adapter {
    /// Which program it is for.
    #[must_use]
    pub const fn kind(self) -> AgentKind {
        self.0
    }

    /// The program to start for one round.
    ///
    /// # Errors
    /// [`AskError`] where the program cannot be asked for this.
    pub fn command(self, ask: &Ask<'_>) -> Result<CommandSpec, AskError> {
        if ask.template.is_some() {
            return command::template(ask, self.unsets());
        }
        match self.0 {
            AgentKind::Claude => Ok(claude::command(ask)),
            AgentKind::Codex => Ok(codex::command(ask)),
            AgentKind::Pi => Ok(pi::command(ask)),
            AgentKind::Opencode => opencode::command(ask),
            AgentKind::Gemini => gemini::command(ask),
            AgentKind::Copilot => Ok(copilot::command(ask)),
            AgentKind::Command => command::template(ask, &[]),
        }
    }

    /// Variables that would beat what is asked for, or keep the program from starting.
    #[must_use]
    pub const fn unsets(self) -> &'static [&'static str] {
        match self.0 {
            AgentKind::Claude => &claude::UNSET,
            AgentKind::Codex
            | AgentKind::Pi
            | AgentKind::Opencode
            | AgentKind::Gemini
            | AgentKind::Copilot
            | AgentKind::Command => &[],
        }
    }

    /// The files to follow; `told` is the session that the program named itself, see [`Live::session`]. None as long as it
    /// takes the session to find them and it is not told yet.
    #[must_use]
    pub fn follows(self, ask: &Ask<'_>, told: Option<&str>) -> Vec<Follow> {
        match self.0 {
            AgentKind::Claude => claude::follows(ask, told),
            AgentKind::Codex => codex::follows(ask, told),
            AgentKind::Gemini => gemini::follows(ask, told),
            AgentKind::Copilot => copilot::follows(ask, told),
            // what pi and opencode print says all that can be followed
            AgentKind::Pi | AgentKind::Opencode | AgentKind::Command => Vec::new(),
        }
    }

    /// What to ask the program once it is gone, for sessions of its subagents, see [`Live::parts`], whose counts it keeps to
    /// itself: each is run without a prompt, and what it prints is told to [`Live::followed`] under a name of its own.
    #[must_use]
    pub fn afterwards(self, ask: &Ask<'_>, parts: &[Arc<str>]) -> Vec<CommandSpec> {
        match self.0 {
            AgentKind::Opencode if ask.template.is_none() => opencode::afterwards(ask, parts),
            AgentKind::Claude
            | AgentKind::Codex
            | AgentKind::Pi
            | AgentKind::Opencode
            | AgentKind::Gemini
            | AgentKind::Copilot
            | AgentKind::Command => Vec::new(),
        }
    }

    /// The signal to end it with.
    #[must_use]
    pub const fn stop_signal(self) -> Stop {
        match self.0 {
            // claude prints its result on INT alone, copilot its last line; codex prints nothing on either
            AgentKind::Claude | AgentKind::Codex | AgentKind::Copilot => Stop::Int,
            // pi leaves its tools running on INT
            AgentKind::Pi | AgentKind::Opencode | AgentKind::Gemini | AgentKind::Command => Stop::Term,
        }
    }

    /// What is known of it.
    #[must_use]
    pub const fn capabilities(self) -> Capabilities {
        match self.0 {
            AgentKind::Claude => claude::CAPABILITIES,
            AgentKind::Codex => codex::CAPABILITIES,
            AgentKind::Pi => pi::CAPABILITIES,
            AgentKind::Opencode => opencode::CAPABILITIES,
            AgentKind::Gemini => gemini::CAPABILITIES,
            AgentKind::Copilot => copilot::CAPABILITIES,
            AgentKind::Command => command::CAPABILITIES,
        }
    }

    /// A ledger for one round of it.
    #[must_use]
    pub fn live(self) -> Live {
        Live::new(self.0)
    }
}

#[cfg(test)]
mod tests;
