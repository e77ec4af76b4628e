//! The project's side of a run, out of settings: oracles, rules that give up, gates, commits, prompts, and caps that runs share.
//!
//! Nothing is asked or looked at here; that is [`run::project`](crate::run::project)'s.

use std::fs;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::{Path, PathBuf};

use super::open::Opened;
use super::setup::can_ask;
use super::{Prepared, agent_of, in_one};
use crate::agents::adapter::AgentKind;
use crate::cli::args::whole;
use crate::cli::error::{Failure, Outcome};
use crate::cli::settings::caps::caps;
use crate::cli::settings::gather::Gathered;
use crate::cli::settings::typed::{flag, list, maybe, read, some_time, words};
use crate::engine::{Asks, Limits, Millis};
use crate::lab::axis;
use crate::lab::scenario::file;
use crate::run::features::Gate;
use crate::run::glob::Glob;
use crate::run::kill::KillOn;
use crate::run::oracle::judge::{self, Judge, Rubric};
use crate::run::oracle::list::CheckList;
use crate::run::oracle::words::command_line;
use crate::run::oracle::{Exits, Oracle, Rules, needs, scripts};
use crate::run::project::{Asked, Project};
use crate::run::prompt::{CONTINUATION, INIT, Prompts, Template};
use crate::run::purse::{Scope, SharedCaps};
use crate::run::system::files;
use crate::run::system::purse::Purses;
use crate::run::{Place, Stamps};

/// The word for flyball's own template.
const USUAL: &str = "usual";
/// The most that is read of a file that a setting names, in bytes.
const MOST: u64 = 16 << 20;

/// Who judges, before its program is looked for.
#[derive(Debug)]
struct Judging {
    kind: AgentKind,
    /// Model and effort, as they were given.
    parts: Vec<(&'static str, String)>,
    /// The score that passes, in millionths.
    threshold: Option<i64>,
}

/// What is asked of the project, read and checked before anything is started.
#[derive(Debug)]
pub struct Around {
    asked: Asked,
    shared: SharedCaps,
    group: Option<PathBuf>,
    judge: Option<Judging>,
    /// When the oracle is asked.
    pub asks: Asks,
}

impl Around {
    /// Reads the settings.
    ///
    /// # Errors
    /// The first fault, with the setting's name and origin.
    pub(super) fn read(prepared: &Prepared) -> Outcome<Self> {
        let all = &prepared.settings;
        let project = &prepared.project;
        let oracle =
            read(all, "oracle.run", |text| maybe_empty(text, |text| searchable(project, Oracle::parse(text)?)))?;
        let checks = read(all, "oracle.checks", |text| {
            maybe_empty(text, |file| CheckList::parse(&text_at(project, file)?).map_err(|why| format!("{file}: {why}")))
        })?;
        let features = read(all, "gate.features", |text| maybe_empty(text, |file| Ok(PathBuf::from(file))))?;
        let kill_on: Vec<KillOn> = read(all, "controls.kill_on", |text| each(&words(text)?, KillOn::parse))?;
        let shared = read(all, "controls.shared", caps)?;
        let limit = read(all, "oracle.timeout", some_time)?;
        let exits = Exits {
            strict: read(all, "oracle.strict", flag)?,
            blocked: read(all, "oracle.blocked", maybe(|text| whole::<u8, 1, 255>(text).map(i32::from)))?,
        };
        let asks = match (&checks, oracle.is_some() || features.is_some()) {
            (Some(_), _) => Asks::BeforeToo,
            (None, true) => Asks::After,
            (None, false) => Asks::Never,
        };
        if asks == Asks::Never && kill_on.iter().any(|rule| matches!(rule, KillOn::OraclePass)) {
            return Err(Failure::said("controls.kill_on = oracle-pass: there is no oracle that could pass")
                .hint("name one with --oracle, --checks or --features"));
        }
        let decides = decides(prepared, oracle.as_ref(), checks.as_ref(), &kill_on)?;
        let judge = match oracle.as_ref().map(Oracle::rubrics).filter(|rubrics| !rubrics.is_empty()) {
            Some(rubrics) => Some(judge(prepared, &rubrics)?),
            None => None,
        };
        let asked = Asked {
            task: prepared.prompt.clone(),
            oracle_words: all.get("oracle.run").text.clone(),
            rules: Rules { exits, limit, ..Rules::default() },
            features: gate(all, project, features, limit)?,
            protect: read(all, "gate.protect", |text| each(&list(text)?, Glob::parse))?,
            decides,
            stop_on_change: read(all, "gate.on_change", |text| match text {
                "restore" => Ok(false),
                "stop" => Ok(true),
                _ => Err("it must be restore or stop".to_owned()),
            })?,
            ignore: read(all, "oracle.ignore", list)?,
            // the simulated agent never touches the project
            look: prepared.sim.is_none() || asks != Asks::Never || prepared.typed.limits.no_progress.is_some(),
            commit: read(all, "git.commit", flag)?,
            branch: read(all, "git.branch", |text| maybe_empty(text, |name| Ok(name.to_owned())))?,
            prompts: prompts(all, project)?,
            prompt_most: read(all, "prompt.most", |text| {
                text.parse()
                    .ok()
                    .filter(|&most| most >= 1000)
                    .ok_or_else(|| "it must be a whole number, at least 1000".to_owned())
            })?,
            constraints: read(all, "prompt.constraints", |text| maybe_empty(text, |file| text_at(project, file)))?
                .map(|text| text.lines().map(str::to_owned).filter(|line| !line.trim().is_empty()).collect())
                .unwrap_or_default(),
            caps: prepared.typed.limits.caps(),
            plain: prepared.kind == AgentKind::Command,
            oracle,
            checks,
            kill_on,
            ..Asked::default()
        };
        Ok(Self { asked, group: group(all, &shared)?, shared, judge, asks })
    }

    /// The caps of rules that count rounds, with those that are set: the tighter one holds.
    pub(super) fn tighten(&self, limits: &mut Limits) {
        let tighter = |cap: &mut Option<NonZeroU32>, count: NonZeroU64| {
            let count = NonZeroU32::try_from(count).unwrap_or(NonZeroU32::MAX);
            *cap = Some(cap.map_or(count, |cap| cap.min(count)));
        };
        for rule in &self.asked.kill_on {
            match rule {
                KillOn::SameError(count) => tighter(&mut limits.same_error, *count),
                KillOn::NoProgress(count) => tighter(&mut limits.no_progress, *count),
                KillOn::AgentFailures(count) => tighter(&mut limits.agent_failures, *count),
                KillOn::OraclePass | KillOn::Pattern(_) | KillOn::Command(_) => {}
            }
        }
    }

    /// Whether caps that are shared end the loop.
    pub(super) fn is_finite(&self) -> bool {
        !self.shared.all().is_empty()
    }

    /// Whether the loop can end in success.
    pub(super) const fn has_end(&self) -> bool {
        !matches!(self.asks, Asks::Never)
    }

    /// The project, for this run.
    ///
    /// # Errors
    /// Files of shared caps that cannot be read; a judge that cannot be asked.
    pub(super) fn project(mut self, prepared: &Prepared, opened: &Opened, records: &Path) -> Outcome<Project> {
        let place = Place { project: prepared.project.clone(), record: opened.folder.clone(), round: 0 };
        if let Some(Judging { kind, parts, threshold }) = self.judge.take() {
            let mut agent = agent_of(prepared, opened, Stamps::Own, kind);
            let part = |name| parts.iter().find(|(flag, _)| *flag == name).map(|(_, text)| text.clone());
            if let Some(model) = part("model") {
                agent.model = Some(model);
            }
            let effort = part("effort").unwrap_or_else(|| prepared.settings.get("agent.effort").text.clone());
            agent.efforts = !effort.is_empty() && effort != "-";
            can_ask(&agent, &effort).map_err(|failure| failure.while_("the judge cannot be asked"))?;
            self.asked.judge = Some(Judge { agent, effort, threshold });
        }
        (self.asked.lost, self.asked.resumed) = (opened.lost, opened.resumed);
        let purses = if self.shared.all().is_empty() {
            None
        } else {
            let run = (opened.id.as_str(), prepared.project.as_path());
            let purses = Purses::open(self.shared, records, self.group, run, &opened.kept.spent());
            Some(purses.map_err(|error| Failure::usage(error).while_("cannot hold the caps that runs share"))?)
        };
        Ok(Project::new(self.asked, place, purses))
    }
}

fn maybe_empty<T>(text: &str, parse: impl Fn(&str) -> Result<T, String>) -> Result<Option<T>, String> {
    if text.is_empty() { Ok(None) } else { parse(text).map(Some) }
}

fn each<T>(texts: &[String], parse: impl Fn(&str) -> Result<T, String>) -> Result<Vec<T>, String> {
    texts.iter().map(|text| parse(text)).collect()
}

/// An oracle that looks for patterns in files alone: one that is not there yet may come, and a folder will never hold a pattern.
fn searchable(project: &Path, oracle: Oracle) -> Result<Oracle, String> {
    match oracle
        .searched()
        .iter()
        .find(|file| file.as_os_str().as_encoded_bytes().ends_with(b"/") || project.join(file).is_dir())
    {
        Some(folder) => Err(format!(
            "{} is a folder, and a pattern is looked for in a file: write `regex:FILE:PATTERN`",
            folder.display()
        )),
        None => Ok(oracle),
    }
}

/// A file that a setting names, from the project's folder.
fn text_at(project: &Path, file: &str) -> Result<String, String> {
    let path = project.join(file);
    file::text(&path, MOST).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

fn gate(
    all: &Gathered,
    project: &Path,
    features: Option<PathBuf>,
    limit: Millis,
) -> Outcome<Option<(PathBuf, Option<Gate>)>> {
    let command = read(all, "gate.test", |text| maybe_empty(text, command_line))?;
    // a folder that is not there yet is refused where the gate is looked at
    let place = |folder: &str| {
        let path = project.join(folder);
        Ok(fs::canonicalize(&path).unwrap_or(path))
    };
    let folder = read(all, "gate.folder", |text| maybe_empty(text, place))?;
    let strict = read(all, "gate.strict", flag)?;
    let Some(file) = features else {
        if command.is_some() || folder.is_some() {
            return Err(Failure::said("gate.test and gate.folder are for a list of features, and none is named")
                .hint("name it with --features FILE"));
        }
        return Ok(None);
    };
    match (command, folder) {
        (None, None) if strict => {
            Err(Failure::said("gate.strict: no gate is set: what passes would be the agent's own word")
                .hint("--gate-test COMMAND and --gate-folder DIR run each feature's test"))
        }
        (None, None) => Ok(Some((file, None))),
        (Some(command), Some(folder)) => Ok(Some((file, Some(Gate { command, folder, limit, strict })))),
        (Some(_), None) => Err(Failure::said("gate.test: the folder that it is run in is missing")
            .hint("--gate-folder DIR, outside the project and not the agent's to write")),
        (None, Some(_)) => Err(Failure::said("gate.folder: the command that is run in it is missing")
            .hint("--gate-test 'pytest -q {test}', say")),
    }
}

/// By what the loop decides: scripts, rubrics, the check list, templates, settings. What a command cannot do without must be there now: what the
/// agent makes would be its own.
fn decides(
    prepared: &Prepared,
    oracle: Option<&Oracle>,
    checks: Option<&CheckList>,
    kill_on: &[KillOn],
) -> Outcome<Vec<Glob>> {
    let (all, project) = (&prepared.settings, &prepared.project);
    let mut files = oracle.map(Oracle::files).unwrap_or_default();
    let mut needed = oracle.map(Oracle::needs).unwrap_or_default();
    let asked = kill_on.iter().filter_map(|rule| if let KillOn::Command(argv) = rule { Some(argv) } else { None });
    for argv in asked.chain(checks.iter().flat_map(|list| list.checks()).map(|check| &check.argv)) {
        files.extend(scripts(argv));
        needed.extend(needs(argv));
    }
    if let Some(file) = needed.iter().find(|file| !project.join(file).is_file()) {
        return Err(Failure::said(format!("there is no file {} in the project {}", file.display(), project.display()))
            .while_("cannot ask whether the task is done")
            .hint("what the loop decides by must be there before it begins, or the agent could make it"));
    }
    files.extend(
        ["oracle.checks", "prompt.first", "prompt.next", "prompt.constraints"]
            .map(|name| PathBuf::from(&all.get(name).text)),
    );
    files.retain(|file| project.join(file).is_file());
    if prepared.sim.is_none() {
        // settings that the agent makes would be the next run's
        files.push(PathBuf::from(crate::cli::settings::gather::USUAL_FILE));
        files.extend(prepared.settings_file.iter().flat_map(|file| places(file)));
    }
    let below = files.iter().filter_map(|file| {
        let below = if file.is_absolute() { file.strip_prefix(project).ok()? } else { file };
        let text = below.display().to_string();
        // from the project's folder, not a name anywhere
        let glob = Glob::parse(&format!("./{}", text.strip_prefix("./").unwrap_or(&text))).ok()?;
        glob.is_of_one().then_some(glob)
    });
    Ok(below.collect())
}

/// Where a file lies: by its own name, and where a link in its place leads.
fn places(file: &Path) -> Vec<PathBuf> {
    // only its folder is looked through: what is put back is the link as well
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let own = fs::canonicalize(folder).ok().zip(file.file_name()).map(|(folder, name)| folder.join(name));
    own.into_iter().chain(fs::canonicalize(file).ok()).collect()
}

fn prompts(all: &Gathered, project: &Path) -> Outcome<Prompts> {
    let template = |text: &str, own: &str| {
        let text = if text == USUAL { own.to_owned() } else { text_at(project, text)? };
        Template::parse(&text).map_err(|error| error.to_string())
    };
    let init = read(all, "prompt.first", |text| maybe_empty(text, |text| template(text, INIT)))?;
    let continuation = read(all, "prompt.next", |text| maybe_empty(text, |text| template(text, CONTINUATION)))?;
    Ok(Prompts { init: init.unwrap_or_else(Template::task), continuation })
}

fn group(all: &Gathered, shared: &SharedCaps) -> Outcome<Option<PathBuf>> {
    let named = read(all, "controls.group", |text| {
        maybe_empty(text, |name| Purses::group(name, |variable| std::env::var(variable).ok()))
    })?;
    if named.is_none() && shared.has(Scope::Group) {
        return Err(
            Failure::said("controls.shared caps a group, and no group is named").hint("name it with --group NAME")
        );
    }
    Ok(named)
}

/// Who judges: kind, model and effort, and the score that passes. Each rubric must say one where the settings do not.
fn judge(prepared: &Prepared, rubrics: &[&Path]) -> Outcome<Judging> {
    let all = &prepared.settings;
    let threshold = read(all, "oracle.threshold", |text| {
        maybe_empty(text, |text| {
            let millionths = axis::millionths(text).map_err(|fault| fault.to_string())?;
            i64::try_from(millionths).map_err(|_| "it is too large".to_owned())
        })
    })?;
    for rubric in rubrics {
        let bytes = files::read(&prepared.project.join(rubric), judge::LONGEST);
        bytes
            .map_err(|error| format!("it cannot be read: {error}"))
            .and_then(|bytes| Rubric::read(&bytes, threshold))
            .map_err(|why| {
                Failure::said(format!("the rubric {}: {why}", rubric.display()))
                    .while_("cannot have it judged whether the task is done")
            })?;
    }
    let parts = in_one(&all.get("oracle.judge").text);
    let named = parts.iter().find(|(flag, text)| *flag == "agent" && !text.is_empty());
    let kind = match named {
        Some((_, text)) => text.parse().map_err(|error| Failure::said(format!("oracle.judge = {text:?}: {error}")))?,
        None if prepared.sim.is_some() => {
            return Err(Failure::said("a simulated agent cannot judge")
                .hint("name one that can: --judge claude/claude-haiku-4-5, say"));
        }
        None => prepared.kind,
    };
    Ok(Judging { kind, parts, threshold })
}
