//! What recorded turns say of themselves: their model, their effort, and which model is meant where nobody names one.
//!
//! It is not a fit and reads no files. A model or an effort is its own word, compared exactly.

use std::collections::BTreeMap;

use crate::engine::TurnRecord;

/// The model of a turn; one that is not named is a model of its own.
#[must_use]
pub fn model_of(record: &TurnRecord) -> &str {
    record.model.as_deref().unwrap_or("unnamed")
}

/// The effort that was recorded; failing that, the one that was asked for.
#[must_use]
pub fn effort_of(record: &TurnRecord) -> Option<&str> {
    record.effort_confirmed.as_deref().or(record.effort_asked.as_deref())
}

/// Why no model can be chosen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// There is no turn at all.
    #[error("there is no call to a model in these records")]
    Nothing,
    /// No model, or more than one, fits the name.
    #[error("no single model is meant by {asked:?}; the records have {}", seen.join(", "))]
    Unclear {
        /// The name that was asked for.
        asked: String,
        /// The models seen.
        seen: Vec<String>,
    },
}

/// The model that is meant: the one `asked` for (by its name, or by a part that only it has); else the one with the most
/// turns among those whose name has `hint` in it, or among all where none has.
///
/// # Errors
/// [`ModelError`].
pub fn choose_model(records: &[TurnRecord], asked: Option<&str>, hint: &str) -> Result<String, ModelError> {
    let mut turns: BTreeMap<&str, u64> = BTreeMap::new();
    for record in records.iter().filter(|record| record.counts_as_turn) {
        *turns.entry(model_of(record)).or_default() += 1;
    }
    if let Some(asked) = asked {
        if turns.contains_key(asked) {
            return Ok(asked.to_owned());
        }
        let fitting: Vec<&str> = turns.keys().copied().filter(|model| model.contains(asked)).collect();
        return match fitting[..] {
            [only] => Ok(only.to_owned()),
            _ if turns.is_empty() => Err(ModelError::Nothing),
            _ => Err(ModelError::Unclear {
                asked: asked.to_owned(),
                seen: turns.keys().map(|&model| model.to_owned()).collect(),
            }),
        };
    }
    // the first of equals by name, whichever way they were met
    let most = |among: &dyn Fn(&str) -> bool| {
        let own = turns.iter().rev().filter(|(model, _)| among(model));
        own.max_by_key(|(_, count)| **count).map(|(model, _)| (*model).to_owned())
    };
    most(&|model| model.contains(hint)).or_else(|| most(&|_| true)).ok_or(ModelError::Nothing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Timestamp, Tokens};

    fn of(models: &[&str]) -> Vec<TurnRecord> {
        let record = |model: &&str| {
            let mut record = TurnRecord::new(1, Timestamp::EPOCH, Tokens::new(1), "test");
            record.model = Some((*model).into());
            record
        };
        models.iter().map(record).collect()
    }

    #[test]
    fn the_name_then_the_hint_then_the_most_turns() {
        let records = of(&["a-one", "a-two", "a-two", "b", "b", "b"]);
        let chosen = |asked: Option<&str>, hint: &str| choose_model(&records, asked, hint);
        assert_eq!(chosen(None, "a-").unwrap(), "a-two");
        assert_eq!(chosen(None, "nobody").unwrap(), "b");
        assert_eq!(chosen(Some("one"), "b").unwrap(), "a-one");
        assert!(matches!(chosen(Some("a-"), ""), Err(ModelError::Unclear { seen, .. }) if seen.len() == 3));
        assert_eq!(choose_model(&[], None, ""), Err(ModelError::Nothing));
    }

    #[test]
    fn what_was_recorded_goes_before_what_was_asked_for() {
        let mut record = TurnRecord::new(1, Timestamp::EPOCH, Tokens::new(1), "test");
        assert_eq!((model_of(&record), effort_of(&record)), ("unnamed", None));
        record.effort_asked = Some("high".into());
        assert_eq!(effort_of(&record), Some("high"));
        record.effort_confirmed = Some("low".into());
        assert_eq!(effort_of(&record), Some("low"));
    }
}
