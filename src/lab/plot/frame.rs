//! What all pictures share: the head with its facts, the foot, and the frame of a chart with its two axes.

use super::Caption;
use super::colour::{EDGE, GRID, INK, MUTED};
use super::scale::Axis;
use super::scene::{Anchor, Area, Pen, Scene, Type};
use super::text::{grouped, width, wrap};
use crate::engine::counted;

/// White space around a page.
pub(super) const MARGIN: f64 = 32.0;
/// Size of the numbers at an axis.
pub(super) const TICK: f64 = 12.0;
/// Size of the name of an axis, and of text that explains.
pub(super) const LABEL: f64 = 13.0;
/// Size of the title of a panel.
pub(super) const PANEL: f64 = 15.0;

const TITLE: f64 = 22.0;
const FACTS: f64 = 13.5;
const FOOT: f64 = 11.5;

/// The lines above and below a picture, broken to its width, so that its height is known before it is drawn.
pub(super) struct Frame {
    title: Vec<String>,
    facts: Vec<String>,
    note: Vec<String>,
    command: Vec<String>,
    all: String,
    plain: String,
}

impl Frame {
    /// Breaks a caption, and the facts of one kind of picture, to a page `wide` pixels across.
    pub(super) fn new(caption: &Caption, more: &[String], wide: f64) -> Self {
        let room = wide - 2.0 * MARGIN;
        let all = facts(caption, more);
        let plain = if caption.title.trim().is_empty() { "untitled".to_owned() } else { caption.title.clone() };
        Self {
            title: wrap(&plain, TITLE * 1.03, room, 2),
            facts: wrap(&all, FACTS, room, 3),
            note: wrap(&caption.note, FOOT, room, 4),
            command: wrap(&caption.command, FOOT, room, 2),
            all,
            plain,
        }
    }

    /// The same for a picture of no runs: its facts are all that it says of itself.
    pub(super) fn plain(title: &str, facts: &[String], note: &str, wide: f64) -> Self {
        let room = wide - 2.0 * MARGIN;
        let all = facts.iter().filter(|fact| !fact.is_empty()).map(String::as_str).collect::<Vec<_>>().join("  ·  ");
        let plain = if title.trim().is_empty() { "untitled".to_owned() } else { title.to_owned() };
        Self {
            title: wrap(&plain, TITLE * 1.03, room, 2),
            facts: wrap(&all, FACTS, room, 3),
            note: wrap(note, FOOT, room, 4),
            command: Vec::new(),
            all,
            plain,
        }
    }

    /// Where the picture proper may begin.
    pub(super) fn top(&self) -> f64 {
        let (title, facts) = (super::num::len(self.title.len()), super::num::len(self.facts.len()));
        MARGIN - 4.0 + title * TITLE * 1.25 + facts * FACTS * 1.45 + 18.0
    }

    /// What the foot takes, the margin below it included.
    pub(super) fn foot(&self) -> f64 {
        let lines = super::num::len(self.note.len() + self.command.len());
        if lines > 0.0 { 14.0 + lines * FOOT * 1.5 + MARGIN - 8.0 } else { MARGIN - 8.0 }
    }

    /// Draws head and foot; the picture proper ends at `bottom`.
    pub(super) fn draw(&self, scene: &mut Scene, bottom: f64) {
        let mut y = MARGIN - 4.0;
        for line in &self.title {
            y += TITLE * 1.25;
            scene.text((MARGIN, y - 7.0), line, Type::new(TITLE, INK).heavy());
        }
        for line in &self.facts {
            y += FACTS * 1.45;
            scene.text((MARGIN, y - 3.0), line, Type::new(FACTS, MUTED));
        }
        let mut y = bottom + 14.0;
        for line in self.note.iter().chain(&self.command) {
            y += FOOT * 1.5;
            scene.text((MARGIN, y - 5.0), line, Type::new(FOOT, MUTED));
        }
    }

    /// Closes the page.
    pub(super) fn finish(&self, scene: Scene) -> String {
        scene.finish(&self.plain, &self.all)
    }
}

/// The facts of a picture in one line.
fn facts(caption: &Caption, more: &[String]) -> String {
    let (runs, rounds) = (counted(grouped(caption.runs), "run"), counted(grouped(caption.rounds), "round"));
    let named = |what: &str, name: &str| {
        let name = name.trim();
        if name.is_empty() { String::new() } else { format!("{what} {name}") }
    };
    let sample = if caption.runs == 1 { format!("{runs}, {rounds}") } else { format!("{runs} of {rounds}") };
    let parts = [named("scenario", &caption.scenario), named("law", &caption.law)];
    let rest = [sample, format!("seed {}", caption.seed)];
    let all = parts.iter().chain(more).chain(&rest).filter(|part| !part.is_empty());
    all.map(String::as_str).collect::<Vec<_>>().join("  ·  ")
}

/// An axis with its name, as drawn by [`grid`].
pub(super) struct Side<'a> {
    pub(super) axis: &'a Axis,
    /// Name and unit.
    pub(super) name: &'a str,
    /// About how many ticks.
    pub(super) ticks: u32,
    /// What to print at a value; the axis's own words where `None`.
    pub(super) say: Option<fn(f64) -> String>,
    /// Whether to print values and name at all, or only to draw the lines.
    pub(super) told: bool,
}

impl<'a> Side<'a> {
    pub(super) const fn new(axis: &'a Axis, name: &'a str, ticks: u32) -> Self {
        Self { axis, name, ticks, say: None, told: true }
    }

    fn marks(&self) -> Vec<(f64, String)> {
        let marks = self.axis.ticks(self.ticks);
        match self.say {
            Some(say) => marks.into_iter().map(|(value, _)| (value, say(value))).collect(),
            None => marks,
        }
    }
}

/// Draws the lines, numbers and names of a chart's two axes: `x` along the bottom, `y` along the left.
pub(super) fn grid(scene: &mut Scene, area: Area, x: &Side<'_>, y: &Side<'_>) {
    let mut widest: f64 = 0.0;
    for (value, label) in y.marks() {
        let at = y.axis.at(value);
        scene.line((area.left, at), (area.right, at), Pen::solid(GRID, 1.0));
        if y.told {
            scene.text((area.left - 8.0, at + TICK * 0.36), &label, Type::new(TICK, MUTED).end());
            widest = widest.max(width(&label, TICK));
        }
    }
    if y.told && !y.name.is_empty() {
        upright(scene, area, area.left - widest - 22.0, y.name);
    }
    scene.line((area.left, area.bottom), (area.right, area.bottom), Pen::solid(EDGE, 1.0));
    if x.told {
        rounds(scene, area, x);
    }
}

/// Ticks and numbers along the bottom of `area`, and the axis's name under them.
pub(super) fn rounds(scene: &mut Scene, area: Area, x: &Side<'_>) {
    for (value, label) in x.marks() {
        let at = x.axis.at(value);
        scene.line((at, area.bottom), (at, area.bottom + 5.0), Pen::solid(EDGE, 1.0));
        scene.text((at, area.bottom + 19.0), &label, Type::new(TICK, MUTED).middle());
    }
    scene.text(((area.left + area.right) / 2.0, area.bottom + 40.0), x.name, Type::new(LABEL, INK).middle());
}

/// The name of a vertical axis, read upwards, centred on `area`.
pub(super) fn upright(scene: &mut Scene, area: Area, x: f64, name: &str) {
    let name = super::text::fit(name, LABEL, area.height());
    scene.text((x, (area.top + area.bottom) / 2.0), &name, Type::new(LABEL, INK).middle().upright());
}

/// Where texts `gap` apart go that would each like to be at `wanted`, in that order, all within `top..=bottom` where
/// there is room for them.
pub(super) fn spread(wanted: &[f64], gap: f64, top: f64, bottom: f64) -> Vec<f64> {
    let mut places = Vec::with_capacity(wanted.len());
    let mut least = top;
    for want in wanted {
        let place = want.max(least);
        places.push(place);
        least = place + gap;
    }
    let mut most = bottom;
    for place in places.iter_mut().rev() {
        *place = place.min(most);
        most = *place - gap;
    }
    places
}

/// An entry of a key: its words, and what draws its sample with the left end's middle at x and y.
pub(super) type Entry<'a> = (&'a str, &'a dyn Fn(&mut Scene, f64, f64));

/// A key: samples up to 30 pixels wide, each with its words, from left to right and on the next line where there is no
/// room. Returns the y below the last line.
pub(super) fn key(scene: &mut Scene, from: (f64, f64), right: f64, entries: &[Entry<'_>]) -> f64 {
    let (mut x, mut y) = from;
    for (words, draw) in entries {
        let wide = 34.0 + width(words, TICK) + 26.0;
        if x > from.0 && x + wide - 26.0 > right {
            x = from.0;
            y += 20.0;
        }
        draw(scene, x, y);
        scene.text((x + 34.0, y + TICK * 0.36), words, Type { anchor: Anchor::Start, ..Type::new(TICK, MUTED) });
        x += wide;
    }
    y + 20.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_name_sample_seed_scenario_and_law() {
        let caption = Caption {
            scenario: "S02 typical".to_owned(),
            law: "reference".to_owned(),
            runs: 1000,
            rounds: 12_000,
            seed: 7,
            ..Caption::default()
        };
        let told = facts(&caption, &["target 2048".to_owned()]);
        assert_eq!(
            told,
            "scenario S02 typical  ·  law reference  ·  target 2048  ·  1000 runs of 12 000 rounds  ·  seed 7"
        );
        assert_eq!(facts(&Caption { runs: 1, rounds: 1, ..Caption::default() }, &[]), "1 run, 1 round  ·  seed 0");
    }

    #[test]
    fn spread_texts_keep_order_gap_and_bounds() {
        let places = spread(&[0.0, 1.0, 2.0, 95.0, 99.0], 10.0, 0.0, 100.0);
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= 10.0 - 1e-9), "{places:?}");
        assert!(places.iter().all(|place| (0.0..=100.0).contains(place)), "{places:?}");
        assert!(spread(&[], 10.0, 0.0, 1.0).is_empty());
    }
}
