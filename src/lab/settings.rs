//! Settings of a loop, `flyball.toml`: what a sweep recommends, and what the real loop is run with.
//!
//! The table `[governor]` has the same keys and units as in a scenario; a key that is left out has the original's value, save the law.
//! It is not a scenario: no agent and no plan stand in it. Unknown keys are refused with the line and the nearest known
//! one.
//!
//! | key | unit | where it is left out |
//! |---|---|---|
//! | `law` | name | `stride` |
//! | `juice` | output tokens per turn | 2000 |
//! | `over` | duration: `300`, `"300s"`, `"5m"` | 300 s |
//! | `slack` | share of the target | 0.15 |
//! | `rest` | duration | 5 s |
//! | `budget` | millions of output tokens, 0 for none | 10 |
//! | `cooldown` | rounds after a move without another | 0 |
//! | `slack_below`, `slack_above` | share of the target, for one side | `slack` |
//!
//! A table `[governor.LAW]` sets what that law has to set: [`LawKind::knobs`] names each with its bounds.

use std::fmt::Write as _;

use super::report::decimal;
use super::scenario::{GovernorSettings, ScenarioError, governor_of};
use crate::engine::laws::{LawKind, Tuning};
use crate::engine::{Millis, Ratio, Target, Tokens};

/// Settings of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The governor's.
    pub governor: GovernorSettings,
}

impl Default for Settings {
    /// Those of the original, save the law.
    fn default() -> Self {
        let governor = GovernorSettings { law: LawKind::DEFAULT, ..Self::original().governor };
        Self { governor }
    }
}

impl Settings {
    /// Those of the original.
    #[must_use]
    pub const fn original() -> Self {
        Self {
            governor: GovernorSettings {
                law: LawKind::Reference,
                juice: Target::from_tokens(2000),
                over: Millis::from_secs(300),
                slack: Ratio::from_ppm(150_000),
                rest: Millis::from_secs(5),
                budget: Some(Tokens::new(10_000_000)),
                tuning: Tuning::USUAL,
            },
        }
    }
}

impl Settings {
    /// Reads the text of a settings file; `file` is what faults are told under.
    ///
    /// ```
    /// use flyball::lab::settings::Settings;
    /// let settings = Settings::load("[governor]\nlaw = \"reset\"\nover = \"1h\"\n", "flyball.toml").unwrap();
    /// assert_eq!(settings.governor.over.count(), 3_600_000);
    /// assert_eq!(settings.governor.rest, Settings::default().governor.rest);
    /// let error = Settings::load("[governor]\nslak = 0.2\n", "flyball.toml").unwrap_err();
    /// assert!(error.to_string().contains("flyball.toml:2: governor.slak: unknown key; did you mean `slack`?"));
    /// ```
    ///
    /// # Errors
    /// [`ScenarioError::Faulty`] with the line, the key and the remedy of each fault.
    pub fn load(text: &str, file: &str) -> Result<Self, ScenarioError> {
        let governor = governor_of(text, Self::default().governor)
            .map_err(|problems| ScenarioError::Faulty { file: file.to_owned(), problems })?;
        Ok(Self { governor })
    }

    /// The text of the settings file, with `about` as a comment above it.
    #[must_use]
    pub fn to_toml(&self, about: &str) -> String {
        let GovernorSettings { law, juice, over, slack, rest, budget, tuning } = self.governor;
        let mut text = String::new();
        for line in about.lines() {
            let _ = writeln!(text, "# {line}");
        }
        let juice = short(i64::try_from(juice.micros()).unwrap_or(i64::MAX));
        let slack = short(slack.ppm().into());
        let budget = short(i64::try_from(budget.unwrap_or_default().count()).unwrap_or(i64::MAX));
        let (over, rest) = (duration(over), duration(rest));
        let _ = write!(
            text,
            "[governor]\nlaw = \"{law}\"\njuice = {juice}     # output tokens per turn\nover = \"{over}\"\nslack = {slack}\n\
             rest = \"{rest}\"\nbudget = {budget}     # millions of output tokens, 0 for none\n"
        );
        set(&tuning, &mut text);
        text
    }
}

/// What is set otherwise than it stands.
fn set(tuning: &Tuning, text: &mut String) {
    if tuning.cooldown > 0 {
        let _ = writeln!(text, "cooldown = {}     # rounds", tuning.cooldown);
    }
    for (key, side) in [("slack_below", tuning.slack_below), ("slack_above", tuning.slack_above)] {
        if let Some(side) = side {
            let _ = writeln!(text, "{key} = {}", short(side.ppm().into()));
        }
    }
    let mut table = None;
    for (law, knob, value) in tuning.changes() {
        if table.replace(law) != Some(law) {
            let _ = writeln!(text, "\n[governor.{law}]");
        }
        let _ = writeln!(text, "{} = {}     # {}", knob.name, short(value.into()), knob.about);
    }
}

/// Millionths as the shortest decimal.
fn short(micros: i64) -> String {
    let text = decimal(micros);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Whole seconds as seconds, anything else as milliseconds.
fn duration(span: Millis) -> String {
    match span.count() {
        ms if ms % 1000 == 0 => format!("{}s", ms / 1000),
        ms => format!("{ms}ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_left_out_is_the_originals_save_the_law() {
        assert_eq!(Settings::load("", "x").unwrap(), Settings::default());
        let governor = GovernorSettings { law: LawKind::Reference, ..Settings::default().governor };
        assert_eq!(Settings { governor }, Settings::original());
        assert_eq!(Settings::load("[governor]\nbudget = 0\n", "x").unwrap().governor.budget, None);
    }

    #[test]
    fn faults_name_file_line_and_key() {
        for (text, want) in [
            ("[governor]\njuice = -1\n", "flyball.toml:2: governor.juice"),
            ("[governor]\nlaw = \"refrence\"\n", "flyball.toml:2: governor.law"),
            ("\n[govenor]\n", "flyball.toml:2: govenor: unknown key; did you mean `governor`?"),
            ("[governor]\nslack = nan\n", "flyball.toml:2: governor.slack"),
            ("[governor", "flyball.toml:1"),
        ] {
            let error = Settings::load(text, "flyball.toml").unwrap_err().to_string();
            assert!(error.contains(want), "{error}");
        }
    }

    #[test]
    fn a_switch_takes_what_switches_are_written_as_and_nothing_between() {
        let read = |value: &str| Settings::load(&format!("[governor.stride]\namend = {value}\n"), "flyball.toml");
        let amend = |value| read(value).unwrap().governor.tuning.get(LawKind::Stride, "amend");
        for (on, off) in [("1", "0"), ("true", "false"), ("1.0", "\"0\"")] {
            assert_eq!((amend(on), amend(off)), (Some(1_000_000), Some(0)));
        }
        for value in ["0.5", "0.0001", "2", "\"on\"", "-1"] {
            let error = read(value).unwrap_err().to_string();
            assert!(
                error.contains("flyball.toml:2: governor.stride.amend")
                    && error.contains("write 1 for on or 0 for off"),
                "{error}"
            );
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(
            law in 0usize..11, juice in 1u64..1_000_000_000_000, over in 1u64..86_400_000, slack in 0u32..=1_000_000,
            rest in 0u64..100_000, budget in 0u64..1_000_000_000, cooldown in 0u32..50, side in prop::option::of(0u32..=1_000_000),
            knob in 0u32..=100_000
        ) {
            let mut tuning = Tuning::USUAL;
            (tuning.cooldown, tuning.slack_above) = (cooldown, side.map(Ratio::from_ppm));
            tuning.set(LawKind::Stride, "drift", knob).unwrap();
            tuning.set(LawKind::Evidence, "z", knob * 10).unwrap();
            let governor = GovernorSettings {
                law: LawKind::ALL[law],
                juice: Target::from_micros(juice),
                over: Millis::new(over),
                slack: Ratio::from_ppm(slack),
                rest: Millis::new(rest),
                budget: (budget > 0).then_some(Tokens::new(budget)),
                tuning,
            };
            let text = Settings { governor }.to_toml("chosen by a sweep\nof two lines");
            prop_assert_eq!(Settings::load(&text, "x").unwrap(), Settings { governor });
        }
    }
}
