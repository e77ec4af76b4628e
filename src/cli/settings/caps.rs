//! Caps over several runs as they stand in settings: `day.cost=20,group.wall=8h`.
//!
//! | kind | unit |
//! |---|---|
//! | `rounds` | rounds |
//! | `budget`, `tokens` | millions of output tokens, of tokens of all kinds |
//! | `cost` | US dollars |
//! | `wall` | duration: `8h`, `90m`, `300s` |

use super::typed::list;
use crate::lab::axis::{duration, millionths};
use crate::run::purse::{Kind, SharedCaps};

/// Reads them: a JSON list, or texts with commas between; an empty text is none.
///
/// # Errors
/// What is wrong with it, for people.
pub fn caps(text: &str) -> Result<SharedCaps, String> {
    SharedCaps::parse(&list(text)?.join(","), |kind, text| match kind {
        Kind::Rounds => text.parse().map_err(|_| "it must be a whole number".to_owned()),
        Kind::Budget | Kind::Tokens | Kind::Cost => millionths(text).map_err(|fault| fault.to_string()),
        Kind::Wall => duration(text).map(|span| span.count()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_unit() {
        let read = caps("day.cost=20.5, project.budget=1.5,group.tokens=3,day.wall=8h,group.rounds=7").unwrap();
        let most: Vec<u64> = read.all().iter().map(|cap| cap.most).collect();
        assert_eq!(most, [20_500_000, 1_500_000, 3_000_000, 8 * 3600 * 1000, 7]);
        for text in ["day.cost=-1", "day.cost=inf", "day.cost=1e99", "day.rounds=1.5", "day.wall=soon", "day.cost=0.0"]
        {
            assert!(caps(text).unwrap_err().contains("day."), "{text}");
        }
        assert_eq!(caps(" ").unwrap(), SharedCaps::default());
        assert_eq!(caps("[\"day.cost=1\", \"day.rounds=2\"]").unwrap(), caps("day.cost=1,day.rounds=2").unwrap());
    }
}
