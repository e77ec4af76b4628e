//! Settlement: a closing total is laid onto the turns that it settles.
//!
//! Some backends state while they work what is not yet, or never, the final count, and tell the truth in one total at the
//! end. A total fed to the meter as a lump would add a whole round's tokens to the few turns that happen to lie in the
//! window, and the governor would walk away from its target. So the difference goes onto *the turns it belongs to*: the
//! ones whose ids the closing statement names get exactly what it says; the rest is shared in proportion to what each had
//! reported (evenly where none had), in whole tokens by largest remainder, and marked estimated.
//!
//! It is not a reader: who states a total, and whether it is to be believed, is settled before. A total *below* what is
//! already counted takes nothing away; it is reported as surplus.

use alloc::vec::Vec;

use super::turn::Grade;
use super::units::Tokens;

/// One turn of a round that is being settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Output counted so far.
    pub output: Tokens,
    /// How far that count can be trusted.
    pub grade: Grade,
}

/// What a settlement did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settled {
    /// Tokens laid onto turns.
    pub added: Tokens,
    /// Tokens that had been counted beyond the stated total, and stay counted.
    pub surplus: Tokens,
    /// Tokens that no turn could take, because the round had none.
    pub homeless: Tokens,
}

/// Lays `total - sum(parts)` onto the parts that are not known for sure, or onto all of them where all are known.
///
/// ```
/// use flyball::engine::{Grade, Tokens, settlement::{Part, settle}};
/// let part = |output| Part { output: Tokens::new(output), grade: Grade::Estimated };
/// let mut parts = [part(10), part(30)];
/// settle(&mut parts, Tokens::new(100));
/// assert_eq!(parts.map(|part| part.output.count()), [25, 75]);
/// ```
pub fn settle(parts: &mut [Part], total: Tokens) -> Settled {
    let counted = parts.iter().fold(Tokens::ZERO, |sum, part| sum.plus(part.output));
    let missing = total.minus(counted);
    let mut settled = Settled { added: missing, surplus: counted.minus(total), homeless: Tokens::ZERO };
    if missing == Tokens::ZERO {
        return settled;
    }
    if parts.is_empty() {
        settled.added = Tokens::ZERO;
        settled.homeless = missing;
        return settled;
    }
    let all_known = parts.iter().all(|part| part.grade == Grade::Known);
    let mut open: Vec<&mut Part> = parts.iter_mut().filter(|part| all_known || part.grade != Grade::Known).collect();
    share(&mut open, missing);
    settled
}

/// Shares `missing` in proportion to what each part has, evenly where none has anything: whole tokens, the largest
/// remainders first, ties to the earlier turn.
fn share(open: &mut [&mut Part], missing: Tokens) {
    let weights: u128 = open.iter().map(|part| u128::from(part.output.count())).sum();
    let even = weights == 0;
    let whole = if even { open.len() as u128 } else { weights };
    let mut left = missing.count();
    let mut rests: Vec<(u128, usize)> = Vec::with_capacity(open.len());
    for (index, part) in open.iter_mut().enumerate() {
        let weight = if even { 1 } else { u128::from(part.output.count()) };
        let product = u128::from(missing.count()) * weight;
        let given = u64::try_from(product / whole).unwrap_or(u64::MAX);
        part.output = part.output.plus(Tokens::new(given));
        part.grade = Grade::Estimated;
        left = left.saturating_sub(given);
        rests.push((product % whole, index));
    }
    rests.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    for &(_, index) in rests.iter().cycle().take(usize::try_from(left).unwrap_or(usize::MAX)) {
        open[index].output = open[index].output.plus(Tokens::new(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn part(output: u64, grade: Grade) -> Part {
        Part { output: Tokens::new(output), grade }
    }

    fn outputs(parts: &[Part]) -> Vec<u64> {
        parts.iter().map(|part| part.output.count()).collect()
    }

    #[test]
    fn known_turns_are_left_alone_while_others_can_take_it() {
        let mut parts = [part(50, Grade::Known), part(0, Grade::Unknown), part(0, Grade::Unknown)];
        let settled = settle(&mut parts, Tokens::new(101));
        assert_eq!(outputs(&parts), [50, 26, 25], "evenly, the odd token to the earlier turn");
        assert_eq!(parts.map(|part| part.grade), [Grade::Known, Grade::Estimated, Grade::Estimated]);
        assert_eq!(settled, Settled { added: Tokens::new(51), ..Settled::default() });
    }

    #[test]
    fn where_all_are_known_all_take_it_and_are_estimated_from_then_on() {
        let mut parts = [part(1, Grade::Known), part(2, Grade::Known)];
        settle(&mut parts, Tokens::new(9));
        assert_eq!(outputs(&parts), [3, 6]);
        assert!(parts.iter().all(|part| part.grade == Grade::Estimated));
    }

    #[test]
    fn a_total_below_the_count_takes_nothing_away() {
        let mut parts = [part(5, Grade::Known)];
        assert_eq!(settle(&mut parts, Tokens::new(3)).surplus, Tokens::new(2));
        assert_eq!(outputs(&parts), [5]);
    }

    #[test]
    fn tokens_of_a_round_without_turns_are_homeless() {
        assert_eq!(settle(&mut [], Tokens::new(3)), Settled { homeless: Tokens::new(3), ..Settled::default() });
    }

    proptest! {
        #[test]
        fn every_token_lands_once_and_shares_are_fair(
            raw in prop::collection::vec((0u64..10_000, any::<bool>()), 1..40), extra in 0u64..1_000_000
        ) {
            let mut parts: Vec<Part> = raw.iter().map(|&(o, known)| part(o, if known { Grade::Known } else { Grade::Estimated })).collect();
            let before = parts.clone();
            let counted: u64 = outputs(&parts).iter().sum();
            settle(&mut parts, Tokens::new(counted + extra));
            prop_assert_eq!(outputs(&parts).iter().sum::<u64>(), counted + extra);
            let all_known = before.iter().all(|part| part.grade == Grade::Known);
            let weights: u64 = before.iter().filter(|part| all_known || part.grade != Grade::Known).map(|part| part.output.count()).sum();
            for (old, new) in before.iter().zip(&parts) {
                if !all_known && old.grade == Grade::Known {
                    prop_assert_eq!(old, new);
                } else if weights > 0 {
                    let fair = u128::from(extra) * u128::from(old.output.count()) / u128::from(weights);
                    let got = u128::from(new.output.count() - old.output.count());
                    prop_assert!(got == fair || got == fair + 1);
                }
            }
        }
    }
}
