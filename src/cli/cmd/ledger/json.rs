//! The ledger as one JSON object: `files`, `total`, and what was counted twice.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Sheet;
use crate::agents::ledger::{Account, Dedup, Share};
use crate::cli::error::{Failure, Outcome};

#[derive(Serialize)]
struct Whole<'a> {
    /// `all`: a file has what it is the best copy of. `per-file`: each file alone.
    dedup: &'static str,
    files: Vec<File<'a>>,
    total: Entry<'a>,
    /// Some files state a cost and others with turns do not.
    cost_is_partial: bool,
    /// What the files would add up to, each alone, beyond the total.
    counted_twice: Sum,
}

#[derive(Serialize)]
struct File<'a> {
    file: &'a str,
    #[serde(flatten)]
    entry: Entry<'a>,
}

#[derive(Serialize)]
struct Sum {
    turns: u64,
    turns_with_final_usage: u64,
    output_tokens: u64,
    estimated_output_tokens: u64,
}

#[derive(Serialize)]
struct Part<'a> {
    model: Option<&'a str>,
    effort: Option<&'a str>,
    #[serde(flatten)]
    sum: Sum,
}

#[derive(Serialize)]
struct Stated {
    output_tokens: u64,
    counted_output_tokens: u64,
    /// Counted over stated, at most 1.
    coverage: f64,
}

#[derive(Serialize)]
struct Entry<'a> {
    formats: Vec<&'static str>,
    versions: Vec<&'a str>,
    sessions: u64,
    #[serde(flatten)]
    sum: Sum,
    turns_estimated: u64,
    turns_unknown: u64,
    turns_of_zero: u64,
    input_tokens: u64,
    cache_read_tokens: u64,
    cache_write_tokens: u64,
    reasoning_tokens: u64,
    by_model_and_effort: Vec<Part<'a>>,
    stated: Option<Stated>,
    results: u64,
    cost_micro_usd: Option<u64>,
    errors: &'a BTreeMap<String, u64>,
    odd: Odd,
}

#[derive(Serialize)]
struct Odd {
    lines: u64,
    unreadable_lines: u64,
    unknown_lines: u64,
    repeated_rows: u64,
    synthetic_messages: u64,
    refused_numbers: u64,
    untimed_turns: u64,
    fallen_totals: u64,
    compactions: u64,
    counted_beyond_stated: u64,
    copies: u64,
}

const fn sum(share: Share) -> Sum {
    Sum {
        turns: share.turns,
        turns_with_final_usage: share.known_turns,
        output_tokens: share.output.count(),
        estimated_output_tokens: share.estimated.count(),
    }
}

#[expect(clippy::cast_precision_loss, reason = "parts per million: far below 2^53")]
fn share(ppm: u64) -> f64 {
    ppm as f64 / 1e6
}

fn entry(account: &Account) -> Entry<'_> {
    let health = &account.health;
    Entry {
        formats: account.formats.iter().map(|format| format.name()).collect(),
        versions: account.versions.iter().map(AsRef::as_ref).collect(),
        sessions: account.sessions,
        sum: sum(account.all),
        turns_estimated: account.estimated_turns,
        turns_unknown: account.unknown_turns,
        turns_of_zero: account.zero_turns,
        input_tokens: account.input.count(),
        cache_read_tokens: account.cache_read.count(),
        cache_write_tokens: account.cache_write.count(),
        reasoning_tokens: account.reasoning.count(),
        by_model_and_effort: account
            .by
            .iter()
            .map(|((model, effort), share)| Part {
                model: model.as_deref(),
                effort: effort.as_deref(),
                sum: sum(*share),
            })
            .collect(),
        stated: account.stated.map(|stated| Stated {
            output_tokens: stated.stated.count(),
            counted_output_tokens: stated.counted.count(),
            coverage: share(stated.ppm()),
        }),
        results: account.results,
        cost_micro_usd: account.cost.map(|cost| cost.count()),
        errors: &health.error_kinds,
        odd: Odd {
            lines: health.lines,
            unreadable_lines: health.lost_lines(),
            unknown_lines: health.unknown_types,
            repeated_rows: health.repeats,
            synthetic_messages: health.synthetic,
            refused_numbers: health.bad_numbers,
            untimed_turns: health.bad_times,
            fallen_totals: health.falls,
            compactions: health.compactions,
            counted_beyond_stated: health.surplus,
            copies: health.duplicates,
        },
    }
}

pub(super) fn of(sheet: &Sheet) -> Outcome<String> {
    let whole = Whole {
        dedup: match sheet.dedup {
            Dedup::All => "all",
            Dedup::PerFile => "per-file",
        },
        files: sheet.files().map(|(file, account)| File { file, entry: entry(account) }).collect(),
        total: entry(&sheet.ledger.total),
        cost_is_partial: sheet.is_partial(),
        counted_twice: sum(sheet.ledger.doubled),
    };
    let mut text = serde_json::to_string_pretty(&whole).map_err(Failure::internal)?;
    text.push('\n');
    Ok(text)
}
