//! Conformance: recorded runs of the original governor, replayed through the real engine and compared round by round.
//!
//! It is not a second governor: the engine decides, and where the original's arithmetic or order is wanted back, the
//! engine is given other cutoffs, edges, charging or budget order ([`PutBack`]). A run that differs as it stands is tried
//! with every set of put-backs, smallest first; the first that removes the difference names it. Anything else is a
//! difference.
//!
//! Times of a recording are float64 seconds. Here they are counted in nanoseconds, which the engine's integers carry as
//! well as milliseconds: its arithmetic knows no unit of time. Source: the recorded runs' own description.

mod original;
mod record;
mod replay;

pub use original::{PutBack, PutBacks};
pub use record::{Config, Expected, Recording, RecordingError, Report, Script};
pub use replay::{Difference, Replay, replay};

/// What came of one recording.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The engine came to the same.
    Agrees,
    /// It comes to the same with these put back, and with no smaller set.
    Explained(PutBacks),
    /// It does not, whatever is put back.
    Differs(Vec<Difference>),
    /// It carries a tag that was to be skipped.
    Skipped,
}

/// Compares one recording with the engine, as it stands or as the original was.
///
/// # Errors
/// [`RecordingError`] where the recording is none: an impossible ladder, tokens that are no whole numbers.
pub fn check(recording: &Recording, original: bool, skip: &[String]) -> Result<Verdict, RecordingError> {
    if recording.tags.iter().any(|tag| skip.contains(tag)) {
        return Ok(Verdict::Skipped);
    }
    let sets = PutBacks::by_size();
    let first = if original { PutBacks::ALL } else { PutBacks::NONE };
    let differences = replay(recording, first)?.differences(recording);
    if differences.is_empty() {
        return Ok(Verdict::Agrees);
    }
    if !original {
        for set in sets.into_iter().skip(1) {
            if replay(recording, set)?.differences(recording).is_empty() {
                return Ok(Verdict::Explained(set));
            }
        }
    }
    Ok(Verdict::Differs(differences))
}

/// How many recordings came to what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Agree.
    pub agree: u64,
    /// Are explained, by set of put-backs.
    pub explained: std::collections::BTreeMap<PutBacks, u64>,
    /// Differ.
    pub differ: u64,
    /// Were skipped.
    pub skipped: u64,
}

impl Count {
    /// Takes down one verdict.
    pub fn add(&mut self, verdict: &Verdict) {
        match verdict {
            Verdict::Agrees => self.agree += 1,
            Verdict::Explained(set) => *self.explained.entry(*set).or_default() += 1,
            Verdict::Differs(_) => self.differ += 1,
            Verdict::Skipped => self.skipped += 1,
        }
    }

    /// All recordings that are explained.
    #[must_use]
    pub fn all_explained(&self) -> u64 {
        self.explained.values().sum()
    }
}

impl std::fmt::Display for Count {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let explained = self.all_explained();
        let runs = self.agree + explained + self.differ + self.skipped;
        let (agree, differ, skipped) = (self.agree, self.differ, self.skipped);
        write!(
            f,
            "{}: {agree} agree, {explained} explained, {differ} differ, {skipped} skipped",
            crate::engine::counted(runs, "run")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = include_str!("../../../tests/data/conformance/sample.jsonl");

    fn count(original: bool, skip: &[String]) -> (Count, Vec<String>) {
        let (mut count, mut said) = (Count::default(), Vec::new());
        for line in SAMPLE.lines() {
            let recording: Recording = serde_json::from_str(line).unwrap();
            let verdict = check(&recording, original, skip).unwrap();
            if let Verdict::Differs(differences) = &verdict {
                said.extend(differences.iter().map(|difference| format!("{}: {difference}", recording.id)));
            }
            count.add(&verdict);
        }
        (count, said)
    }

    #[test]
    fn the_original_put_back_agrees_with_every_recording() {
        let (skipping, said) = count(true, &["float-window".to_owned()]);
        assert_eq!(skipping.to_string(), "46 runs: 45 agree, 0 explained, 0 differ, 1 skipped", "{said:#?}");
        let (whole, said) = count(true, &[]);
        assert_eq!(whole.to_string(), "46 runs: 46 agree, 0 explained, 0 differ, 0 skipped", "{said:#?}");
    }

    #[test]
    fn the_engine_as_it_stands_differs_only_where_a_put_back_explains_it() {
        let (count, said) = count(false, &[]);
        assert_eq!((count.differ, count.skipped), (0, 0), "{said:#?}");
        assert!(count.agree >= 30 && count.all_explained() >= 5, "{count:?}");
    }

    #[test]
    fn a_changed_recording_differs() {
        for (original, from, to) in [
            (true, r#""effort_next":"high""#, r#""effort_next":"max""#),
            (false, r#""output_total":120"#, r#""output_total":121"#),
            (true, r#""stopped":"script-ended""#, r#""stopped":"budget""#),
        ] {
            let line = SAMPLE.lines().next().unwrap();
            let changed = line.replacen(from, to, 1);
            assert_ne!(line, changed);
            let recording: Recording = serde_json::from_str(&changed).unwrap();
            assert!(matches!(check(&recording, original, &[]), Ok(Verdict::Differs(_))), "{from}");
        }
    }
}
