//! Pictures of finished results: plain data in, SVG text out, and a PNG of it with the one bundled font.
//!
//! It is not a charting library and it computes no statistics: every number drawn was worked out elsewhere and stands
//! in a data struct ([`Heat`], [`Trace`], [`Settle`], [`Burn`], [`Chart`]) that serialises to the same JSON everywhere. It opens
//! no files; whoever calls it writes `NAME.svg`, `NAME.png` and `NAME.json`.
//!
//! The same data gives the same SVG bytes: coordinates are printed with two decimals, nothing is read from the clock,
//! the system's fonts or its locale, and text is measured with a table of the bundled font's own widths. A PNG is *not*
//! promised to be the same byte for byte: the rasteriser works in `f32` with whatever vector instructions there are.
//!
//! Units: windows in milliseconds, tokens as tokens, shares as fractions of one, rounds counted from one.
//!
//! Each mark says its value with names, unit and interval where it is pointed at, by a title of SVG: no script, no style.
//!
//! Readable without colour: values are printed in their cells, lines differ by dash, moves by shape. Colours are
//! viridis (Smith and van der Walt 2015) and the palette of Okabe and Ito 2008. The font is Roboto Regular (Google,
//! Apache-2.0), unmodified, with its licence beside it in `font/`.

pub mod bars;
pub mod burn;
pub mod chart;
mod colour;
mod frame;
pub mod heat;
mod hover;
mod num;
mod png;
mod scale;
mod scene;
pub mod settle;
mod text;
pub mod trace;
pub mod validate;

pub use bars::{Bar, BarRow, Bars};
pub use burn::{Burn, BurnPanel, BurnPoint};
pub use chart::{Chart, ChartDots, ChartLine, ChartPanel};
pub use heat::{Better, Heat, HeatCell, HeatPanel, HeatPlace, Legal};
pub use num::Num;
pub use png::{FONT, FONT_LICENCE, PNG_SCALE, PngError, png};
pub use scale::Scale;
pub use settle::{Settle, SettleLine, SettleStep};
pub use trace::{Shade, Trace, TraceRound, Why};
pub use validate::{Validate, ValidateFigure, ValidateGroup};

use serde::{Deserialize, Serialize};

/// What every picture says about itself: a title, and where its numbers come from.
///
/// The title is a sentence about what is seen, not the name of the chart. Empty fields are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Caption {
    /// One line, the largest text.
    pub title: String,
    /// Name of the scenario.
    pub scenario: String,
    /// Name of the law, with its settings where they are one for the whole picture.
    pub law: String,
    /// How many runs (seeds) stand behind each number.
    pub runs: u64,
    /// How many rounds each run has at most.
    pub rounds: u64,
    /// The seed that all runs derive from.
    pub seed: u64,
    /// A line of explanation at the foot.
    #[serde(default)]
    pub note: String,
    /// The command that makes this picture again, at the foot.
    #[serde(default)]
    pub command: String,
}

#[cfg(test)]
mod sample;
