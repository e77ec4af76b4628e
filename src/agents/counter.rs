//! Running totals turned into what was added.
//!
//! Programs state what they spent as a total that runs on: over a process, over a thread, over a session. Adding such
//! figures up counts the first tokens again and again. A [`Counter`] gives what each figure added to the one before; a figure
//! said twice adds nothing. It also says when a figure fell, which a sum never does: either its process was started anew,
//! and all of the new figure is new spending, or the program took something off its own total (a compaction), and only
//! what comes after is.
//!
//! It is not settlement: what was added is not laid onto turns here.

/// What a figure below the one before means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fall {
    /// The counter began again from zero, with its process: all of the new figure was added.
    Restart,
    /// The program lowered its total: nothing was added, and counting goes on from the new figure.
    Rebase,
}

/// What one figure added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// By how much spending grew.
    pub added: u64,
    /// The figure was below the one before.
    pub fell: bool,
}

/// One running total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counter {
    last: u64,
}

impl Counter {
    /// Takes the next figure.
    ///
    /// ```
    /// use flyball::agents::counter::{Counter, Fall};
    /// let added = |figures: &[u64], fall| {
    ///     let mut counter = Counter::default();
    ///     figures.iter().map(|&figure| counter.take(figure, fall).added).sum::<u64>()
    /// };
    /// assert_eq!(added(&[16_504, 85_681, 85_681, 103_779], Fall::Rebase), 103_779);
    /// assert_eq!(added(&[500, 200, 260], Fall::Rebase), 560);
    /// assert_eq!(added(&[250, 280, 30], Fall::Restart), 310);
    /// ```
    pub const fn take(&mut self, figure: u64, fall: Fall) -> Step {
        let fell = figure < self.last;
        let added = match fall {
            Fall::Restart if fell => figure,
            Fall::Restart | Fall::Rebase => figure.saturating_sub(self.last),
        };
        self.last = figure;
        Step { added, fell }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_total_that_only_grows_adds_up_to_itself_and_none_ever_takes_away(
            mut figures in prop::collection::vec(0_u64..1_000_000, 1..40), restart in any::<bool>()
        ) {
            let fall = if restart { Fall::Restart } else { Fall::Rebase };
            let sum = |figures: &[u64]| {
                let mut counter = Counter::default();
                figures.iter().map(|&figure| counter.take(figure, fall).added).sum::<u64>()
            };
            let most = figures.iter().copied().max().unwrap_or(0);
            prop_assert!(sum(&figures) >= most);
            figures.sort_unstable();
            prop_assert_eq!(sum(&figures), most);
        }
    }
}
