//! Values with stable words, and fingerprints, as they stand in a line.

use serde::{Deserialize, Serialize};

use crate::engine::{Answer, Control, Fingerprint, Grade, RoundExit, Side, StopRequest, Urgency, Waiting};

/// One of a few stable words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word<T>(pub T);

/// Values that have stable words.
pub trait Worded: Copy + PartialEq + 'static {
    /// All of them with their words.
    const WORDS: &'static [(Self, &'static str)];
}

macro_rules! worded {
    ($($type:ident { $($value:ident $word:literal),* $(,)? })*) => { $(
        impl Worded for $type {
            const WORDS: &'static [(Self, &'static str)] = &[$(($type::$value, $word)),*];
        }
    )* };
}

worded! {
    RoundExit { Done "done", Failed "failed", Cut "cut" }
    Answer { Pass "pass", Fail "fail", Blocked "blocked", Error "error" }
    StopRequest { End "end", Kill "kill", GiveUp "give-up", KillOn "kill-on", Requests "requests" }
    Urgency { Gently "gently", Now "now" }
    Side { Below "below", Within "within", Above "above" }
    Grade { Known "known", Estimated "estimated", Unknown "unknown" }
    Waiting {
        Disk "disk", Start "start", Turns "turns", End "end", Answer "answer", Rest "rest", Backoff "backoff",
        Limit "limit",
    }
    Control {
        Rounds "rounds", Budget "budget", Tokens "tokens", Cost "cost", Wall "wall", Requests "requests",
        NoProgress "no-progress", SameError "same-error", Limit "limit", AgentFailures "agent-failures", KillOn "kill-on",
        Unmetered "unmetered", OraclePassed "oracle-passed", OracleError "oracle-error", Blocked "blocked",
        Interrupted "interrupted",
    }
}

impl<T: Worded> Serialize for Word<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let word = T::WORDS.iter().find(|(value, _)| *value == self.0).map(|(_, word)| *word);
        word.ok_or_else(|| serde::ser::Error::custom("a value without a word"))?.serialize(serializer)
    }
}

impl<'de, T: Worded> Deserialize<'de> for Word<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        let known = T::WORDS.iter().find(|(_, known)| *known == word).map(|(value, _)| Self(*value));
        known.ok_or_else(|| {
            let words: Vec<&str> = T::WORDS.iter().map(|(_, word)| *word).collect();
            serde::de::Error::custom(format!("{word:?} is none of {}", words.join(", ")))
        })
    }
}

/// A fingerprint as 64 digits of hex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hex(pub Fingerprint);

/// Bytes in lower-case hex.
#[must_use]
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Serialize for Hex {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        hex(&self.0.0).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Hex {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let wrong = || serde::de::Error::custom("a fingerprint is 64 digits of hex");
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(wrong());
        }
        let mut bytes = [0; 32];
        for (place, byte) in bytes.iter_mut().enumerate() {
            let digits = text.get(2 * place..2 * place + 2).ok_or_else(wrong)?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| wrong())?;
        }
        Ok(Self(Fingerprint(bytes)))
    }
}
