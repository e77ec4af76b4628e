//! What a line adds to what was spent: said once, for whoever adds a journal up.
//!
//! It adds up nothing itself. A checkpoint is no addition: it says what the sum is.

use super::event::Record;
use crate::engine::{MicroUsd, Tokens};

/// What one line adds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// To this round.
    pub round: u64,
    /// Output.
    pub output: Tokens,
    /// Tokens of all kinds, the output among them.
    pub tokens: Tokens,
    /// Cost.
    pub cost: MicroUsd,
}

impl Record {
    /// What it adds to what was spent; none where it is no report of spending. A total that is stated adds what is laid onto turns
    /// and what no turn could take, and neither the total itself nor what was counted beyond it.
    #[must_use]
    pub fn adds(&self) -> Option<Added> {
        match self {
            Self::Turned(turn) => {
                let turn = turn.record();
                let (round, output, tokens) = (turn.round, turn.output, turn.all_tokens());
                Some(Added { round, output, tokens, cost: turn.cost.unwrap_or_default() })
            }
            Self::Laid { round, added_tokens, homeless_tokens, surplus_tokens: _ } => {
                let laid = Tokens::new(*added_tokens).plus(Tokens::new(*homeless_tokens));
                Some(Added { round: *round, output: laid, tokens: laid, cost: MicroUsd::ZERO })
            }
            Self::Persisted { .. }
            | Self::Spawned { .. }
            | Self::Settled { .. }
            | Self::Heard { .. }
            | Self::Refused { .. }
            | Self::Ended { .. }
            | Self::Verified { .. }
            | Self::Progress { .. }
            | Self::LimitUntil { .. }
            | Self::Shared(_)
            | Self::Asked { .. }
            | Self::Woke {}
            | Self::Absorbed {}
            | Self::Decided { .. }
            | Self::Persist { .. }
            | Self::Spawn { .. }
            | Self::Terminate { .. }
            | Self::Verify { .. }
            | Self::Wait { .. }
            | Self::Stop { .. }
            | Self::Opened { .. }
            | Self::Group { .. }
            | Self::Agent { .. }
            | Self::Note { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Timestamp, TurnRecord};
    use crate::trace::Turn;

    #[test]
    fn a_report_adds_all_its_tokens_and_a_total_what_it_lays() {
        let mut turn = TurnRecord::new(3, Timestamp::EPOCH, Tokens::new(30), "test");
        (turn.input, turn.cache_read, turn.cost) = (Some(Tokens::new(5)), Some(Tokens::new(7)), Some(MicroUsd::new(2)));
        let added = Added { round: 3, output: Tokens::new(30), tokens: Tokens::new(42), cost: MicroUsd::new(2) };
        assert_eq!(Record::Turned(Turn::of(&turn)).adds(), Some(added));
        let laid = Record::Laid { round: 3, added_tokens: 4, surplus_tokens: 50, homeless_tokens: 6 };
        let ten = Tokens::new(10);
        assert_eq!(laid.adds(), Some(Added { round: 3, output: ten, tokens: ten, cost: MicroUsd::ZERO }));
        assert_eq!(Record::Settled { round: 3, total_tokens: 9, turns: Vec::new() }.adds(), None);
    }
}
