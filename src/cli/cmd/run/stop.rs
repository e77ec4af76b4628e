//! The last line: which control fired, and what the loop came to.

use serde_json::json;

use crate::cli::exit::Exit;
use crate::cli::output::say;
use crate::cli::settings::Typed;
use crate::engine::{Control, MicroUsd, counted};
use crate::run::Ended;
use crate::run::figures::{millions, rounds, span, usd};
use crate::run::os::Asked;

/// Says it, and gives the exit code.
#[must_use]
pub fn say_how(ended: &Ended, typed: &Typed, run: &str, as_json: bool) -> Exit {
    let exit = exit_of(ended);
    if as_json {
        let line = json!({
            "event": "stop",
            "run": run,
            "control": ended.control.name(),
            "detail": detail(ended, typed),
            "exit": exit.code(),
            "rounds": ended.spent.rounds,
            "output_tokens": ended.spent.output.count(),
            "tokens": ended.spent.tokens.count(),
            "micro_usd": ended.spent.cost.count(),
            "wall_ms": ended.spent.wall.count(),
        });
        // whoever closed the pipe does not want to hear
        let _ = crate::cli::output::print(format!("{line}\n").as_bytes());
    }
    say(&format!("flyball: stopped by {}: {}", ended.control, detail(ended, typed)));
    exit
}

fn exit_of(ended: &Ended) -> Exit {
    match (ended.control, ended.asked) {
        (Control::Interrupted, Some(Asked::Hup)) => Exit::Hangup,
        (Control::Interrupted, Some(Asked::Term)) => Exit::Terminated,
        (Control::Interrupted, _) => Exit::Interrupted,
        (Control::OraclePassed, _) => Exit::Success,
        (Control::OracleError, _) => Exit::Oracle,
        _ => Exit::Failed,
    }
}

/// What the control saw, and what the loop came to.
#[must_use]
pub fn detail(ended: &Ended, typed: &Typed) -> String {
    let (spent, limits) = (ended.spent, &typed.limits);
    let of = |cap: Option<String>| cap.map(|cap| format!(" of {cap}")).unwrap_or_default();
    let mut first = match ended.control {
        Control::Rounds => match limits.rounds {
            Some(cap) => format!("{} of {}", spent.rounds, rounds(cap.get())),
            None => rounds(spent.rounds),
        },
        Control::Budget => {
            counted(format!("{}{}", millions(spent.output), of(limits.budget.map(millions))), "output token")
                .to_string()
        }
        Control::Tokens => format!(
            "{} of all kinds",
            counted(format!("{}{}", millions(spent.tokens), of(limits.tokens.map(millions))), "token")
        ),
        Control::Cost => format!("{}{}", usd(spent.cost), of(limits.cost.map(usd))),
        Control::Wall => format!("{}{} of wall time", span(spent.wall), of(limits.wall.map(span))),
        Control::Requests => {
            format!(
                "more than {} in one round",
                counted(limits.requests.map_or_else(String::new, |cap| cap.to_string()), "request")
            )
        }
        Control::AgentFailures => {
            format!("{} in a row failed", rounds(limits.agent_failures.map_or(0, |cap| u64::from(cap.get()))))
        }
        Control::Unmetered => "something was spent that nobody counted, and a cap on spending is set".to_owned(),
        Control::Interrupted => "run the same command again to go on".to_owned(),
        Control::NoProgress => {
            format!("{} in a row changed nothing", rounds(u64::from(ended.kept.rows.tree.length.saturating_sub(1))))
        }
        Control::SameError => "the last rounds failed with the same error".to_owned(),
        Control::Limit => "the backend's limit does not lift in the time that may be waited".to_owned(),
        Control::KillOn => "a kill-on rule matched".to_owned(),
        Control::OraclePassed => "done".to_owned(),
        Control::OracleError => "the oracle could not answer".to_owned(),
        Control::Blocked => "the oracle says that nothing more can be done here".to_owned(),
    };
    if let Some(detail) = &ended.detail {
        first = detail.clone();
    }
    let cost = if spent.cost == MicroUsd::ZERO { String::new() } else { format!(", {}", usd(spent.cost)) };
    format!(
        "{first}; {}, {}{cost}, {}",
        rounds(spent.rounds),
        counted(millions(spent.output), "output token"),
        span(spent.wall)
    )
}
