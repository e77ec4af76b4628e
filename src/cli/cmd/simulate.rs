//! `flyball simulate`: one cell, once, with its trace, its picture and a row a round.

use std::io;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde_json::json;

use super::common;
use crate::cli::args::{Simulate, SimulateFormat};
use crate::cli::error::{Failure, Outcome};
use crate::cli::exit::Exit;
use crate::cli::output::{self, Folder};
use crate::engine::{RoundExit, Spent, counted};
use crate::lab::bounds::{self, MAX_ROUNDS};
use crate::lab::pictures::{staircase, still};
use crate::lab::report::choice::flags;
use crate::lab::result::VERSION;
use crate::lab::simulate::{Once, Round, Simulated, simulate};
use crate::trace::{Header, Setup, Writer};

/// Simulates one run.
///
/// # Errors
/// A scenario, flag or folder at fault.
pub fn run(args: &Simulate) -> Outcome {
    let scenario = common::scenario(&args.scenario)?;
    let cell = common::cell(&args.one, scenario.base())?;
    let rounds = bounds::count("--rounds", args.rounds, scenario.plan.rounds, MAX_ROUNDS).map_err(Failure::usage)?;
    let seed = args.seed.unwrap_or(scenario.plan.seed);
    bounds::memory(&scenario, 1, 1, rounds, 1).map_err(Failure::usage)?;
    let folder = Folder::open(&common::out(args.out.as_ref(), &scenario))?;
    common::advise(&scenario, &[cell.juice]);

    let once = Once { scenario: &scenario, cell, run: args.run, rounds, seed };
    let simulated = traced(&once, &folder)?;
    let picture = staircase(&once, &simulated);
    let still = still(&once);
    let svg = still.as_ref().map_or_else(|| picture.svg(), |still| picture.svg_over(still));
    common::picture(&folder, "trace", &svg, &picture)?;
    if let Some(still) = &still {
        common::picture(&folder, "still", &still.svg(), still)?;
    }
    match args.format {
        SimulateFormat::Table => output::print(table(&once, &simulated).as_bytes())?,
        SimulateFormat::Json => output::print(format!("{}\n", object(&once, &simulated)).as_bytes())?,
    }
    output::say(&format!(
        "wrote trace.jsonl, and trace and still as .svg, .png and .json to {}",
        folder.path().display()
    ));
    Ok(Exit::Success)
}

/// Runs it while its trace is written.
fn traced(once: &Once<'_>, folder: &Folder) -> Outcome<Simulated> {
    let (scenario, cell) = (once.scenario, once.cell);
    let setup = Setup {
        ladder: scenario.ladder.efforts().iter().map(|effort| effort.word().to_owned()).collect(),
        configured: scenario.ladder.effort(scenario.plan.start).word().to_owned(),
        law: cell.law.name().to_owned(),
        juice_millionths: cell.juice.micros(),
        over_ms: cell.over.count(),
        slack_ppm: cell.slack.ppm(),
        rest_ms: cell.rest.count(),
        budget_tokens: scenario.governor.budget.map(|tokens| tokens.count()),
        rounds: Some(once.rounds.into()),
        set: Setup::set_of(&scenario.governor.tuning),
    };
    let mut header = Header::new(setup);
    header.scenario = Some(scenario.name.clone());
    (header.seed, header.run) = (Some(once.seed), Some(once.run.into()));
    let mut simulated = None;
    folder.write("trace.jsonl", |out| {
        let mut writer = Writer::new(out, &header)?;
        simulated = Some(simulate(once, &mut writer));
        writer.finish().map(drop)
    })?;
    match simulated {
        Some(run) => run.map_err(Failure::usage),
        None => Err(Failure::internal(io::Error::other("nothing was simulated"))),
    }
}

/// A row a round.
fn table(once: &Once<'_>, run: &Simulated) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    let outcomes = once.scenario.hangs_on_the_path();
    let head = ["round", "rung", "turns", "reading", "band", "then", "why", "tokens", "spent"];
    table.set_header(head.into_iter().chain(outcomes.then_some("came of it")));
    for round in &run.rounds {
        table.add_row(row(once, round).into_iter().chain(outcomes.then(|| came(round))));
    }
    for column in [0, 2, 3, 7, 8] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let lines = common::lines(&table);
    let right = run.rounds.iter().filter(|round| round.right).count();
    let ended = if outcomes { ended(run) } else { String::new() };
    format!(
        "{}: run {} of seed {}, {}\n\n{lines}\nstopped by {}; on a right rung in {right} of {}\n{ended}",
        once.scenario.name,
        once.run,
        once.seed,
        flags(&once.cell),
        run.stop,
        counted(run.rounds.len(), "round")
    )
}

/// What came of a round beside its tokens, in words.
fn came(round: &Round) -> String {
    let exit = match (round.exit, round.limited) {
        (RoundExit::Done, _) => None,
        (_, true) => Some("limit"),
        (exit @ (RoundExit::Failed | RoundExit::Cut), false) => Some(exit.word()),
    };
    let Some(left) = round.left else { return exit.unwrap_or("-").to_owned() };
    let kill = left.kill_on.then_some("kill-on");
    exit.into_iter().chain(kill).chain([common::answer(left.answer)]).collect::<Vec<_>>().join(", ")
}

/// What the run came to.
fn ended(run: &Simulated) -> String {
    let Spent { rounds, output, tokens, cost, wall } = run.spent;
    let seconds = wall.count() / 1000;
    let usd = match cost.count() {
        0 => String::new(),
        cost => format!(", {}.{:02} USD", (cost + 5_000) / 1_000_000, (cost + 5_000) % 1_000_000 / 10_000),
    };
    format!(
        "it came to {}, {}, {} in all{usd} and {} h {} min {} s\n",
        counted(rounds, "round"),
        counted(output.count(), "output token"),
        counted(tokens.count(), "token"),
        seconds / 3600,
        seconds % 3600 / 60,
        seconds % 60
    )
}

fn row(once: &Once<'_>, round: &Round) -> [String; 9] {
    let ladder = &once.scenario.ladder;
    let verdict = round.verdict;
    [
        round.number.to_string(),
        ladder.effort(verdict.from).to_string(),
        round.turns.to_string(),
        common::whole(verdict.decision.evidence.mean),
        round.side().map_or("-", common::side).to_owned(),
        common::then(ladder, &verdict),
        verdict.decision.why.word().to_owned(),
        round.output.count().to_string(),
        round.spent.count().to_string(),
    ]
}

/// The same as one object, for programs.
fn object(once: &Once<'_>, run: &Simulated) -> serde_json::Value {
    let ladder = &once.scenario.ladder;
    let round = |round: &Round| {
        let (verdict, mean) = (round.verdict, round.verdict.decision.evidence.mean);
        let mut object = json!({
            "round": round.number,
            "rung": ladder.effort(verdict.from).word(),
            "next": ladder.effort(verdict.to).word(),
            "right": round.right,
            "turns": round.turns,
            "reading": mean.map(|mean| json!({"total_tokens": mean.total().count(), "turns": mean.turns()})),
            "side": round.side().map(common::side),
            "pinned": verdict.pinned,
            "why": verdict.decision.why.word(),
            "belief": verdict.decision.evidence.belief.map(|belief| json!({
                "error_micronats": belief.error,
                "sd_micronats": belief.sd,
                "step_micronats": belief.step,
                "gain_micronats": belief.gain,
            })),
            "output_tokens": round.output.count(),
            "spent_tokens": round.spent.count(),
            "lasted_ms": round.lasted.count(),
        });
        if once.scenario.hangs_on_the_path() {
            object["exit"] = round.exit.word().into();
            object["limited"] = round.limited.into();
            object["answer"] = round.left.map(|left| common::answer(left.answer)).into();
            object["kill_on"] = round.left.is_some_and(|left| left.kill_on).into();
        }
        object
    };
    let mut object = json!({
        "version": VERSION,
        "scenario": once.scenario.name,
        "seed": once.seed,
        "run": once.run,
        "law": once.cell.law.name(),
        "juice_millionths": once.cell.juice.micros(),
        "over_ms": once.cell.over.count(),
        "slack_ppm": once.cell.slack.ppm(),
        "rest_ms": once.cell.rest.count(),
        "stop": run.stop.name(),
        "rounds": run.rounds.iter().map(round).collect::<Vec<_>>(),
    });
    if once.scenario.hangs_on_the_path() {
        let Spent { rounds, output, tokens, cost, wall } = run.spent;
        object["spent"] = json!({
            "rounds": rounds,
            "output_tokens": output.count(),
            "tokens": tokens.count(),
            "cost_micro_usd": cost.count(),
            "wall_ms": wall.count(),
        });
    }
    object
}
