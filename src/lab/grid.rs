//! The grid: every combination of the axes' values, in one order that never changes.
//!
//! The order is law, then target, then window, then slack, then rest, each axis as it was written with repeats left out;
//! the last axis turns fastest. Results are reported in this order whatever computed them. It runs nothing.

use std::fmt;

use crate::engine::laws::LawKind;
use crate::engine::{Millis, Ratio, Target};

/// The most cells that one grid may have.
pub const MAX_CELLS: usize = 1_000_000;

/// One point of the parameter space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The governor's rule.
    pub law: LawKind,
    /// The target.
    pub juice: Target,
    /// The window.
    pub over: Millis,
    /// Half the width of the band, as a share of the target.
    pub slack: Ratio,
    /// The pause between rounds.
    pub rest: Millis,
}

/// Values for some of the axes; an axis that is `None` is left to somebody else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Axes {
    /// Laws.
    pub law: Option<Vec<LawKind>>,
    /// Targets.
    pub juice: Option<Vec<Target>>,
    /// Windows.
    pub over: Option<Vec<Millis>>,
    /// Slacks.
    pub slack: Option<Vec<Ratio>>,
    /// Rests.
    pub rest: Option<Vec<Millis>>,
}

impl Axes {
    /// These axes, and where one is missing that of `fallback`: flags over a scenario's own sweep.
    #[must_use]
    pub fn or(self, fallback: &Self) -> Self {
        Self {
            law: self.law.or_else(|| fallback.law.clone()),
            juice: self.juice.or_else(|| fallback.juice.clone()),
            over: self.over.or_else(|| fallback.over.clone()),
            slack: self.slack.or_else(|| fallback.slack.clone()),
            rest: self.rest.or_else(|| fallback.rest.clone()),
        }
    }
}

/// Why axes make no grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GridError {
    /// The axis of this name has no value.
    Empty(&'static str),
    /// More cells than [`MAX_CELLS`].
    TooLarge,
}

impl fmt::Display for GridError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty(axis) => write!(f, "the axis `{axis}` has no value"),
            Self::TooLarge => write!(f, "the grid has more than {MAX_CELLS} cells: take fewer values or larger steps"),
        }
    }
}

impl std::error::Error for GridError {}

/// The ordered product of the axes.
///
/// ```
/// use flyball::engine::{Millis, Ratio, Target};
/// use flyball::engine::laws::LawKind;
/// use flyball::lab::grid::{Axes, Cell, Grid};
/// let base = Cell {
///     law: LawKind::Reset,
///     juice: Target::from_tokens(2048),
///     over: Millis::from_secs(300),
///     slack: Ratio::from_ppm(150_000),
///     rest: Millis::from_secs(5),
/// };
/// let over = Some(vec![Millis::from_secs(300), Millis::from_secs(3600)]);
/// let grid = Grid::new(base, Axes { over, ..Axes::default() }).unwrap();
/// assert_eq!(grid.cells().map(|cell| cell.over.count()).collect::<Vec<_>>(), [300_000, 3_600_000]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    law: Vec<LawKind>,
    juice: Vec<Target>,
    over: Vec<Millis>,
    slack: Vec<Ratio>,
    rest: Vec<Millis>,
}

impl Grid {
    /// The product of `axes`; an axis that is missing has the one value that stands in `base`.
    ///
    /// # Errors
    /// [`GridError`] where an axis has no value or the product is too large.
    pub fn new(base: Cell, axes: Axes) -> Result<Self, GridError> {
        let grid = Self {
            law: distinct("law", axes.law, base.law)?,
            juice: distinct("juice", axes.juice, base.juice)?,
            over: distinct("over", axes.over, base.over)?,
            slack: distinct("slack", axes.slack, base.slack)?,
            rest: distinct("rest", axes.rest, base.rest)?,
        };
        let sizes = [grid.juice.len(), grid.over.len(), grid.slack.len(), grid.rest.len()];
        let cells = sizes.into_iter().try_fold(grid.law.len(), usize::checked_mul);
        match cells {
            Some(cells) if cells <= MAX_CELLS => Ok(grid),
            Some(_) | None => Err(GridError::TooLarge),
        }
    }

    /// How many cells there are: at least one.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a grid is never empty")]
    pub fn len(&self) -> usize {
        self.law.len() * self.juice.len() * self.over.len() * self.slack.len() * self.rest.len()
    }

    /// The cell at `index` in the grid's order.
    #[must_use]
    pub fn cell(&self, index: usize) -> Option<Cell> {
        let mut left = index;
        let mut digit = |size: usize| {
            let at = left % size;
            left /= size;
            at
        };
        let (rest, slack, over) = (digit(self.rest.len()), digit(self.slack.len()), digit(self.over.len()));
        let (juice, law) = (digit(self.juice.len()), digit(self.law.len()));
        (left == 0).then(|| Cell {
            law: self.law[law],
            juice: self.juice[juice],
            over: self.over[over],
            slack: self.slack[slack],
            rest: self.rest[rest],
        })
    }

    /// All cells in order.
    pub fn cells(&self) -> impl Iterator<Item = Cell> + '_ {
        (0..self.len()).map_while(|index| self.cell(index))
    }

    /// The laws, each once, in the order given.
    #[must_use]
    pub fn laws(&self) -> &[LawKind] {
        &self.law
    }

    /// The targets, each once, in the order given.
    #[must_use]
    pub fn juices(&self) -> &[Target] {
        &self.juice
    }

    /// The windows, each once, in the order given.
    #[must_use]
    pub fn overs(&self) -> &[Millis] {
        &self.over
    }

    /// The slacks, each once, in the order given.
    #[must_use]
    pub fn slacks(&self) -> &[Ratio] {
        &self.slack
    }

    /// The rests, each once, in the order given.
    #[must_use]
    pub fn rests(&self) -> &[Millis] {
        &self.rest
    }
}

/// The values without repeats, the first of equals kept; `otherwise` alone where there is no axis.
fn distinct<T: Ord + Copy>(axis: &'static str, values: Option<Vec<T>>, otherwise: T) -> Result<Vec<T>, GridError> {
    let values = values.unwrap_or_else(|| vec![otherwise]);
    let mut seen = std::collections::BTreeSet::new();
    let kept: Vec<T> = values.into_iter().filter(|value| seen.insert(*value)).collect();
    if kept.is_empty() { Err(GridError::Empty(axis)) } else { Ok(kept) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn base() -> Cell {
        Cell {
            law: LawKind::Reference,
            juice: Target::from_tokens(2048),
            over: Millis::from_secs(300),
            slack: Ratio::from_ppm(150_000),
            rest: Millis::from_secs(5),
        }
    }

    #[test]
    fn a_missing_axis_is_the_base_alone() {
        let grid = Grid::new(base(), Axes::default()).unwrap();
        assert_eq!(grid.cells().collect::<Vec<_>>(), [base()]);
        assert_eq!(grid.cell(1), None);
    }

    #[test]
    fn the_last_axis_turns_fastest_and_repeats_go() {
        let axes = Axes {
            law: Some(vec![LawKind::Reset, LawKind::Reference]),
            over: Some([60, 300, 60].map(Millis::from_secs).to_vec()),
            rest: Some([5, 0].map(Millis::from_secs).to_vec()),
            ..Axes::default()
        };
        let grid = Grid::new(base(), axes).unwrap();
        let seen: Vec<_> = grid.cells().map(|c| (c.law.name(), c.over.count(), c.rest.count())).collect();
        let expected = [
            ("reset", 60_000, 5000),
            ("reset", 60_000, 0),
            ("reset", 300_000, 5000),
            ("reset", 300_000, 0),
            ("reference", 60_000, 5000),
            ("reference", 60_000, 0),
            ("reference", 300_000, 5000),
            ("reference", 300_000, 0),
        ];
        assert_eq!(seen, expected);
        assert_eq!(grid.len(), 8);
    }

    #[test]
    fn empty_axes_and_huge_products_are_refused() {
        let empty = Axes { slack: Some(vec![]), ..Axes::default() };
        assert_eq!(Grid::new(base(), empty), Err(GridError::Empty("slack")));
        let many = |count: u64| Some((1..=count).map(Millis::from_secs).collect::<Vec<_>>());
        let large = Axes { over: many(1001), rest: many(1000), ..Axes::default() };
        assert_eq!(Grid::new(base(), large), Err(GridError::TooLarge));
        let full = Axes { over: many(1000), rest: many(1000), ..Axes::default() };
        assert_eq!(Grid::new(base(), full).unwrap().len(), MAX_CELLS);
    }

    #[test]
    fn flags_go_over_the_scenario() {
        let flags = Axes { rest: Some(vec![Millis::ZERO]), ..Axes::default() };
        let file = Axes { rest: Some(vec![]), law: Some(vec![LawKind::Fixed]), ..Axes::default() };
        let axes = flags.or(&file);
        assert_eq!((axes.rest, axes.law, axes.over), (Some(vec![Millis::ZERO]), Some(vec![LawKind::Fixed]), None));
    }

    proptest! {
        #[test]
        fn cells_are_distinct_and_indexed(overs in prop::collection::vec(1_u64..9, 1..9), rests in prop::collection::vec(0_u64..9, 1..9)) {
            let axes = Axes {
                over: Some(overs.into_iter().map(Millis::from_secs).collect()),
                rest: Some(rests.into_iter().map(Millis::from_secs).collect()),
                ..Axes::default()
            };
            let grid = Grid::new(base(), axes).unwrap();
            let cells: Vec<Cell> = grid.cells().collect();
            prop_assert_eq!(cells.len(), grid.len());
            for (index, cell) in cells.iter().enumerate() {
                prop_assert_eq!(grid.cell(index), Some(*cell));
                prop_assert!(!cells[..index].contains(cell));
            }
        }
    }
}
