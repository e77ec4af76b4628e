//! The first line of a trace: what it is, and what the machine was set up with.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{FORMAT, VERSION};
use crate::engine::laws::Tuning;
use crate::engine::{LawKind, Ratio};

/// The first line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`] of the format.
    pub version: u64,
    /// Who wrote it.
    pub by: String,
    /// Whether each further line carries the hash of the one before.
    #[serde(default)]
    pub chained: bool,
    /// The scenario, where the agent was simulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    /// What its luck came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Which run of that seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<u64>,
    /// What the machine was set up with.
    pub setup: Setup,
}

impl Header {
    /// The header of a trace that is written now.
    #[must_use]
    pub fn new(setup: Setup) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            by: concat!("flyball ", env!("CARGO_PKG_VERSION")).to_owned(),
            chained: false,
            scenario: None,
            seed: None,
            run: None,
            setup,
        }
    }
}

/// What a machine was set up with: enough to set up another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// Efforts, hardest first.
    pub ladder: Vec<String>,
    /// The effort that the agent was set up with.
    pub configured: String,
    /// The law's name.
    pub law: String,
    /// The target, millionths of a token per turn.
    pub juice_millionths: u64,
    /// The window.
    pub over_ms: u64,
    /// Half width of the band, parts per million of the target.
    pub slack_ppm: u32,
    /// The pause between rounds.
    pub rest_ms: u64,
    /// The most output tokens; none without a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_tokens: Option<u64>,
    /// The most rounds; none without a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u64>,
    /// What else was set otherwise than it stands: `cooldown` in rounds, `slack_below` and `slack_above` in parts per
    /// million, and `law.knob` in millionths.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub set: BTreeMap<String, u32>,
}

impl Setup {
    /// What [`set`](Self::set) says of these settings.
    #[must_use]
    pub fn set_of(tuning: &Tuning) -> BTreeMap<String, u32> {
        let mut set = BTreeMap::new();
        if tuning.cooldown > 0 {
            set.insert("cooldown".to_owned(), tuning.cooldown);
        }
        let sides = [("slack_below", tuning.slack_below), ("slack_above", tuning.slack_above)];
        set.extend(sides.into_iter().filter_map(|(key, side)| Some((key.to_owned(), side?.ppm()))));
        set.extend(tuning.changes().map(|(law, knob, value)| (format!("{law}.{}", knob.name), value)));
        set
    }

    /// The settings that [`set`](Self::set) says; what this version does not have is left as it stands.
    #[must_use]
    pub fn tuning(&self) -> Tuning {
        let mut tuning = Tuning::USUAL;
        for (key, &value) in &self.set {
            match key.as_str() {
                "cooldown" => tuning.cooldown = value,
                "slack_below" => tuning.slack_below = Some(Ratio::from_ppm(value)),
                "slack_above" => tuning.slack_above = Some(Ratio::from_ppm(value)),
                other => {
                    if let Some((law, knob)) = other.split_once('.')
                        && let Ok(law) = law.parse::<LawKind>()
                    {
                        let _ = tuning.set(law, knob, value);
                    }
                }
            }
        }
        tuning
    }
}
