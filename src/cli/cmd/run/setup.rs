//! The agent, the machine and the journal's first line, out of settings.

use super::Prepared;
use super::open::Opened;
use crate::agents::adapter::{AgentKind, AskError, CallCaps, PLACEHOLDERS};
use crate::cli::error::{Failure, Outcome};
use crate::cli::settings::Typed;
use crate::engine::laws::Cooldown;
use crate::engine::{AnyLaw, Asks, Band, Governor, Machine, Over, Plan};
use crate::lab::axis::nearest;
use crate::run::system::which as program_at;
use crate::run::{Agent, Stamps};
use crate::trace::{Header, Setup};

/// The agent of the rounds.
pub(super) fn agent(prepared: &Prepared, opened: &Opened, stamps: Stamps) -> Outcome<Agent> {
    let mut agent = agent_of(prepared, opened, stamps, prepared.kind);
    if let Some(sim) = &prepared.sim {
        agent.template = Some(sim.argv(&opened.folder)?);
        // its log files belong to the run, wherever a real program's would go
        agent.set.push(("CODEX_HOME".to_owned(), opened.folder.join("codex").display().to_string()));
    }
    Ok(agent)
}

/// An agent of this kind; of the loop's own with all that is set for it.
pub(super) fn agent_of(prepared: &Prepared, opened: &Opened, stamps: Stamps, kind: AgentKind) -> Agent {
    let (typed, project) = (&prepared.typed, prepared.project.clone());
    let mut agent = Agent::new(kind.adapter(), project, opened.folder.clone(), &opened.id, &prepared.prompt);
    if kind == prepared.kind {
        let model = prepared.settings.get("agent.model").text.clone();
        agent.model = (!model.is_empty()).then_some(model);
        agent.efforts = !prepared.unnamed;
        agent.program.clone_from(&typed.program);
        agent.template.clone_from(&typed.argv);
        agent.permissions = typed.permissions;
        agent.extra.clone_from(&typed.arguments);
    }
    agent.caps = CallCaps { turns: typed.call_turns, usd_micro: typed.call_cost };
    agent.environment = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    agent.stamps = stamps;
    agent
}

/// Whether the agent can be asked for every effort of the ladder, and whether there is a program to start.
pub(super) fn check_program(prepared: &Prepared, agent: &Agent) -> Outcome<()> {
    if prepared.sim.is_none() {
        let words = agent.template.as_deref().unwrap_or(&agent.program);
        misspelt(words).map_or(Ok(()), |why| Err(Failure::said(why).while_("cannot use the agent's command")))?;
    }
    prepared.ladder.efforts().iter().try_for_each(|effort| can_ask(agent, effort.word()))?;
    let named = agent.template.as_ref().or(Some(&agent.program)).and_then(|argv| argv.first()).cloned();
    let program = named.unwrap_or_else(|| prepared.kind.name().to_owned());
    let path = std::env::var("PATH").ok();
    // a path is one from the folder in which the agent is started
    let here = program.contains('/').then(|| prepared.project.join(&program).display().to_string());
    if program_at(here.as_deref().unwrap_or(&program), path.as_deref()).is_some() {
        return Ok(());
    }
    let place = here.map_or_else(|| "on the PATH".to_owned(), |here| format!("at {here}"));
    let failure =
        Failure::agent(anyhow::anyhow!("there is no program {program} {place}")).while_("the agent cannot be started");
    Err(failure.hint("install it, name it with --program PATH, or try --agent sim; flyball doctor shows what is there"))
}

/// Whether this effort can be asked for: what other settings would mend is a fault of theirs, and all else one of the agent.
pub(super) fn can_ask(agent: &Agent, effort: &str) -> Outcome<()> {
    agent.can_ask(effort).map_err(|error| {
        if error.is_of_settings() {
            let hint = if error == AskError::NoCommand {
                "name it after `--`: flyball run --agent command TASK -- PROGRAM ARGUMENTS"
            } else {
                "flyball run --print-config shows each setting and where it comes from"
            };
            Failure::usage(error).while_("cannot use the agent's settings").hint(hint)
        } else {
            Failure::agent(error).while_("the agent cannot be started")
        }
    })
}

/// A word of a template that nearly names what could be put in. Other words in braces are the program's own, and so is what a shell
/// reads as `${name}`.
fn misspelt(words: &[String]) -> Option<String> {
    words.iter().find_map(|word| {
        word.match_indices('{').find_map(|(at, _)| {
            let (name, _) = word[at + 1..].split_once('}')?;
            let is_name = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
            let near = nearest(name, &PLACEHOLDERS).filter(|near| *near != name)?;
            (is_name && !word[..at].ends_with('$'))
                .then(|| format!("`{word}` has {{{name}}}, and nothing is put in for that; did you mean {{{near}}}?"))
        })
    })
}

/// The first line of the journal.
pub(super) fn header(prepared: &Prepared, typed: &Typed) -> Header {
    let mut header = Header::new(Setup {
        ladder: prepared.ladder.efforts().iter().map(|effort| effort.word().to_owned()).collect(),
        configured: prepared.settings.get("agent.effort").text.clone(),
        law: typed.law.name().to_owned(),
        juice_millionths: typed.juice.micros(),
        over_ms: typed.over.count(),
        slack_ppm: typed.slack.ppm(),
        rest_ms: typed.rest.count(),
        budget_tokens: typed.limits.budget.map(|budget| budget.count()),
        rounds: typed.limits.rounds.map(std::num::NonZeroU64::get),
        set: Setup::set_of(&prepared.settings.tuning()),
    });
    header.chained = true;
    header.scenario = prepared.sim.as_ref().map(|sim| sim.scenario.name.clone());
    header
}

/// The machine.
pub(super) fn machine(
    prepared: &Prepared,
    typed: &Typed,
    band: Band,
    opened: &Opened,
    asks: Asks,
) -> Machine<Cooldown<AnyLaw>> {
    let mut plan = Plan::new(prepared.ladder.clone(), &prepared.settings.get("agent.effort").text);
    (plan.rest, plan.backoff, plan.grace, plan.limits) = (typed.rest, typed.backoff, typed.grace, typed.limits);
    // what was lost with the process before is asked again
    plan.verify = if opened.unanswered && asks == Asks::After { Asks::BeforeToo } else { asks };
    (plan.limit_backoff, plan.salt) = (typed.limit_backoff, salt(&opened.id));
    let governor = Governor::new(
        typed.law.tuned(&prepared.settings.tuning()),
        band,
        Over::new(typed.over),
        prepared.ladder.rungs(),
    );
    Machine::new(plan, governor, opened.kept.clone())
}

/// What tells this run from others that wait for the same limit: its name, by FNV-1a.
fn salt(run: &str) -> u64 {
    run.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}
