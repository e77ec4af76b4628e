//! A recommendation as JSON and as a page of HTML.

use serde_json::{Value, json};

use crate::engine::counted;
use crate::lab::page::{Page as Html, Section, Table};
use crate::lab::plot::{Bar, BarRow, Bars, Chart, ChartDots, ChartPanel};
use crate::lab::recommend::Setting;
use crate::lab::recommend::doubt::warnings;
use crate::lab::recommend::judge::{Promise, Recommendation, Within};
use crate::lab::recommend::race::Trade;
use crate::lab::recommend::text::{self, Page};
use crate::lab::result::VERSION;
use crate::lab::scenario::Scenario;
use crate::lab::stats::Estimate;

fn setting(setting: &Setting) -> Value {
    json!({
        "law": setting.law.name(), "over_ms": setting.over.count(), "slack_ppm": setting.slack.ppm(),
        "rest_ms": setting.rest.count(),
    })
}

fn figure(estimate: &Estimate) -> Value {
    json!({ "mean": estimate.mean, "lo": estimate.interval.map(|i| i.lo), "hi": estimate.interval.map(|i| i.hi) })
}

/// Tokens within which a share of the runs settled; `never` where fewer did.
fn within(of: &Within) -> Value {
    let ends = of.interval.map(|ends| ends.map(|end| end.map_or_else(|| json!("never"), |tokens| json!(tokens))));
    let [lo, hi] = ends.map_or([Value::Null, Value::Null], |ends| ends);
    json!({ "tokens": of.tokens.map_or_else(|| json!("never"), |tokens| json!(tokens)), "lo": lo, "hi": hi })
}

/// Everything as one object.
pub(super) fn object(page: &Page<'_>, told: &Recommendation) -> Value {
    let promise = |promise: &Promise| {
        let worlds: serde_json::Map<String, Value> =
            page.worlds.iter().map(|world| world.name.clone()).zip(promise.by_world.iter().map(figure)).collect();
        // a mean over runs of which none settled is one of nothing
        let settled = |of: &Estimate| (promise.unsettled.mean < 1.0).then(|| figure(of));
        json!({
            "who": promise.who, "setting": setting(&promise.setting), "objective": figure(&promise.objective),
            "worse": promise.worse.as_ref().map(figure), "on_rung": figure(&promise.on_rung),
            "reversals": figure(&promise.reversals), "settle_rounds": settled(&promise.settle_rounds),
            "settle_tokens": settled(&promise.settle_tokens), "unsettled": figure(&promise.unsettled),
            "settle_within_half": promise.settle_within.map(|[half, _]| within(&half)),
            "settle_within_nine_of_ten": promise.settle_within.map(|[_, most]| within(&most)),
            "off_tokens": figure(&promise.off_tokens), "worlds": worlds,
            "worst_world": promise.worst_world.map(|(at, share)| json!({ "world": page.worlds[at].name, "on_rung": figure(&share) })),
        })
    };
    let front: Vec<Value> = told
        .front
        .iter()
        .map(|(of, trade)| {
            json!({
                "setting": setting(of), "runs": trade.excess.n, "excess_log": figure(&trade.excess), "reversals": figure(&trade.reversals),
                "settle_tokens": figure(&trade.settle_tokens), "on_rung": figure(&trade.on_rung),
            })
        })
        .collect();
    let reweighed: Vec<Value> = told
        .reweighed
        .iter()
        .map(|other| json!({ "change": other.change, "best": setting(&other.best), "worse": other.worse.as_ref().map(figure) }))
        .collect();
    let regret = told.regret.map(|regret| {
        let dollars = page.price.filter(|_| text::beyond_luck(told)).map(|price| regret.tokens.mean / 1e6 * price);
        json!({ "budget": regret.budget, "tokens": figure(&regret.tokens), "seconds": figure(&regret.seconds), "usd": dollars })
    });
    json!({
        "version": VERSION, "seed": page.seed, "fresh_runs": page.fresh_runs, "setting": setting(&told.chosen().setting),
        "warnings": warnings(page, told), "sentences": text::sentences(page, told), "best": setting(&told.best), "as_good": told.as_good,
        "promises": told.promises.iter().map(promise).collect::<Vec<_>>(), "front": front, "reweighed": reweighed,
        "regret": regret, "tried": told.screened.settings.len(), "settings": told.screened.all,
        "left_out": told.screened.left_out, "run_once": told.screened.once.iter().map(|law| law.name()).collect::<Vec<_>>(),
        "cost": told.race.cost, "stages": told.race.stages, "command": page.command,
    })
}

/// The page.
pub(super) fn page(page: &Page<'_>, told: &Recommendation, scenarios: &[Scenario]) -> Html {
    let names: Vec<&str> = scenarios.iter().map(|scenario| scenario.name.as_str()).collect();
    let mut lead: Vec<String> = warnings(page, told).iter().map(|warning| format!("Warning: {warning}")).collect();
    lead.push(format!("Use {}.", text::flags(&told.chosen().setting)));
    lead.extend(text::sentences(page, told));
    lead.extend(text::regretted(told, page.price));
    let section = |heading: &str, said: &str, table: Option<Table>, pictures: Vec<String>| Section {
        heading: heading.to_owned(),
        text: vec![said.to_owned()],
        table,
        pictures,
    };
    Html {
        title: format!("Settings for {}", names.join(", ")),
        facts: format!(
            "flyball {VERSION} · {} · {} · seed {} · {}",
            counted(page.worlds.len(), "world"),
            counted(page.fresh_runs, "fresh run"),
            page.seed,
            text::intervals(page.fresh_runs)
        ),
        lead,
        sections: vec![
            section(
                "What it promises",
                &format!("{} The mean, and half the width of its interval.", text::measured(page)),
                Some(Table { marked: vec![0], ..Table::of(&text::promised(told), true) }),
                vec![forest(told).svg()],
            ),
            section(
                "World by world",
                &format!(
                    "The loss in each world, with half the width of its 95 % interval. {} A setting that is good in one and bad in the next is not good.",
                    text::LOSS
                ),
                Some(Table::of(&text::worlds(page, told), false)),
                vec![],
            ),
            section("What is traded for what", text::FRONT, Some(Table::of(&text::front(told), true)), pareto(told)),
            Section {
                heading: "If the loss were weighed otherwise".to_owned(),
                text: std::iter::once("Differences in loss, paired by run, with 95 % intervals.".to_owned())
                    .chain(text::reweighed(told))
                    .collect(),
                ..Section::default()
            },
            Section {
                heading: "What was tried".to_owned(),
                text: std::iter::once(format!(
                    "{} of {}, {} of a setting in a world.",
                    told.screened.settings.len(),
                    counted(told.screened.all, "setting"),
                    counted(told.race.cost, "run")
                ))
                .chain(text::screened(told))
                .collect(),
                ..Section::default()
            },
        ],
        command: page.command.clone(),
    }
}

/// How much worse each other setting is, paired by run.
fn forest(told: &Recommendation) -> Bars {
    let row = |promise: &Promise| {
        let worse = promise.worse?;
        let value = Bar::new(worse.mean, worse.interval.map(|interval| (interval.lo, interval.hi)));
        let label = format!("{}: {}", promise.who, short(&promise.setting));
        Some(BarRow { label, values: vec![value], ..BarRow::default() })
    };
    Bars {
        title: "How much worse the others are, run by run".to_owned(),
        facts: vec![
            format!("against {}", text::flags(&told.chosen().setting)),
            counted(told.chosen().objective.n, "run").to_string(),
        ],
        x: "loss above that of the recommended".to_owned(),
        names: vec!["difference and its 95 % interval".to_owned()],
        dots: true,
        decimals: 3,
        rows: told.promises.iter().filter_map(row).collect(),
        ..Bars::default()
    }
}

fn short(setting: &Setting) -> String {
    format!("{} {} s {} %", setting.law, setting.over.count() / 1000, f64::from(setting.slack.ppm()) / 1e4)
}

/// Straying against reversals, and against tokens before settling.
fn pareto(told: &Recommendation) -> Vec<String> {
    let mut laws: Vec<&'static str> = told.front.iter().map(|(setting, _)| setting.law.name()).collect();
    laws.sort_unstable();
    laws.dedup();
    let chart = |x: &str, value: fn(&Trade) -> f64| {
        let of = |(at, law): (usize, &&'static str)| {
            let points = told.front.iter().filter(|(setting, _)| setting.law.name() == *law);
            let points = points.map(|(_, trade)| (value(trade), trade.excess.mean));
            ChartDots::new(law, u8::try_from(at).unwrap_or(u8::MAX), points)
        };
        let dots = laws.iter().enumerate().map(of).collect();
        let panel =
            ChartPanel { told: "further down and to the left is better".to_owned(), dots, ..ChartPanel::default() };
        Chart {
            title: format!("Straying against {x}"),
            facts: vec![format!("{} that none beats", counted(told.front.len(), "setting"))],
            x: x.to_owned(),
            y: "nats above an oracle".to_owned(),
            panels: vec![panel],
            ..Chart::default()
        }
    };
    let both = [
        chart("reversals per 100 rounds", |trade| trade.reversals.mean),
        chart("thousand tokens before settling", |trade| trade.settle_tokens.mean / 1000.0),
    ];
    both.iter().map(Chart::svg).collect()
}
