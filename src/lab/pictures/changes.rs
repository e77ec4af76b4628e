//! What changed between two reports of a gate, as forests: a picture for each count, a row for each noisy row that changed.
//!
//! It finds nothing: what changed is the gate's to say, which compares every integer or means at a stricter confidence. It
//! draws nothing, as [`pictures`](super) says. Paths have no differences, and are told in words.

use crate::engine::counted;
use crate::lab::fixed::{micros, ufloat};
use crate::lab::gate::{Counts, Held, Key, Rows, Verdict, report};
use crate::lab::plot::{Bar, BarRow, Bars};
use crate::lab::stats::{CONFIDENCE, Moments, paired};

/// The most rows of a picture: those that moved most.
const MOST_ROWS: usize = 40;

/// A count of runs as it is shown.
struct Shown {
    title: &'static str,
    unit: &'static str,
    /// What one of it is in units, in a run of so many rounds.
    scale: fn(f64) -> f64,
    decimals: u8,
}

/// In the order of [`Counts::NAMES`].
const SHOWN: [Shown; Counts::NAMES.len()] = [
    Shown { title: "Rounds on a right rung", unit: "points of rounds", scale: |rounds| 100.0 / rounds, decimals: 2 },
    Shown { title: "Moves", unit: "moves per 100 rounds", scale: |rounds| 100.0 / rounds, decimals: 2 },
    Shown { title: "Reversals", unit: "reversals per 100 rounds", scale: |rounds| 100.0 / rounds, decimals: 2 },
    Shown {
        title: "Decisions past an end",
        unit: "decisions per 100 rounds",
        scale: |rounds| 100.0 / rounds,
        decimals: 2,
    },
    Shown { title: "Rounds before settling", unit: "rounds", scale: |_| 1.0, decimals: 1 },
    Shown { title: "Output tokens of a run", unit: "millions", scale: |_| 1e-6, decimals: 3 },
];

/// The pictures; none where no row of runs changed.
#[must_use]
pub fn changes(before: &Rows, now: &Rows, verdict: &Verdict) -> Vec<Bars> {
    let pairs = verdict.findings.iter().filter_map(|finding| {
        Some(Pair {
            label: report::name(&finding.key),
            before: runs(before, &finding.key)?,
            now: runs(now, &finding.key)?,
        })
    });
    let pairs: Vec<Pair<'_>> = pairs.collect();
    let picture = |(place, shown): (usize, &Shown)| {
        let rows = pairs.iter().filter_map(|pair| {
            let moved = pair.moved(place, shown, (before.rounds, now.rounds), verdict.same_luck)?;
            Some((pair.label.clone(), moved))
        });
        forest(shown, rows.collect(), before, now)
    };
    SHOWN.iter().enumerate().filter_map(picture).collect()
}

/// The runs of the row that a finding is of; a law's row that stands for all its settings where there is none of its own.
fn runs<'a>(rows: &'a Rows, key: &Key) -> Option<&'a [Counts]> {
    let whole = Key { over: None, slack: None, ..key.clone() };
    let find = |key: &Key| rows.rows.iter().find(|row| row.key == *key);
    match &find(key).or_else(|| find(&whole))?.held {
        Held::Runs(runs) => Some(runs),
        Held::Path(_) => None,
    }
}

/// A row's runs, before and now.
struct Pair<'a> {
    label: String,
    before: &'a [Counts],
    now: &'a [Counts],
}

impl Pair<'_> {
    /// The difference of a count with its interval: of each run where the luck is the same, of the means where it is not. None
    /// where nothing moved.
    fn moved(&self, place: usize, shown: &Shown, rounds: (u32, u32), same_luck: bool) -> Option<Bar> {
        let of = |runs: &[Counts], rounds: u32| -> Vec<i64> {
            let scale = (shown.scale)(f64::from(rounds.max(1)));
            runs.iter().map(|run| micros(ufloat(run.all()[place]) * scale)).collect()
        };
        let (before, now) = (of(self.before, rounds.0), of(self.now, rounds.1));
        if before == now {
            return None;
        }
        if same_luck && before.len() == now.len() {
            let moved = paired(&now, &before, CONFIDENCE)?;
            return Some(Bar::new(moved.mean, moved.interval.map(|interval| (interval.lo, interval.hi))));
        }
        let estimate = |values: &[i64]| {
            let mut moments = Moments::default();
            values.iter().for_each(|value| moments.add(*value));
            moments.estimate(CONFIDENCE)
        };
        let (was, is) = (estimate(&before)?, estimate(&now)?);
        let moved = is.mean - was.mean;
        // a little wider than Welch's, which takes one quantile for both
        let half = was.interval.zip(is.interval).map(|(was, is)| libm::hypot(was.hi - was.lo, is.hi - is.lo) / 2.0);
        Some(Bar::new(moved, half.map(|half| (moved - half, moved + half))))
    }
}

/// One picture, from what fell most to what rose most; none where nothing moved.
fn forest(shown: &Shown, mut rows: Vec<(String, Bar)>, before: &Rows, now: &Rows) -> Option<Bars> {
    let value = |bar: &Bar| bar.value.get().unwrap_or(0.0);
    let all = rows.len();
    rows.sort_by(|one, next| value(&next.1).abs().total_cmp(&value(&one.1).abs()));
    rows.truncate(MOST_ROWS);
    rows.sort_by(|one, next| value(&one.1).total_cmp(&value(&next.1)).then_with(|| one.0.cmp(&next.0)));
    let left_out =
        if all > MOST_ROWS { format!(" Of {all} rows the {MOST_ROWS} that moved most.") } else { String::new() };
    let seeds = if before.seed == now.seed {
        format!("seed {}", now.seed)
    } else {
        format!("seed {} where it was {}", now.seed, before.seed)
    };
    (!rows.is_empty()).then(|| Bars {
        title: format!("{}: now less before", shown.title),
        facts: vec![
            format!("{} changed", counted(all, "row")),
            format!("{} of {} a row", counted(now.runs, "run"), counted(now.rounds, "round")),
            seeds,
        ],
        note: format!(
            "Of the rows that changed, with 95 % intervals, each for itself: the verdict asks more where the luck is another.{left_out}"
        ),
        x: format!("{}, now less before", shown.unit),
        names: vec!["difference".to_owned()],
        dots: true,
        decimals: shown.decimals,
        rows: rows.into_iter().map(|(label, bar)| BarRow { label, values: vec![bar], ..BarRow::default() }).collect(),
        ..Bars::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{LawKind, Millis, Ratio};
    use crate::lab::gate::{Row, compare};

    fn rows(seed: u64, right: &[u64]) -> Rows {
        let key = Key {
            scenario: "s".to_owned(),
            law: LawKind::Reset,
            over: Some(Millis::from_secs(300)),
            slack: Some(Ratio::from_ppm(150_000)),
        };
        let runs = right.iter().map(|&right| Counts { right, tokens: 5_000_000, ..Counts::default() }).collect();
        let path = Row { key: Key { scenario: "p".to_owned(), ..key }, held: Held::Path(format!("1x{}", right[0])) };
        Rows { seed, runs: 4, rounds: 50, rows: vec![Row { key, held: Held::Runs(runs) }, path] }
    }

    #[test]
    fn what_changed_is_a_paired_difference_in_units() {
        let (before, now) = (rows(1, &[40, 42, 44, 46]), rows(1, &[30, 33, 34, 37]));
        let pictures = changes(&before, &now, &compare(&before, &now));
        assert_eq!(pictures.len(), 1, "only one count changed, and a path is no count");
        let bar = pictures[0].rows[0].values[0];
        // -10, -9, -10, -9 rounds of 50
        assert_eq!(bar.value.get(), Some(-19.0));
        assert!(bar.low.get().unwrap() > -21.0 && bar.high.get().unwrap() < -17.0, "{bar:?}");
        let svg = pictures[0].svg();
        for words in [
            "4 runs of 50 rounds a row",
            "seed 1",
            "points of rounds, now less before",
            "s, reset over 300 s slack 15 %",
        ] {
            assert!(svg.contains(words), "{words}: {svg}");
        }
        assert_eq!(changes(&before, &before, &compare(&before, &before)), []);
    }

    #[test]
    fn of_other_luck_the_means_are_compared() {
        let (before, now) = (rows(1, &[40, 41, 42, 43]), rows(2, &[3, 2, 1, 0]));
        let pictures = changes(&before, &now, &compare(&before, &now));
        let bar = pictures[0].rows[0].values[0];
        assert_eq!(bar.value.get(), Some(-80.0));
        assert!(bar.low.get().unwrap() < -83.0 && bar.high.get().unwrap() > -77.0, "{bar:?}");
        assert!(pictures[0].facts.contains(&"seed 2 where it was 1".to_owned()));
    }
}
