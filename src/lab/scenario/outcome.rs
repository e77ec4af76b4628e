//! The tables of a scenario that say what comes of rounds and what stops a run: `[outcome]`, `[usage]`, `[controls]`.
//!
//! The keys of `[controls]` are those of the real loop's settings, with the same units; what is not named bounds nothing. Bounds of
//! `[outcome]` are those of the model, which checks all of it again.

use std::num::{NonZeroU32, NonZeroU64};

use super::fields::{Bounds, Fields, Item};
use super::model::Controls;
use crate::engine::{Limits, MicroUsd, Millis, Tokens};
use crate::lab::axis::{self, REST};
use crate::sim::{LimitSpec, OutcomeModel, OutcomeSpec, Span, Usage};

pub(super) const OUTCOME: [&str; 11] = [
    "failed",
    "early",
    "limit",
    "unchanged",
    "same_error",
    "done",
    "finish",
    "hopeless",
    "blocked",
    "oracle_error",
    "kill_on",
];
pub(super) const USAGE: [&str; 3] = ["input", "input_price", "output_price"];
pub(super) const CONTROLS: [&str; 14] = [
    "rounds",
    "tokens",
    "cost",
    "wall",
    "round",
    "inactivity",
    "requests",
    "failures",
    "no_progress",
    "same_error",
    "limit_wait",
    "limit_rounds",
    "backoff",
    "limit_backoff",
];

const CHANCE: Bounds = Bounds::within(0.0, 1.0);

/// What may come of rounds on a ladder of so many rungs; none where the ladder itself was at fault.
pub(super) fn outcome(item: &Item<'_>, rungs: Option<usize>) -> Option<OutcomeModel> {
    let fields = item.table(&OUTCOME)?;
    let chance = |key| fields.real_or(key, 0.0, CHANCE);
    let (failed, early) = (chance("failed"), fields.real_or("early", 0.5, CHANCE));
    let (unchanged, done, blocked) = (chance("unchanged"), chance("done"), chance("blocked"));
    let (oracle_error, kill_on, hopeless) = (chance("oracle_error"), chance("kill_on"), chance("hopeless"));
    let same_error = fields.or("same_error", None, |item| item.real(CHANCE).map(Some));
    let limit = fields.or("limit", None, |item| limit(&item).map(Some));
    let finish = fields.or("finish", Vec::new(), |item| {
        let tokens: Vec<Option<f64>> =
            item.list()?.iter().map(|tokens| tokens.real(Bounds::within(1.0, 1e15))).collect();
        tokens.into_iter().collect()
    });
    let spec = OutcomeSpec {
        failed: failed?,
        early: early?,
        limit: limit?,
        unchanged: unchanged?,
        same_error: same_error?,
        done: done?,
        finish: finish?,
        hopeless: hopeless?,
        blocked: blocked?,
        oracle_error: oracle_error?,
        kill_on: kill_on?,
    };
    let rungs = rungs.unwrap_or(spec.finish.len());
    OutcomeModel::new(spec, rungs)
        .or_else(|error| {
            let at = fields.get("finish");
            at.as_ref().unwrap_or(item).wrong::<OutcomeModel>(error.to_string()).ok_or(())
        })
        .ok()
}

fn limit(item: &Item<'_>) -> Option<LimitSpec> {
    let fields = item.table(&["chance", "lasts", "told"])?;
    let (chance, told) = (fields.real("chance", CHANCE), fields.real_or("told", 1.0, CHANCE));
    let lasts = fields.need("lasts").and_then(|item| {
        let fields = item.table(&["mean", "cv"])?;
        let (mean, cv) = (fields.real("mean", Bounds::within(0.0, 1e6)), fields.real("cv", Bounds::within(0.0, 100.0)));
        Some(Span { mean: mean?, cv: cv? })
    });
    Some(LimitSpec { chance: chance?, lasts: lasts?, told: told? })
}

/// What a turn takes in and what tokens cost.
pub(super) fn usage(fields: &Fields<'_>) -> Option<Usage> {
    let usual = Usage::default();
    let price = |key, usual| fields.or(key, usual, |item| item.parsed(price));
    let input = fields.or("input", usual.input, |item| item.count(1, 1_000_000_000).map(Tokens::new));
    let (input_price, output_price) =
        (price("input_price", usual.input_price), price("output_price", usual.output_price));
    Some(Usage { input: input?, input_price: input_price?, output_price: output_price? })
}

/// USD for a million tokens, in millionths.
fn price(text: &str) -> Result<u64, String> {
    match axis::millionths(text).map_err(|fault| fault.to_string())? {
        price if price > 1_000_000_000_000 => Err("it must be at most 1000000 USD for a million tokens".into()),
        price => Ok(price),
    }
}

/// What stops a run, or a round of it.
pub(super) fn controls(fields: &Fields<'_>) -> Option<Controls> {
    let count = |key| fields.or(key, None, |item| item.count(1, u64::MAX).map(NonZeroU64::new));
    let few = |key| fields.or(key, None, |item| item.count32(1, u32::MAX).map(NonZeroU32::new));
    let span = |key| fields.or(key, None, |item| item.parsed(|text| REST.value(text)).map(Some));
    let amount = |key| fields.or(key, None, |item| item.parsed(amount).map(Some));
    let usual = Controls::default();
    let (rounds, requests) = (count("rounds"), count("requests"));
    let (tokens, cost) = (amount("tokens"), amount("cost"));
    let (wall, round, inactivity) = (span("wall"), span("round"), span("inactivity"));
    let (failures, no_progress, same_error) = (few("failures"), few("no_progress"), few("same_error"));
    let (limit_wait, limited) = (span("limit_wait"), few("limit_rounds"));
    let (backoff, limit_backoff) = (span("backoff"), span("limit_backoff"));
    let limits = Limits {
        rounds: rounds?,
        budget: None,
        tokens: tokens?.map(Tokens::new),
        cost: cost?.map(MicroUsd::new),
        wall: wall?,
        round_wall: round?,
        inactivity: inactivity?,
        requests: requests?,
        agent_failures: failures?,
        no_progress: no_progress?,
        same_error: same_error?,
        limit_wait: limit_wait?,
        limited: limited?,
    };
    let or = |given: Option<Millis>, usual| given.unwrap_or(usual);
    Some(Controls {
        limits,
        backoff: or(backoff?, usual.backoff),
        limit_backoff: or(limit_backoff?, usual.limit_backoff),
    })
}

/// Millions of tokens to the token, USD to the millionth; a cap of nothing is none that can be meant.
fn amount(text: &str) -> Result<u64, String> {
    match axis::millionths(text).map_err(|fault| fault.to_string())? {
        0 => Err("it must be above 0: leave the key out for no cap".into()),
        amount => Ok(amount),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::scenario::Scenario;

    const TABLES: &str = "
[outcome]
failed = 0.1
early = 0.25
limit = { chance = 0.02, lasts = { mean = 3600, cv = 0.5 }, told = 0.75 }
unchanged = 0.2
same_error = 0.3
done = 0.01
finish = [1e6, 2e6, 3e6, 4e6, 5e6, 6e6]
hopeless = 0.05
blocked = 0.001
oracle_error = 0.002
kill_on = 0.003
[usage]
input = 30000
input_price = 0.4
output_price = 15
[controls]
rounds = 50
tokens = 1.5
cost = 20
wall = \"1d\"
round = \"45m\"
inactivity = 600
requests = 500
failures = 3
no_progress = 4
same_error = 5
limit_wait = \"6h\"
limit_rounds = 6
backoff = \"5s\"
limit_backoff = \"2m\"
";

    fn load(tables: &str) -> Result<Scenario, String> {
        let base = include_str!("../../../scenarios/s02-typical.toml");
        Scenario::load(&format!("{base}{tables}"), "x.toml").map_err(|error| error.to_string())
    }

    #[test]
    fn all_that_can_be_said_arrives() {
        let scenario = load(TABLES).unwrap();
        let spec = OutcomeSpec {
            failed: 0.1,
            early: 0.25,
            limit: Some(LimitSpec { chance: 0.02, lasts: Span { mean: 3600.0, cv: 0.5 }, told: 0.75 }),
            unchanged: 0.2,
            same_error: Some(0.3),
            done: 0.01,
            finish: vec![1e6, 2e6, 3e6, 4e6, 5e6, 6e6],
            hopeless: 0.05,
            blocked: 0.001,
            oracle_error: 0.002,
            kill_on: 0.003,
        };
        assert_eq!(scenario.outcome.as_ref().unwrap().spec(), &spec);
        let usage = Usage { input: Tokens::new(30_000), input_price: 400_000, output_price: 15_000_000 };
        assert_eq!((scenario.usage, scenario.usage.cost(2_000)), (usage, Some(MicroUsd::new(42_000))));
        let limits = Limits {
            rounds: NonZeroU64::new(50),
            budget: None,
            tokens: Some(Tokens::new(1_500_000)),
            cost: Some(MicroUsd::new(20_000_000)),
            wall: Some(Millis::from_secs(86_400)),
            round_wall: Some(Millis::from_secs(2_700)),
            inactivity: Some(Millis::from_secs(600)),
            requests: NonZeroU64::new(500),
            agent_failures: NonZeroU32::new(3),
            no_progress: NonZeroU32::new(4),
            same_error: NonZeroU32::new(5),
            limit_wait: Some(Millis::from_secs(21_600)),
            limited: NonZeroU32::new(6),
        };
        let (backoff, limit_backoff) = (Millis::from_secs(5), Millis::from_secs(120));
        assert_eq!(scenario.controls, Controls { limits, backoff, limit_backoff });
        assert!(scenario.hangs_on_the_path());
    }

    #[test]
    fn each_table_alone_hangs_on_the_path_and_none_does_not() {
        assert!(!load("").unwrap().hangs_on_the_path());
        for table in ["[outcome]\n", "[usage]\noutput_price = 15\n", "[controls]\nfailures = 3\n"] {
            assert!(load(table).unwrap().hangs_on_the_path(), "{table}");
        }
    }

    #[test]
    fn faults_name_the_key_and_what_would_be_right() {
        let line = include_str!("../../../scenarios/s02-typical.toml").lines().count();
        for (tables, at, said) in [
            ("[outcome]\nfial = 0.1\n", 2, "outcome.fial: unknown key; did you mean `failed`?"),
            ("[outcome]\nfailed = 1.5\n", 2, "outcome.failed: it must be at least 0 and at most 1, and is 1.5"),
            (
                "[outcome]\nfinish = [1e6]\n",
                2,
                "outcome.finish: outcome.finish has 1 values, and needs one for each of",
            ),
            ("[outcome]\nfinish = [1e6, 0]\n", 2, "outcome.finish[1]: it must be at least 1"),
            ("[outcome]\nlimit = { chance = 0.1 }\n", 2, "outcome.limit.lasts: it is missing"),
            ("[usage]\ninput = 0\n", 2, "usage.input: it must be from 1"),
            ("[usage]\noutput_price = 1e9\n", 2, "usage.output_price: \"1e9\": it must be at most 1000000 USD"),
            ("[controls]\nround = 0\nrounds = 0\n", 3, "controls.rounds: it must be from 1"),
            ("[controls]\nno_progres = 3\n", 2, "controls.no_progres: unknown key; did you mean `no_progress`?"),
            ("[controls]\ntokens = 0\n", 2, "controls.tokens: \"0\": it must be above 0"),
            ("[control]\n", 1, "control: unknown key; did you mean `controls`?"),
        ] {
            let error = load(tables).unwrap_err();
            assert!(error.contains(&format!("x.toml:{}: {said}", line + at)), "{tables:?}: {error}");
        }
    }
}
