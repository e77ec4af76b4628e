//! `flyball pilot`: how many rounds of each effort measure a ladder, in what order, at what cost.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde_json::{Value, json};

use super::common;
use crate::cli::args::{Pilot as Args, ShortFormat};
use crate::cli::error::{Failure, Outcome};
use crate::cli::exit::Exit;
use crate::cli::output;
use crate::lab::fit::ladder;
use crate::lab::fixed::{from_micros, micros};
use crate::lab::pilot::{Pilot, PilotError, RungPlan, plan, prior};
use crate::lab::result::VERSION;
use crate::lab::scenario::Scenario;

/// Blocks that the table shows; the rest are in the JSON.
const SHOWN: usize = 40;

/// Plans.
///
/// # Errors
/// A scenario, effort, precision or price at fault.
pub fn run(args: &Args) -> Outcome {
    let scenario = scenario(args)?;
    let precision = common::read("--precision", &args.precision, common::precision)?;
    let price = args.price.as_deref().map(|text| common::read("--price", text, common::price)).transpose()?;
    let seed = args.seed.unwrap_or(scenario.plan.seed);
    let pilot = plan(&scenario, f64::from(precision.ppm()) / 1e6, seed).map_err(unplanned)?;
    match args.format {
        ShortFormat::Table => output::print(table(&scenario, &pilot, price).as_bytes())?,
        ShortFormat::Json => output::print(format!("{}\n", object(&scenario, &pilot, price)).as_bytes())?,
    }
    Ok(Exit::Success)
}

fn scenario(args: &Args) -> Outcome<Scenario> {
    if let Some(path) = &args.scenario {
        return common::scenario(path);
    }
    let words: Vec<String> = match &args.model {
        Some(model) => ladder::words(model).iter().map(|word| (*word).to_owned()).collect(),
        None => args.effort.clone(),
    };
    match &args.model {
        Some(model) if words.is_empty() => {
            Err(Failure::said(format!("--model: no ladder of efforts is known for {model:?}"))
                .hint("name its efforts, hardest first, with --effort high,medium,low"))
        }
        None if words.is_empty() => Err(Failure::said("there is nothing to plan by")
            .hint("name a scenario file, or --model or --effort for a prior from public logs")),
        Some(_) | None => prior(&words).map_err(unplanned),
    }
}

fn unplanned(error: PilotError) -> Failure {
    Failure::usage(error).while_("cannot plan a pilot")
}

fn dollars(tokens: f64, price: f64) -> f64 {
    tokens / 1e6 * price
}

fn table(scenario: &Scenario, pilot: &Pilot, price: Option<f64>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    let mut head = vec!["effort", "from", "mean", "cv", "turns", "rounds", "half width", "design", "tokens", "time"];
    head.extend(price.map(|_| "USD"));
    table.set_header(head);
    for rung in &pilot.rungs {
        table.add_row(row(rung, price));
    }
    for column in 2..11 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let lines = common::lines(&table);
    let cost = price.map(|price| format!(", {:.2} USD", dollars(pilot.tokens(), price))).unwrap_or_default();
    format!(
        "{}: each rung's mean to within {} %, with 95 % confidence; tokens per turn, turns per round\n\n{lines}\n\
         in all {} rounds, {} output tokens, {}{cost}\n\n{}",
        scenario.name,
        plain(100.0 * pilot.precision),
        pilot.rounds(),
        thousands(pilot.tokens()),
        time(pilot.seconds()),
        order(scenario, pilot)
    )
}

fn row(rung: &RungPlan, price: Option<f64>) -> Vec<String> {
    let mut row = vec![
        rung.effort.clone(),
        if rung.assumed { "prior" } else { "scenario" }.to_owned(),
        format!("{:.0}", rung.mean),
        format!("{:.2}", rung.cv),
        format!("{:.0}", rung.turns),
        rung.rounds.to_string(),
        format!("{:.1} %", 100.0 * rung.half_width),
        format!("{:.1}", rung.design_effect),
        thousands(rung.tokens),
        time(rung.seconds),
    ];
    row.extend(price.map(|price| format!("{:.2}", dollars(rung.tokens, price))));
    row
}

/// The order of rounds, a block a line.
fn order(scenario: &Scenario, pilot: &Pilot) -> String {
    let mut text = "order, in blocks so that what drifts falls on all rungs alike:\n".to_owned();
    let mut first = 1;
    for block in pilot.blocks.iter().take(SHOWN) {
        let words: Vec<&str> = block.iter().map(|&rung| scenario.ladder.efforts()[rung].word()).collect();
        if !words.is_empty() {
            text.push_str(&format!("{first:>6}  {}\n", words.join(" ")));
        }
        first += words.len();
    }
    if pilot.blocks.len() > SHOWN {
        text.push_str(&format!("        .. and so on to round {}; --format json has them all\n", pilot.rounds()));
    }
    text
}

fn plain(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn thousands(tokens: f64) -> String {
    if tokens >= 1e6 { format!("{:.1}M", tokens / 1e6) } else { format!("{:.0}k", tokens / 1e3) }
}

fn time(seconds: f64) -> String {
    if seconds >= 5400.0 { format!("{:.1} h", seconds / 3600.0) } else { format!("{:.0} min", seconds / 60.0) }
}

fn object(scenario: &Scenario, pilot: &Pilot, price: Option<f64>) -> Value {
    let number = |value: f64| Value::from(from_micros(micros(value)));
    let usd = |tokens: f64| price.map(|price| number(dollars(tokens, price)));
    let rung = |rung: &RungPlan| {
        json!({
            "effort": rung.effort,
            "assumed": rung.assumed,
            "mean": number(rung.mean),
            "cv": number(rung.cv),
            "turns": number(rung.turns),
            "design_effect": number(rung.design_effect),
            "rounds": rung.rounds,
            "half_width": number(rung.half_width),
            "tokens": number(rung.tokens),
            "seconds": number(rung.seconds),
            "usd": usd(rung.tokens),
        })
    };
    let word = |&rung: &usize| scenario.ladder.efforts()[rung].word();
    let schedule: Vec<&str> = pilot.blocks.iter().flatten().map(word).collect();
    json!({
        "version": VERSION,
        "scenario": scenario.name,
        "precision": number(pilot.precision),
        "seed": pilot.seed,
        "rounds": pilot.rounds(),
        "tokens": number(pilot.tokens()),
        "seconds": number(pilot.seconds()),
        "price_usd_per_million": price.map(number),
        "usd": usd(pilot.tokens()),
        "rungs": pilot.rungs.iter().map(rung).collect::<Vec<_>>(),
        "schedule": schedule,
        "blocks": pilot.blocks.iter().map(Vec::len).collect::<Vec<_>>(),
    })
}
