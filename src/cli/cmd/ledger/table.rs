//! The ledger for people: a row a file, the total, models and efforts, and what needs saying.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use super::{Sheet, dollars, words};
use crate::agents::ledger::{Account, Dedup};
use crate::engine::{counted, one_or};

fn blank(head: &[&str], words: usize) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(head);
    for column in words..head.len() {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

fn lines(table: &Table) -> String {
    table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn percent(ppm: u64) -> String {
    format!("{}.{} %", ppm / 10_000, ppm % 10_000 / 1000)
}

fn row(name: &str, account: &Account) -> Vec<String> {
    vec![
        name.to_owned(),
        words(account.formats.iter().map(|format| format.name())),
        versions(account),
        account.sessions.to_string(),
        account.all.turns.to_string(),
        account.all.known_turns.to_string(),
        account.all.output.count().to_string(),
        account.all.estimated.count().to_string(),
        account.stated.map_or_else(|| "-".to_owned(), |stated| percent(stated.ppm())),
        account.health.errors.to_string(),
        account.cost.map_or_else(|| "-".to_owned(), |cost| dollars(cost.count())),
    ]
}

fn versions(account: &Account) -> String {
    const MOST: usize = 2;
    let first: Vec<&str> = account.versions.iter().map(AsRef::as_ref).take(MOST).collect();
    match account.versions.len() - first.len() {
        0 => words(first),
        more => format!("{},+{more}", first.join(",")),
    }
}

/// By model and effort, dearest first.
fn models(account: &Account) -> String {
    let mut table = blank(&["model", "effort", "turns", "final", "output", "mean", "estimated"], 2);
    let mut parts: Vec<_> = account.by.iter().collect();
    parts.sort_by_key(|(name, share)| (core::cmp::Reverse(share.output.plus(share.estimated)), (*name).clone()));
    for ((model, effort), share) in parts {
        let mean = share.output.count().checked_div(share.known_turns);
        table.add_row([
            model.as_deref().unwrap_or("-").to_owned(),
            effort.as_deref().unwrap_or("-").to_owned(),
            share.turns.to_string(),
            share.known_turns.to_string(),
            share.output.count().to_string(),
            mean.map_or_else(|| "-".to_owned(), |mean| mean.to_string()),
            share.estimated.count().to_string(),
        ]);
    }
    lines(&table)
}

fn notes(sheet: &Sheet) -> String {
    let total = &sheet.ledger.total;
    let doubled = sheet.ledger.doubled;
    let mut notes = Vec::new();
    if doubled.turns > 0 {
        notes.push(format!(
            "{} and {} stand in more than one file, and are counted once in the total",
            counted(doubled.turns, "turn"),
            counted(doubled.output.plus(doubled.estimated).count(), "output token")
        ));
    }
    if total.unknown_turns > 0 {
        notes.push(format!(
            "{} of {} {} tokens are unknown, not zero",
            total.unknown_turns,
            counted(total.all.turns, "turn"),
            one_or(
                total.unknown_turns,
                "has no count that can be trusted: its",
                "have no count that can be trusted: their"
            )
        ));
    }
    if total.estimated_turns > 0 {
        notes.push(format!("turns that have a share of a total, right in sum only: {}", total.estimated_turns));
    }
    if sheet.is_partial() {
        notes.push("USD is what some files state; others have turns and state none, so that all cost more".to_owned());
    }
    let cached = [total.input, total.cache_read, total.cache_write, total.reasoning].map(|tokens| tokens.count());
    if cached.iter().any(|tokens| *tokens > 0) {
        let [input, read, write, reasoning] = cached;
        notes.push(format!(
            "input tokens: {input} outside the cache, {read} read from it, {write} written to it; {reasoning} of the output were stated as reasoning"
        ));
    }
    if !total.health.error_kinds.is_empty() {
        let kinds: Vec<String> =
            total.health.error_kinds.iter().map(|(kind, times)| format!("{times} {kind}")).collect();
        notes.push(format!("failures: {}", kinds.join(", ")));
    }
    notes.iter().map(|note| format!("{note}\n")).collect()
}

pub(super) fn of(sheet: &Sheet) -> String {
    let head =
        ["file", "format", "version", "sessions", "turns", "final", "output", "estimated", "coverage", "errors", "USD"];
    let mut table = blank(&head, 3);
    for (name, account) in sheet.files() {
        table.add_row(row(name, account));
    }
    let mut total = row("total", &sheet.ledger.total);
    if let Some(usd) = total.last_mut().filter(|_| sheet.is_partial()) {
        usd.insert_str(0, ">=");
    }
    if sheet.ledger.total.formats.len() > 1 {
        total[1] = format!("{} formats", sheet.ledger.total.formats.len());
    }
    table.add_row(total);
    let how = match sheet.dedup {
        Dedup::All => "each turn once, in the file with its best copy; USD as each file states it",
        Dedup::PerFile => "each file alone; the total counts each turn once",
    };
    format!("output tokens by file ({how})\n\n{}\n{}\n{}", lines(&table), models(&sheet.ledger.total), notes(sheet))
}
