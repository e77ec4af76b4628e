//! Ladders that are known: for each program and model the words of effort, hardest first, and what becomes of the others.
//!
//! It is data with a date: what the programs of [`Capabilities::tested`](super::Capabilities::tested) sent to a scripted server
//! for each word. It says what reaches a request and not what a model makes of it. A word that is
//! clamped to another, ignored, dropped or refused is no rung. A model that stands in no row has no known ladder, and takes one
//! by hand.
//!
//! Source: runs of November 2026, a request for each word and model named here.

use super::AgentKind;

/// When the runs were made.
pub const AS_OF: &str = "2026-11-30";

/// What becomes of a word that is no rung.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Another word is sent in its place.
    Becomes(&'static str),
    /// It is passed over, and the model's default is sent.
    Ignored,
    /// No effort is sent at all.
    Dropped,
    /// The program ends with an error.
    Refused,
}

/// The ladder of some models in one program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// The program.
    pub agent: AgentKind,
    /// How names of the models begin, without a provider before a slash.
    pub models: &'static [&'static str],
    /// The words that are sent as they are, hardest first. Fewer than two are no ladder: the effort cannot be moved.
    pub words: &'static [&'static str],
    /// Any number from the one to the other is a rung too, the larger the harder.
    pub numbers: Option<(u32, u32)>,
    /// What is sent where no effort is asked for.
    pub default: Option<&'static str>,
    /// Words that people try, and what becomes of them.
    pub aside: &'static [(&'static str, Fate)],
    /// What becomes of any other word.
    pub others: Fate,
}

const FIVE: &[&str] = &["max", "xhigh", "high", "medium", "low"];
const FOUR: &[&str] = &["max", "high", "medium", "low"];
const CLAUDE_ASIDE: &[(&str, Fate)] =
    &[("med", Fate::Becomes("medium")), ("minimal", Fate::Ignored), ("none", Fate::Ignored)];

const fn claude(
    models: &'static [&'static str],
    words: &'static [&'static str],
    default: &'static str,
    aside: &'static [(&'static str, Fate)],
) -> Known {
    Known {
        agent: AgentKind::Claude,
        models,
        words,
        numbers: None,
        default: Some(default),
        aside,
        others: Fate::Ignored,
    }
}

const fn codex(models: &'static [&'static str], words: &'static [&'static str], default: &'static str) -> Known {
    let aside: &[(&str, Fate)] = &[("", Fate::Refused)];
    // any word is sent as it is; the backend answers what it does not take
    Known {
        agent: AgentKind::Codex,
        models,
        words,
        numbers: None,
        default: Some(default),
        aside,
        others: Fate::Refused,
    }
}

const fn pi(
    models: &'static [&'static str],
    words: &'static [&'static str],
    aside: &'static [(&'static str, Fate)],
) -> Known {
    Known { agent: AgentKind::Pi, models, words, numbers: None, default: Some("medium"), aside, others: Fate::Ignored }
}

/// All that is known; the first row whose model fits stands.
pub const KNOWN: &[Known] = &[
    // Claude Code
    claude(&["claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5"], FIVE, "medium", CLAUDE_ASIDE),
    // retired: the program asks claude-opus-5-5 in its place
    claude(&["claude-opus-4-1"], FIVE, "medium", CLAUDE_ASIDE),
    claude(&["claude-opus-4-7"], FIVE, "xhigh", CLAUDE_ASIDE),
    claude(&["claude-opus-4-8", "claude-opus-5", "claude-sonnet-5", "claude-fable-5"], FIVE, "high", CLAUDE_ASIDE),
    claude(
        &["claude-opus-4-6", "claude-sonnet-4-6"],
        FOUR,
        "high",
        &[
            ("xhigh", Fate::Becomes("high")),
            ("med", Fate::Becomes("medium")),
            ("minimal", Fate::Ignored),
            ("none", Fate::Ignored),
        ],
    ),
    claude(
        &["claude-opus-4-5"],
        &["high", "medium", "low"],
        "high",
        &[("max", Fate::Becomes("high")), ("xhigh", Fate::Becomes("high"))],
    ),
    Known {
        agent: AgentKind::Claude,
        models: &["claude-sonnet-4-5", "claude-haiku-4-5"],
        words: &[],
        numbers: None,
        default: None,
        aside: &[],
        others: Fate::Dropped,
    },
    // the aliases stand for the newest model of each kind
    claude(&["opus", "sonnet", "haiku"], FIVE, "medium", CLAUDE_ASIDE),
    // Codex
    codex(&["gpt-5.5"], &["xhigh", "high", "medium", "low"], "medium"),
    codex(&["gpt-5.6-sol", "gpt-6-astra", "gpt-6.1-sol"], FIVE, "low"),
    codex(&["gpt-5.6-luna", "gpt-5.6-terra", "gpt-6-luna"], FIVE, "medium"),
    // pi
    pi(
        &["claude-opus-4-6"],
        &["max", "high", "medium", "low", "off"],
        &[("xhigh", Fate::Becomes("max")), ("minimal", Fate::Becomes("low")), ("none", Fate::Ignored)],
    ),
    pi(
        &["claude-opus-4-7"],
        &["max", "xhigh", "high", "medium", "low", "off"],
        &[("minimal", Fate::Becomes("low")), ("none", Fate::Ignored)],
    ),
    pi(
        &["claude-sonnet-4-5", "claude-haiku-4-5"],
        &["high", "medium", "low", "off"],
        &[("max", Fate::Becomes("high")), ("xhigh", Fate::Becomes("high")), ("none", Fate::Ignored)],
    ),
    pi(
        &["gpt-5.2", "gpt-5.5"],
        &["xhigh", "high", "medium", "low", "off"],
        &[("max", Fate::Becomes("xhigh")), ("none", Fate::Ignored)],
    ),
    // opencode: its anthropic provider
    Known {
        agent: AgentKind::Opencode,
        models: &["claude-opus-4-6"],
        words: FOUR,
        numbers: None,
        default: None,
        aside: &[("xhigh", Fate::Dropped), ("minimal", Fate::Dropped)],
        others: Fate::Dropped,
    },
    // Gemini: any number of thinking tokens is sent as it is, and the backend's own page says which it takes
    Known {
        agent: AgentKind::Gemini,
        models: &["gemini-2.5-pro"],
        words: &["32768", "8192", "2048", "512", "128"],
        numbers: Some((128, 32_768)),
        default: Some("8192"),
        aside: &[],
        others: Fate::Refused,
    },
    // the program asks another model in its place, which no setting for this name reaches
    Known {
        agent: AgentKind::Gemini,
        models: &["gemini-3-pro-preview"],
        words: &[],
        numbers: None,
        default: None,
        aside: &[],
        others: Fate::Dropped,
    },
    // Copilot: claude by one's own key
    Known {
        agent: AgentKind::Copilot,
        models: &["claude-opus-4.6", "claude-opus-4-6"],
        words: &["max", "xhigh", "high", "medium", "low", "none"],
        numbers: None,
        default: Some("medium"),
        aside: &[("minimal", Fate::Becomes("high"))],
        others: Fate::Refused,
    },
];

impl Known {
    /// What becomes of a word; none where it is a rung.
    #[must_use]
    pub fn fate(&self, word: &str) -> Option<Fate> {
        let number = |(least, most)| word.parse::<u32>().is_ok_and(|number| (least..=most).contains(&number));
        if self.words.contains(&word) || self.numbers.is_some_and(number) {
            return None;
        }
        let aside = self.aside.iter().find(|(own, _)| *own == word);
        Some(aside.map_or(self.others, |&(_, fate)| fate))
    }
}

/// The ladder of a model in a program, where it is known.
///
/// ```
/// use flyball::agents::adapter::{AgentKind, ladders::{Fate, ladder_for}};
/// let known = ladder_for(AgentKind::Claude, "claude-opus-4-6").unwrap();
/// assert_eq!(known.words, ["max", "high", "medium", "low"]);
/// assert_eq!(known.fate("xhigh"), Some(Fate::Becomes("high")));
/// assert!(ladder_for(AgentKind::Claude, "my-model").is_none());
/// ```
#[must_use]
pub fn ladder_for(agent: AgentKind, model: &str) -> Option<&'static Known> {
    let name = model.rsplit('/').next().unwrap_or(model);
    let fits = |begin: &str| match name.strip_prefix(begin) {
        // a date, a size of context in brackets, or an effort may follow; another figure of the version may not
        Some(rest) => {
            rest.is_empty()
                || rest.starts_with(['[', ':'])
                || rest.strip_prefix(['-', '@']).is_some_and(|date| date.len() >= 6)
        }
        None => false,
    };
    KNOWN.iter().find(|known| known.agent == agent && known.models.iter().any(|begin| fits(begin)))
}

/// The ladders of a program.
pub fn ladders_of(agent: AgentKind) -> impl Iterator<Item = &'static Known> {
    KNOWN.iter().filter(move |known| known.agent == agent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Ladder;

    #[test]
    fn every_row_can_be_found_and_is_a_ladder_or_none() {
        for known in KNOWN {
            for model in known.models {
                assert_eq!(ladder_for(known.agent, model), Some(known), "{model}");
            }
            if !known.words.is_empty() {
                let ladder = Ladder::new(known.words.iter().copied()).unwrap();
                assert_eq!(ladder.rungs().count(), known.words.len());
            }
            assert!(known.default.is_none_or(|word| known.words.contains(&word)), "{known:?}");
            for (word, fate) in known.aside {
                assert!(!known.words.contains(word), "{word} is a rung");
                assert!(!matches!(fate, Fate::Becomes(other) if !known.words.contains(other)), "{word}");
            }
        }
    }

    #[test]
    fn names_carry_dates_and_sizes_and_providers_but_no_other_version() {
        let words = |agent, model| ladder_for(agent, model).map(|known| known.words.len());
        assert_eq!(words(AgentKind::Claude, "claude-opus-4-6-20260101"), Some(4));
        assert_eq!(words(AgentKind::Claude, "claude-sonnet-5[1m]"), Some(5));
        assert_eq!(words(AgentKind::Claude, "claude-opus-5-5"), Some(5));
        assert_eq!(ladder_for(AgentKind::Claude, "claude-opus-5-5").unwrap().default, Some("medium"));
        assert_eq!(words(AgentKind::Claude, "claude-opus-4"), None);
        assert_eq!(words(AgentKind::Claude, "claude-opus-5-9"), None);
        assert_eq!(words(AgentKind::Claude, "claude-haiku-4-5"), Some(0));
        assert_eq!(words(AgentKind::Pi, "anthropic/claude-opus-4-6"), Some(5));
        assert_eq!(words(AgentKind::Codex, "gpt-5.5-codex"), None);
    }

    #[test]
    fn words_that_are_no_rung_have_a_fate() {
        let fate = |agent, model, word| ladder_for(agent, model).unwrap().fate(word);
        assert_eq!(fate(AgentKind::Claude, "claude-opus-4-7", "xhigh"), None);
        assert_eq!(fate(AgentKind::Claude, "claude-opus-4-7", "bogus"), Some(Fate::Ignored));
        assert_eq!(fate(AgentKind::Copilot, "claude-opus-4.6", "minimal"), Some(Fate::Becomes("high")));
        assert_eq!(fate(AgentKind::Opencode, "anthropic/claude-opus-4-6", "xhigh"), Some(Fate::Dropped));
        assert_eq!(fate(AgentKind::Codex, "gpt-5.5", "bogus"), Some(Fate::Refused));
        for number in ["128", "1024", "16384", "32768"] {
            assert_eq!(fate(AgentKind::Gemini, "gemini-2.5-pro", number), None, "{number}");
        }
        for none in ["127", "32769", "-1", "1e3", "high"] {
            assert_eq!(fate(AgentKind::Gemini, "gemini-2.5-pro", none), Some(Fate::Refused), "{none}");
        }
    }
}
