//! Whom the host asks for each round's agent, and the agent of settings.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::host::Stamps;
use super::os::Launch;
use super::record::round_folder;
use super::system::text_of;
use crate::agents::adapter::{
    Adapter, AgentKind, Ask, AskError, CallCaps, CommandSpec, Follow, Permissions, PromptBy, Stop,
};
use crate::agents::live::Live;
use crate::engine::Timestamp;

/// Makes each round's command line, and says what to make of what it prints.
pub trait Agents {
    /// What is to be started for this round, at this effort, with this prompt where it is not always the same.
    ///
    /// # Errors
    /// In words, where the program cannot be asked for that.
    fn launch(&mut self, round: u64, effort: &str, prompt: Option<String>, now: Timestamp) -> Result<Launch, String>;

    /// Which program it is.
    fn kind(&self) -> AgentKind;

    /// A fresh ledger for a round.
    fn live(&self) -> Live;

    /// The files to follow, given the session that the agent has told.
    fn follows(&self, session: Option<&str>) -> Vec<Follow>;

    /// What to ask the program after a round, given the sessions of subagents that it named: a name for each answer, which is a
    /// log.
    fn afterwards(&self, parts: &[Arc<str>]) -> Vec<(String, Launch)>;

    /// The signal that ends it with most of its usage kept.
    fn stop(&self) -> Stop;
}

/// An agent as settings describe it.
#[derive(Clone, Debug)]
pub struct Agent {
    /// Which program.
    pub adapter: Adapter,
    /// Stands for the program's name; the whole argv of `command`.
    pub program: Vec<String>,
    /// The whole argv, with places to fill.
    pub template: Option<Vec<String>>,
    /// The model.
    pub model: Option<String>,
    /// Whether efforts are asked for; not where the ladder is one unnamed rung.
    pub efforts: bool,
    /// The project's folder.
    pub project: PathBuf,
    /// The run's folder.
    pub record: PathBuf,
    /// The run's name.
    pub run: String,
    /// What the agent may do without asking.
    pub permissions: Permissions,
    /// Caps that are handed on.
    pub caps: CallCaps,
    /// Further arguments.
    pub extra: Vec<String>,
    /// The environment that the runner was started in.
    pub environment: Vec<(String, String)>,
    /// Variables that the agent gets beside them.
    pub set: Vec<(String, String)>,
    /// What every round is asked to do.
    pub prompt: String,
    /// Whose clock is believed.
    pub stamps: Stamps,
    round: u64,
    effort: String,
}

/// The variable by which a run's processes are known again: the folder of its record, which no other run has. (`FLYBALL_RUN` is a setting.)
pub const RECORD_VARIABLE: &str = "FLYBALL_RECORD";
/// The variable that tells an agent its round.
pub const ROUND_VARIABLE: &str = "FLYBALL_ROUND";
/// The variable that tells an agent which plays in compressed time what time it is, in milliseconds.
pub const NOW_VARIABLE: &str = "FLYBALL_NOW_MS";

impl Agent {
    /// An agent of this program in this project, with nothing asked for.
    #[must_use]
    pub fn new(adapter: Adapter, project: PathBuf, record: PathBuf, run: &str, prompt: &str) -> Self {
        Self {
            adapter,
            program: Vec::new(),
            template: None,
            model: None,
            efforts: true,
            project,
            record,
            run: run.to_owned(),
            permissions: Permissions::default(),
            caps: CallCaps::default(),
            extra: Vec::new(),
            environment: Vec::new(),
            set: Vec::new(),
            prompt: prompt.to_owned(),
            stamps: Stamps::default(),
            round: 0,
            effort: String::new(),
        }
    }

    /// Whether its program can be asked for this effort; nothing is started or written.
    ///
    /// # Errors
    /// Why not.
    pub fn can_ask(&self, effort: &str) -> Result<(), AskError> {
        let asked = Self { effort: effort.to_owned(), ..self.clone() };
        asked.with_ask(|ask| asked.adapter.command(ask)).map(drop)
    }

    fn folder(&self) -> PathBuf {
        self.record.join(round_folder(self.round))
    }

    /// A UUID of this run's round: the same in every process that asks.
    fn session(&self) -> String {
        use sha2::{Digest, Sha256};
        let digest = Sha256::digest(format!("{} {} {}", self.run, self.round, self.record.display()));
        let hex: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        // version 4, variant 1: what programs insist on
        format!("{}-{}-4{}-a{}-{}", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..32])
    }

    fn with_ask<T>(&self, then: impl FnOnce(&Ask<'_>) -> T) -> T {
        let (session, folder) = (self.session(), self.folder());
        let all = || self.set.iter().chain(&self.environment);
        let lookup = |name: &str| all().find(|(key, _)| key == name).map(|(_, value)| value.clone());
        then(&Ask {
            program: &self.program,
            template: self.template.as_deref(),
            model: self.model.as_deref(),
            effort: self.efforts.then_some(&*self.effort),
            session: &session,
            project: &self.project,
            round_dir: &folder,
            home: &lookup,
            file: &|path: &Path| text_of(path),
            permissions: self.permissions,
            caps: self.caps,
            extra: &self.extra,
        })
    }

    fn launch_of(&self, spec: CommandSpec, now: Timestamp) -> Launch {
        let mut set = spec.set;
        set.extend(self.set.iter().cloned());
        set.push((RECORD_VARIABLE.to_owned(), self.record.display().to_string()));
        set.push((ROUND_VARIABLE.to_owned(), self.round.to_string()));
        if self.stamps == Stamps::Agent {
            set.push((NOW_VARIABLE.to_owned(), now.millis().to_string()));
        }
        let (mut files, mut stdin) = (spec.files, Vec::new());
        match spec.prompt {
            PromptBy::Stdin => stdin = self.prompt.clone().into_bytes(),
            PromptBy::File(path) => files.push((path, self.prompt.clone())),
        }
        let unset = spec.unset.into_iter().map(str::to_owned).collect();
        Launch { argv: spec.argv, set, unset, stdin, files, links: spec.links, folder: self.project.clone() }
    }
}

impl Agents for Agent {
    fn launch(&mut self, round: u64, effort: &str, prompt: Option<String>, now: Timestamp) -> Result<Launch, String> {
        if let Some(prompt) = prompt {
            self.prompt = prompt;
        }
        self.round = round;
        effort.clone_into(&mut self.effort);
        let spec = self.with_ask(|ask| self.adapter.command(ask)).map_err(|error| error.to_string())?;
        Ok(self.launch_of(spec, now))
    }

    fn kind(&self) -> AgentKind {
        self.adapter.kind()
    }

    fn live(&self) -> Live {
        self.adapter.live()
    }

    fn follows(&self, session: Option<&str>) -> Vec<Follow> {
        self.with_ask(|ask| self.adapter.follows(ask, session))
    }

    fn afterwards(&self, parts: &[Arc<str>]) -> Vec<(String, Launch)> {
        let specs = self.with_ask(|ask| self.adapter.afterwards(ask, parts));
        specs.into_iter().map(|spec| (spec.argv.join(" "), self.launch_of(spec, Timestamp::EPOCH))).collect()
    }

    fn stop(&self) -> Stop {
        self.adapter.stop_signal()
    }
}
