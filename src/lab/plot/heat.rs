//! Heat maps over window and slack, side by side: what each pair of settings does to one law.
//!
//! Every panel has the same cells; a lighter cell is a better one in all of them (or a larger one, where neither end is
//! better), and the value is printed in it. Rows and columns are equally spaced whatever their values, so a limit that
//! lies between two rows is drawn at its share of the way between their middles.

use super::colour::{EDGE, GREEN, INK, MUTED, VERMILLION, ramp};
use super::frame::{Entry, Frame, LABEL, MARGIN, PANEL, TICK, key, upright};
use super::num::len;
use super::scene::{Area, Pen, Scene, Type};
use super::text::{duration, fit, fixed, trimmed, width};
use super::{Caption, Num, Scale};
use serde::{Deserialize, Serialize};

/// Several heat maps over the same windows and slacks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Heat {
    /// Title and facts.
    pub caption: Caption,
    /// The target, tokens per turn.
    pub juice: Num,
    /// Windows of the columns, milliseconds, shortest first.
    pub over_ms: Vec<u64>,
    /// Slacks of the rows, shares of the target, smallest first; drawn with the smallest at the bottom.
    pub slack: Vec<Num>,
    /// How far back the original governor remembers, milliseconds: 300 000 draws the line; `None` draws none.
    #[serde(default)]
    pub memory_ms: Option<u64>,
    /// The slacks between which some rung fits the band and its neighbour does not.
    #[serde(default)]
    pub legal: Option<Legal>,
    /// The cell that was chosen, outlined in every panel.
    #[serde(default)]
    pub chosen: Option<HeatPlace>,
    /// The maps, left to right; three to a row.
    pub panels: Vec<HeatPanel>,
}

/// The legal interval of slack for a ladder whose neighbours differ by the ratio `r`: (r-1)/(r+1) to 1-1/r.
///
/// Below it some target has no rung in its band; above it a rung one step off is in the band too.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Legal {
    /// The smallest slack at which every target has a resting rung.
    pub low: Num,
    /// The slack from which a rung one step off rests too.
    pub high: Num,
}

/// A cell by its place, both counted from zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeatPlace {
    /// Index into [`Heat::over_ms`].
    pub column: usize,
    /// Index into [`Heat::slack`].
    pub row: usize,
}

/// One heat map.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeatPanel {
    /// What is measured.
    pub title: String,
    /// Its unit, printed under the title.
    pub unit: String,
    /// Which end is better.
    pub better: Better,
    /// How values are spread over colours.
    pub scale: Scale,
    /// Decimals printed in the cells.
    pub decimals: u8,
    /// `cells[row][column]`; what is absent is drawn as missing.
    pub cells: Vec<Vec<HeatCell>>,
}

/// Which values are the good ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// Large ones.
    High,
    /// Small ones.
    Low,
    /// Neither.
    #[default]
    Neither,
}

/// One value of a heat map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeatCell {
    /// The value; missing is hatched.
    pub value: Num,
    /// Half the width of its 95 % confidence interval, printed below it where given.
    #[serde(default)]
    pub half: Num,
    /// The value is a lower bound, as the mean of a censored time is; printed with `≥`.
    #[serde(default)]
    pub at_least: bool,
}

/// Sizes that follow from the number of cells.
struct Layout {
    cell: (f64, f64),
    pitch: (f64, f64),
    per_row: usize,
    wide: f64,
}

const CELL_HIGH: f64 = 42.0;
const LEFT: f64 = 78.0;
const GAP: f64 = 26.0;
/// Above the cells: the panel's title and unit, and the name of the line of memory.
const HEAD: f64 = 64.0;
/// Below the cells: window labels, axis name, colour bar.
const TAIL: f64 = 112.0;
const PER_ROW: usize = 3;

impl Heat {
    /// Draws the maps.
    #[must_use]
    pub fn svg(&self) -> String {
        let layout = self.layout();
        let juice = self.juice.get().map(|juice| format!("target {} tokens per turn", trimmed(juice, 1)));
        let frame = Frame::new(&self.caption, &juice.into_iter().collect::<Vec<_>>(), layout.wide);
        let bands = self.panels.len().max(1).div_ceil(layout.per_row);
        let keys = 26.0;
        let bottom = frame.top() + len(bands) * layout.pitch.1 + keys;
        let mut scene = Scene::new(layout.wide, bottom + frame.foot());
        for (at, panel) in self.panels.iter().enumerate() {
            let (column, band) = (at % layout.per_row, at / layout.per_row);
            let left = MARGIN + LEFT + len(column) * layout.pitch.0;
            let top = frame.top() + HEAD + len(band) * layout.pitch.1;
            let (wide, high) = (len(self.over_ms.len()) * layout.cell.0, len(self.slack.len()) * layout.cell.1);
            self.panel(&mut scene, panel, Area::new(left, top, wide, high), layout.cell);
        }
        if self.panels.is_empty() || self.over_ms.is_empty() || self.slack.is_empty() {
            scene.text((MARGIN, frame.top() + 20.0), "nothing to draw", Type::new(PANEL, MUTED));
        }
        self.keys(&mut scene, bottom - keys + 12.0);
        frame.draw(&mut scene, bottom);
        frame.finish(scene)
    }

    fn layout(&self) -> Layout {
        let (columns, rows) = (len(self.over_ms.len()), len(self.slack.len()));
        let widest =
            self.panels.iter().flat_map(|panel| panel.cells.iter().flatten().map(|cell| printed(panel, *cell)));
        let widest = widest.map(|text| width(&text, CELL_TEXT) + 12.0).fold(0.0, f64::max);
        let least = if columns > 8.0 { 46.0 } else { 58.0 };
        // A single column still needs room for the panel's title.
        let cell = widest.clamp(least, 120.0).max(200.0 / columns.max(1.0));
        let wide = cell * columns;
        let pitch = (LEFT + wide + GAP, HEAD + rows * CELL_HIGH + TAIL);
        let per_row = self.panels.len().clamp(1, PER_ROW);
        let page = (2.0 * MARGIN + len(per_row) * pitch.0 - GAP).max(640.0);
        Layout { cell: (cell, CELL_HIGH), pitch, per_row, wide: page }
    }

    fn panel(&self, scene: &mut Scene, panel: &HeatPanel, area: Area, cell: (f64, f64)) {
        scene.text(
            (area.left, area.top - 44.0),
            &fit(&panel.title, PANEL, area.width()),
            Type::new(PANEL, INK).heavy(),
        );
        scene.text((area.left, area.top - 26.0), &fit(&panel.unit, TICK, area.width()), Type::new(TICK, MUTED));
        let reach = Reach::of(panel, self.slack.len(), self.over_ms.len());
        for row in 0..self.slack.len() {
            for column in 0..self.over_ms.len() {
                let value = panel.cells.get(row).and_then(|cells| cells.get(column)).copied().unwrap_or_default();
                let place = self.place(area, cell, column, row).inset(1.0);
                scene.told(&self.told(panel, value, HeatPlace { column, row }), |scene| {
                    draw_cell(scene, panel, &reach, value, place);
                });
            }
        }
        self.sides(scene, area, cell);
        self.legal_strip(scene, area, cell);
        self.memory_line(scene, area, cell);
        if let Some(HeatPlace { column, row }) = self.chosen
            && column < self.over_ms.len()
            && row < self.slack.len()
        {
            let place = self.place(area, cell, column, row);
            scene.outline(place.inset(0.5), Pen::solid(super::colour::PAPER, 5.0));
            scene.outline(place.inset(0.5), Pen::solid(INK, 2.5));
        }
        reach.bar(scene, panel, Area::new(area.left, area.bottom + 62.0, area.width().min(240.0), 10.0));
    }

    /// What a cell says when pointed at.
    fn told(&self, panel: &HeatPanel, cell: HeatCell, HeatPlace { column, row }: HeatPlace) -> String {
        let half = halved(panel, cell).map(|half| format!(" {half} (95 %)")).unwrap_or_default();
        let over = self.over_ms.get(column).map_or_else(|| "n/a".to_owned(), |over| duration(*over));
        let slack = self.slack.get(row).and_then(|slack| slack.get());
        let slack = slack.map_or_else(|| "n/a".to_owned(), |slack| trimmed(slack, 3));
        format!("{}: {}{half} {}; window {over}, slack {slack}", panel.title, printed(panel, cell), panel.unit)
    }

    /// The cell's rectangle; row 0 is at the bottom.
    fn place(&self, area: Area, cell: (f64, f64), column: usize, row: usize) -> Area {
        let top = area.bottom - len(row + 1) * cell.1;
        Area::new(area.left + len(column) * cell.0, top, cell.0, cell.1)
    }

    fn sides(&self, scene: &mut Scene, area: Area, cell: (f64, f64)) {
        // As many decimals as the finest row needs, so that the numbers line up.
        let told = self.slack.iter().filter_map(|slack| slack.get()).map(|slack| trimmed(slack, 3));
        let decimals = told.filter_map(|text| Some(text.split_once('.')?.1.len())).max().unwrap_or(0);
        for (row, slack) in self.slack.iter().enumerate() {
            let y = area.bottom - (len(row) + 0.5) * cell.1 + TICK * 0.36;
            let words = slack.get().map_or_else(|| "n/a".to_owned(), |slack| fixed(slack, decimals));
            scene.text((area.left - 18.0, y), &words, Type::new(TICK, MUTED).end());
        }
        let narrow = self.over_ms.iter().any(|over| width(&duration(*over), TICK) > cell.0 - 6.0);
        for (column, over) in self.over_ms.iter().enumerate() {
            let x = area.left + (len(column) + 0.5) * cell.0;
            let size = if narrow { TICK * 0.85 } else { TICK };
            scene.text((x, area.bottom + 18.0), &fit(&duration(*over), size, cell.0), Type::new(size, MUTED).middle());
        }
        let name = if area.height() < 160.0 { "slack" } else { "slack, share of target" };
        upright(scene, area, area.left - 58.0, name);
        let middle = (area.left + area.right) / 2.0;
        scene.text((middle, area.bottom + 40.0), "window (over)", Type::new(LABEL, INK).middle());
    }

    /// The bracket beside the rows whose slack is legal.
    fn legal_strip(&self, scene: &mut Scene, area: Area, cell: (f64, f64)) {
        let Some((low, high)) = self.legal.and_then(|legal| Some((legal.low.get()?, legal.high.get()?))) else {
            return;
        };
        let (Some(bottom), Some(top)) = (self.height_of(low, area, cell), self.height_of(high, area, cell)) else {
            return;
        };
        // An interval beyond the rows drawn has no height, and no bracket.
        if bottom - top > 0.5 {
            bracket(scene, area.left - 7.0, top, bottom);
        }
    }

    /// Where a slack lies beside the rows, from the middles of the two rows next to it.
    fn height_of(&self, slack: f64, area: Area, cell: (f64, f64)) -> Option<f64> {
        let rows: Vec<f64> = self.slack.iter().map(|slack| slack.get()).collect::<Option<_>>()?;
        if rows.is_empty() || rows.windows(2).any(|pair| pair[0] >= pair[1]) {
            return None;
        }
        let above = rows.iter().filter(|row| **row <= slack).count();
        let place = match (above.checked_sub(1).and_then(|at| rows.get(at)), rows.get(above)) {
            (Some(below), Some(next)) => len(above) - 0.5 + (slack - below) / (next - below),
            // Beyond the outermost rows there is no scale: at the edge, or on the row itself.
            (Some(below), None) if slack > *below => len(rows.len()),
            (Some(_), None) => len(rows.len()) - 0.5,
            (None, _) => 0.0,
        };
        Some(area.bottom - place * cell.1)
    }

    /// The line behind the last window that the original's memory holds.
    fn memory_line(&self, scene: &mut Scene, area: Area, cell: (f64, f64)) {
        let Some(memory) = self.memory_ms else { return };
        if self.over_ms.is_empty() || self.over_ms.windows(2).any(|pair| pair[0] >= pair[1]) {
            return;
        }
        let x = area.left + len(self.over_ms.iter().filter(|over| **over <= memory).count()) * cell.0;
        memory_mark(scene, x, area.top - 10.0, area.bottom + 5.0);
    }

    fn keys(&self, scene: &mut Scene, y: f64) {
        let legal = self.legal.and_then(|legal| Some((legal.low.get()?, legal.high.get()?)));
        let legal = legal.map(|(low, high)| {
            format!("legal slack {} to {}: a rung fits, its neighbours do not", trimmed(low, 3), trimmed(high, 3))
        });
        let memory =
            self.memory_ms.map(|ms| format!("the original's memory, {} s", trimmed(super::num::real(ms) / 1e3, 3)));
        let half =
            self.panels.iter().flat_map(|panel| panel.cells.iter().flatten()).any(|cell| cell.half.get().is_some());
        let mut entries: Vec<Entry<'_>> = Vec::new();
        let draw_legal = |scene: &mut Scene, x: f64, y: f64| bracket(scene, x + 16.0, y - 8.0, y + 8.0);
        let draw_memory = |scene: &mut Scene, x: f64, y: f64| memory_mark(scene, x + 16.0, y - 8.0, y + 8.0);
        let draw_chosen = |scene: &mut Scene, x: f64, y: f64| {
            scene.outline(Area::new(x + 4.0, y - 7.0, 22.0, 14.0), Pen::solid(INK, 2.5));
        };
        let draw_half = |scene: &mut Scene, x: f64, y: f64| {
            scene.text((x + 26.0, y + 4.0), "±", Type::new(TICK, MUTED).end());
        };
        if let Some(words) = &legal {
            entries.push((words, &draw_legal));
        }
        if let Some(words) = &memory {
            entries.push((words, &draw_memory));
        }
        if self.chosen.is_some() {
            entries.push(("chosen", &draw_chosen));
        }
        if half {
            entries.push(("half of the 95 % interval", &draw_half));
        }
        key(scene, (MARGIN, y), scene.width() - MARGIN, &entries);
    }
}

const CELL_TEXT: f64 = 13.5;
const HALF_TEXT: f64 = 10.5;

fn bracket(scene: &mut Scene, x: f64, top: f64, bottom: f64) {
    let pen = Pen::solid(GREEN, 3.0);
    scene.line((x, top), (x, bottom), pen);
    scene.line((x - 4.0, top), (x + 4.0, top), pen);
    scene.line((x - 4.0, bottom), (x + 4.0, bottom), pen);
}

fn memory_mark(scene: &mut Scene, x: f64, top: f64, bottom: f64) {
    scene.line((x, top), (x, bottom), Pen::solid(super::colour::PAPER, 4.0));
    scene.line((x, top), (x, bottom), Pen::dashed(VERMILLION, 2.5, "6 3"));
}

/// A cell's value as printed.
fn printed(panel: &HeatPanel, cell: HeatCell) -> String {
    let bound = if cell.at_least { "≥" } else { "" };
    let value = cell.value.get().map(|value| fixed(value, usize::from(panel.decimals.min(6))));
    value.map_or_else(|| "n/a".to_owned(), |value| format!("{bound}{value}"))
}

/// Half the width of a cell's interval as printed, where the cell has one.
fn halved(panel: &HeatPanel, cell: HeatCell) -> Option<String> {
    let half = cell.value.get().and(cell.half.get())?;
    Some(format!("±{}", fixed(half, usize::from(panel.decimals.min(6)))))
}

fn draw_cell(scene: &mut Scene, panel: &HeatPanel, reach: &Reach, cell: HeatCell, area: Area) {
    let middle = ((area.left + area.right) / 2.0, (area.top + area.bottom) / 2.0);
    let room = area.width() - 4.0;
    let Some(value) = cell.value.get() else {
        scene.rect(area, "url(#hatch)", 1.0);
        scene.text((middle.0, middle.1 + 4.0), "n/a", Type::new(TICK, MUTED).middle().halo());
        return;
    };
    let shade = ramp(reach.share(value, panel));
    scene.rect(area, &shade.fill, 1.0);
    let half = halved(panel, cell);
    let up = if half.is_some() { 1.0 } else { -5.0 };
    let text = printed(panel, cell);
    // A number is never cut: where it is too wide it is set smaller.
    let size = CELL_TEXT * (room / width(&text, CELL_TEXT)).min(1.0);
    scene.text((middle.0, middle.1 - up), &text, Type::new(size, shade.ink).middle());
    if let Some(half) = half {
        let size = HALF_TEXT * (room / width(&half, HALF_TEXT)).min(1.0);
        scene.text((middle.0, middle.1 + 13.0), &half, Type::new(size, shade.ink).middle());
    }
}

/// The range of a panel's values.
struct Reach {
    low: f64,
    high: f64,
}

impl Reach {
    /// The range of what is drawn.
    fn of(panel: &HeatPanel, rows: usize, columns: usize) -> Self {
        let drawn = panel.cells.iter().take(rows).flat_map(|row| row.iter().take(columns));
        let values = drawn.filter_map(|cell| cell.value.get());
        let usable = values.filter(|value| panel.scale == Scale::Linear || *value > 0.0);
        let (low, high) = usable.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        Self { low, high }
    }

    /// Where a value lies on the ramp, 1 being the light end.
    fn share(&self, value: f64, panel: &HeatPanel) -> f64 {
        if self.low >= self.high {
            return 0.75;
        }
        let share = match panel.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log if value > 0.0 => libm::log(value / self.low) / libm::log(self.high / self.low),
            Scale::Log => 0.0,
        };
        let share = share.clamp(0.0, 1.0);
        // The darkest tenth of the ramp is left out: black on paper is heavier than any value deserves.
        0.1 + 0.9 * if panel.better == Better::Low { 1.0 - share } else { share }
    }

    /// The key to the colours, worst at the left.
    fn bar(&self, scene: &mut Scene, panel: &HeatPanel, area: Area) {
        // One value has no range to explain.
        if self.low >= self.high {
            return;
        }
        let decimals = usize::from(panel.decimals.min(6));
        let (left, right) = if panel.better == Better::Low { (self.high, self.low) } else { (self.low, self.high) };
        let steps = 48_u32;
        for step in 0..steps {
            let share = (f64::from(step) + 0.5) / f64::from(steps);
            let wide = area.width() / f64::from(steps);
            // Each step runs under the next, so that no seam shows.
            let piece = Area::new(area.left + f64::from(step) * wide, area.top, wide + 0.6, area.height());
            scene.rect(Area { right: piece.right.min(area.right), ..piece }, &ramp(0.1 + 0.9 * share).fill, 1.0);
        }
        scene.outline(area, Pen::solid(EDGE, 0.5));
        let y = area.bottom + 15.0;
        let log = if panel.scale == Scale::Log { ", log colours" } else { "" };
        let better = if panel.better == Better::Neither { "" } else { " (better)" };
        scene.text((area.left, y), &format!("{}{log}", fixed(left, decimals)), Type::new(11.0, MUTED));
        scene.text((area.right, y), &format!("{}{better}", fixed(right, decimals)), Type::new(11.0, MUTED).end());
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn every_cell_prints_its_value_and_the_page_its_facts() {
        let heat = sample::heat();
        let svg = heat.svg();
        for panel in &heat.panels {
            for cell in panel.cells.iter().flatten().filter(|cell| cell.value.get().is_some()) {
                assert!(svg.contains(&format!(">{}</text>", printed(panel, *cell))), "{}: {cell:?}", panel.title);
            }
        }
        for words in
            ["slack, share of target", "window (over)", "200 runs of 200 rounds", "seed 42", "S02 typical", "60 s"]
        {
            assert!(svg.contains(words), "{words}");
        }
        let hatched = heat.panels.iter().flat_map(|panel| panel.cells.iter().flatten());
        let hatched = hatched.filter(|cell| cell.value.get().is_none()).count();
        assert!(hatched > 0);
        assert_eq!(svg.matches("url(#hatch)").count(), hatched);
        let halves = heat.panels.iter().flat_map(|panel| panel.cells.iter().flatten());
        let halves = halves.filter(|cell| cell.half.get().is_some()).count();
        // One more stands in the key.
        assert_eq!(svg.matches(">±").count(), halves + 1);
    }

    #[test]
    fn the_legal_interval_lies_between_the_rows_it_is_between() {
        let mut heat = Heat { slack: [0.1, 0.2, 0.4].map(Num::from).into(), ..Heat::default() };
        let area = Area::new(0.0, 0.0, 100.0, 30.0);
        let at = |heat: &Heat, slack| heat.height_of(slack, area, (10.0, 10.0));
        assert_eq!([0.1, 0.2, 0.3, 0.4].map(|slack| at(&heat, slack)), [25.0, 15.0, 10.0, 5.0].map(Some));
        assert_eq!([0.01, 0.9].map(|slack| at(&heat, slack)), [30.0, 0.0].map(Some));
        heat.slack.push(Num::MISSING);
        assert_eq!(at(&heat, 0.2), None);
    }

    #[test]
    fn the_line_of_memory_stands_behind_the_last_window_it_holds() {
        let line = |over: &[u64]| {
            let heat = Heat { over_ms: over.to_vec(), memory_ms: Some(300_000), ..Heat::default() };
            let mut scene = Scene::new(100.0, 100.0);
            heat.memory_line(&mut scene, Area::new(0.0, 0.0, 100.0, 50.0), (20.0, 10.0));
            scene.finish("", "")
        };
        assert!(line(&[60_000, 300_000, 900_000]).contains("x1=\"40\""));
        assert!(line(&[600_000]).contains("x1=\"0\""));
        assert!(!line(&[600_000, 60_000]).contains("<line"), "no order, no line");
    }

    #[test]
    fn better_is_lighter_at_either_end() {
        let panel = |better| HeatPanel { better, ..HeatPanel::default() };
        let reach = Reach { low: 1.0, high: 3.0 };
        assert!((reach.share(3.0, &panel(Better::High)) - 1.0).abs() < 1e-12);
        assert!((reach.share(1.0, &panel(Better::Low)) - 1.0).abs() < 1e-12);
        assert!(reach.share(2.0, &panel(Better::Low)) < 0.9);
    }

    #[test]
    fn hostile_data_is_drawn() {
        let odd = HeatCell { value: Num::from(-1.0), half: Num::from(f64::NAN), at_least: true };
        let panel =
            |scale, cells| HeatPanel { title: "<&\">".repeat(50), scale, decimals: 255, cells, ..HeatPanel::default() };
        let one = Heat {
            over_ms: vec![u64::MAX],
            slack: vec![Num::MISSING],
            juice: Num::from(f64::NAN),
            memory_ms: Some(0),
            legal: Some(Legal { low: Num::MISSING, high: Num::from(2.0) }),
            chosen: Some(HeatPlace { column: 9, row: usize::MAX }),
            panels: vec![panel(Scale::Log, vec![vec![odd; 3]; 3]), panel(Scale::Linear, vec![])],
            ..Heat::default()
        };
        for heat in [Heat::default(), one] {
            let svg = heat.svg();
            assert!(resvg::usvg::Tree::from_str(&svg, &resvg::usvg::Options::default()).is_ok());
            assert!(!svg.contains("NaN") && !svg.contains("inf"));
        }
    }
}
