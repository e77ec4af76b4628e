//! What changed between a baseline and now.

use std::collections::BTreeSet;

use super::{Counts, Held, Key, Row, Rows};
use crate::engine::{counted, one_or};
use crate::lab::fixed::ufloat;
use crate::lab::special::t_quantile;
use crate::lab::stats::{CONFIDENCE, Interval, student};

/// The chance of a false alarm in a whole comparison of other luck, all rows and counts together.
const FALSE_ALARM: f64 = 0.001;

/// How a change was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A path or a run is not what it was, where nothing was left to luck.
    Exact,
    /// A mean is not what it was, beyond what luck explains.
    Mean,
    /// The row stands in only one of both.
    Missing,
}

/// One change.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The row.
    pub key: Key,
    /// How it was found.
    pub kind: Kind,
    /// Of what, and how much: a sentence.
    pub what: String,
}

/// A law whose settings came to the same on a scenario, so that they stand as one row, on one side of a comparison alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// The one row.
    pub key: Key,
    /// It is one now; else it was one in the baseline.
    pub now: bool,
    /// The rows of the other side.
    pub rows: usize,
}

/// What a comparison came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Rows compared.
    pub rows: usize,
    /// What these rows stand for: settings of laws on scenarios. The same number on every seed, while it is luck how many rows say it.
    pub settings: usize,
    /// Where all settings of a law stand as one row on one side alone: that one was compared with each of the other side's.
    pub merged: Vec<Merged>,
    /// Whether the luck was that of the baseline, so that everything had to be exact.
    pub same_luck: bool,
    /// The seed of the new runs.
    pub seed: u64,
    /// What changed, in the order of the rows.
    pub findings: Vec<Finding>,
}

/// Compares.
#[must_use]
pub fn compare(baseline: &Rows, now: &Rows) -> Verdict {
    let same_luck = (baseline.seed, baseline.runs, baseline.rounds) == (now.seed, now.runs, now.rounds);
    let noisy = now.rows.iter().filter(|row| matches!(row.held, Held::Runs(_))).count();
    let confidence = 1.0 - FALSE_ALARM / ufloat((noisy * (Counts::NAMES.len() - 1)).max(1) as u64);
    let mut findings = Vec::new();
    for row in &now.rows {
        let before: Vec<&Row> = baseline.rows.iter().filter(|before| meets(&before.key, &row.key)).collect();
        if before.is_empty() {
            let what = "is not in the baseline".to_owned();
            findings.push(Finding { key: row.key.clone(), kind: Kind::Missing, what });
        }
        for before in before {
            let found = differs(before, row, same_luck, confidence, baseline.rounds == now.rounds);
            // the row that says more of what it is of
            let key = if row.key.over.is_some() { &row.key } else { &before.key };
            findings.extend(found.map(|(kind, what)| Finding { key: key.clone(), kind, what }));
        }
    }
    for row in baseline.rows.iter().filter(|row| !now.rows.iter().any(|now| meets(&row.key, &now.key))) {
        let what = "is in the baseline and no more in the suite".to_owned();
        findings.push(Finding { key: row.key.clone(), kind: Kind::Missing, what });
    }
    let (rows, settings) = (now.rows.len(), settings(baseline, now));
    Verdict { rows, settings, merged: merged(baseline, now), same_luck, seed: now.seed, findings }
}

/// How many settings of laws on scenarios the rows of now stand for.
fn settings(baseline: &Rows, now: &Rows) -> usize {
    let of_key = |row: &Row| row.key.over.zip(row.key.slack);
    let all: BTreeSet<_> = baseline.rows.iter().chain(&now.rows).filter_map(of_key).collect();
    now.rows.iter().map(|row| if is_whole(&row.key) { all.len().max(1) } else { 1 }).sum()
}

/// Rows that stand for all settings, where the other side has several.
fn merged(baseline: &Rows, now: &Rows) -> Vec<Merged> {
    let of = |ones: &Rows, others: &Rows, now: bool| -> Vec<Merged> {
        let one = |row: &Row| {
            let apart = others.rows.iter().filter(|other| meets(&other.key, &row.key) && !is_whole(&other.key));
            Merged { key: row.key.clone(), now, rows: apart.count() }
        };
        ones.rows.iter().filter(|row| is_whole(&row.key)).map(one).filter(|merged| merged.rows > 0).collect()
    };
    [of(now, baseline, true), of(baseline, now, false)].concat()
}

/// Whether a row stands for all settings of its law.
const fn is_whole(key: &Key) -> bool {
    key.over.is_none() && key.slack.is_none()
}

/// Whether two rows are to be compared. Rows of a law whose settings all came to the same stand as one, and whether they do can be
/// luck: such a row meets each of the rows that it stands for.
fn meets(one: &Key, other: &Key) -> bool {
    let same = (one.over, one.slack) == (other.over, other.slack);
    one.scenario == other.scenario && one.law == other.law && (same || is_whole(one) || is_whole(other))
}

fn differs(before: &Row, now: &Row, same_luck: bool, confidence: f64, same_rounds: bool) -> Option<(Kind, String)> {
    match (&before.held, &now.held) {
        (Held::Path(before), Held::Path(now)) if before == now || !same_rounds => None,
        (Held::Path(before), Held::Path(now)) => Some((Kind::Exact, path(before, now))),
        (Held::Runs(before), Held::Runs(now)) if same_luck => {
            (before != now).then(|| (Kind::Exact, paired(before, now)))
        }
        (Held::Runs(before), Held::Runs(now)) => {
            let told = (0..Counts::NAMES.len() - 1).filter_map(|count| shifted(before, now, count, confidence));
            let told: Vec<String> = told.collect();
            (!told.is_empty()).then(|| (Kind::Mean, told.join("; ")))
        }
        (Held::Path(_), Held::Runs(_)) | (Held::Runs(_), Held::Path(_)) => {
            Some((Kind::Exact, "is of another kind than it was".to_owned()))
        }
    }
}

/// Where two paths part.
fn path(before: &str, now: &str) -> String {
    let same = before.bytes().zip(now.bytes()).take_while(|(one, other)| one == other).count();
    // back to the start of the word, so that rungs are not torn
    let from = before[..same].rfind(' ').map_or(if before.contains(' ') { 0 } else { same }, |at| at + 1);
    let shown = |text: &str| text[from.min(text.len())..].chars().take(24).collect::<String>();
    format!("from place {from} on it goes {} and went {}", shown(now), shown(before))
}

/// The same luck: which runs differ, and by how much in the mean.
fn paired(before: &[Counts], now: &[Counts]) -> String {
    if before.len() != now.len() {
        return format!("has {} and had {}", counted(now.len(), "run"), before.len());
    }
    let changed: Vec<usize> = (0..now.len()).filter(|&run| before[run] != now[run]).collect();
    let mut told = Vec::new();
    for (place, name) in Counts::NAMES.into_iter().enumerate() {
        let differences: Vec<f64> =
            now.iter().zip(before).map(|(now, before)| difference(now.all()[place], before.all()[place])).collect();
        if differences.iter().any(|difference| difference.abs() > 0.0) {
            let (mean, variance) = moments(&differences);
            let n = ufloat(differences.len() as u64);
            let half = student(differences.len() as u64, CONFIDENCE).map(|t| t * (variance / n).sqrt());
            let half = half.map_or_else(String::new, |half| format!(" +- {half:.1}"));
            told.push(format!("{name} {mean:+.1}{half} a run"));
        }
    }
    let first = changed.first().copied().unwrap_or(0);
    let name = Counts::NAMES
        .into_iter()
        .enumerate()
        .find(|(place, _)| before[first].all()[*place] != now[first].all()[*place]);
    let (place, name) = name.unwrap_or((0, Counts::NAMES[0]));
    format!(
        "{} of {} {}: {}; the first is run {first}, with {name} {} where it had {}",
        changed.len(),
        counted(now.len(), "run"),
        one_or(changed.len(), "differs", "differ"),
        told.join(", "),
        now[first].all()[place],
        before[first].all()[place]
    )
}

fn difference(now: u64, before: u64) -> f64 {
    if now >= before { ufloat(now - before) } else { -ufloat(before - now) }
}

/// Mean and variance over n - 1.
fn moments(values: &[f64]) -> (f64, f64) {
    let n = ufloat(values.len() as u64);
    let mean = values.iter().sum::<f64>() / n;
    let squares = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>();
    (mean, if values.len() > 1 { squares / (n - 1.0) } else { 0.0 })
}

/// Other luck: whether the mean of a count moved, by Welch's interval.
fn shifted(before: &[Counts], now: &[Counts], place: usize, confidence: f64) -> Option<String> {
    let of = |runs: &[Counts]| moments(&runs.iter().map(|run| ufloat(run.all()[place])).collect::<Vec<_>>());
    let ((was, was_spread), (is, is_spread)) = (of(before), of(now));
    let interval = welch((was, was_spread, before.len()), (is, is_spread, now.len()), confidence)?;
    (!interval.covers(0.0)).then(|| {
        format!(
            "{} {is:.1} a run where it was {was:.1}: {:+.1} ({:+.1} to {:+.1})",
            Counts::NAMES[place],
            is - was,
            interval.lo,
            interval.hi
        )
    })
}

/// Welch's interval of a difference; where neither scatters at all, the difference itself.
fn welch(one: (f64, f64, usize), other: (f64, f64, usize), confidence: f64) -> Option<Interval> {
    let share = |(_, spread, n): (f64, f64, usize)| spread / ufloat(n as u64);
    let (a, b) = (share(one), share(other));
    let difference = other.0 - one.0;
    if a + b <= 0.0 {
        return Some(Interval { lo: difference, hi: difference });
    }
    let free = |share: f64, n: usize| if n > 1 { share * share / ufloat(n as u64 - 1) } else { 0.0 };
    let degrees = (a + b) * (a + b) / (free(a, one.2) + free(b, other.2));
    // fewer degrees of freedom are the wider interval
    let whole = u64::try_from(crate::lab::fixed::whole(libm::floor(degrees))).unwrap_or(1).max(1);
    let half = t_quantile(0.5 + confidence / 2.0, whole)? * (a + b).sqrt();
    Some(Interval { lo: difference - half, hi: difference + half })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{LawKind, Millis, Ratio};

    fn row(over: Option<u64>, right: u64) -> Row {
        let slack = over.map(|_| Ratio::from_ppm(150_000));
        let key = Key { scenario: "one".to_owned(), law: LawKind::Hybrid, over: over.map(Millis::from_secs), slack };
        Row { key, held: Held::Runs(vec![Counts { right, ..Counts::default() }; 4]) }
    }

    fn rows(seed: u64, rows: Vec<Row>) -> Rows {
        Rows { seed, runs: 4, rounds: 9, rows }
    }

    /// Whether settings come to the same can be luck: then one row stands where two stood, and neither is gone.
    #[test]
    fn a_row_for_all_settings_meets_each_of_them() {
        for seed in [1, 2] {
            let (apart, one) = (rows(1, vec![row(Some(300), 5), row(Some(3600), 5)]), rows(seed, vec![row(None, 5)]));
            assert_eq!(compare(&apart, &one).findings, []);
            assert_eq!(compare(&one, &apart).findings, []);
            for (before, now, is_now) in [(&apart, &one, true), (&one, &apart, false)] {
                let verdict = compare(before, now);
                assert_eq!((verdict.settings, verdict.rows), (2, now.rows.len()), "whatever luck merges");
                assert_eq!(verdict.merged, [Merged { key: one.rows[0].key.clone(), now: is_now, rows: 2 }]);
            }
            assert_eq!((compare(&one, &one).merged, compare(&apart, &apart).merged), (vec![], vec![]));
            let other = rows(1, vec![row(Some(300), 5), row(Some(3600), 4)]);
            for (before, now) in [(&other, &one), (&one, &other)] {
                let verdict = compare(before, now);
                assert_eq!(verdict.findings.len(), 1, "{verdict:?}");
                assert_eq!(verdict.findings[0].key, other.rows[1].key);
                assert_ne!(verdict.findings[0].kind, Kind::Missing);
            }
        }
        let gone = compare(&rows(1, vec![row(Some(300), 5)]), &rows(2, vec![row(Some(3600), 5)]));
        assert_eq!(gone.findings.iter().filter(|finding| finding.kind == Kind::Missing).count(), 2);
    }
}
