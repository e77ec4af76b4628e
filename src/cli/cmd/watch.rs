//! `watch`: a run on the whole screen, while it goes on or after: the staircase of efforts, the reading against its band, the budget.
//!
//! It only looks: what it shows is read from the run's journal as it grows. Marks and words carry everything that colour
//! carries.

use std::fs::File;
use std::io::{self, IsTerminal as _, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use ratatui::Frame;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyModifiers};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::Marker;
use ratatui::text::Line;
use ratatui::widgets::{Axis, Block, Chart, Dataset, Gauge, GraphType, Paragraph, Row, Table};

use super::runs::{Known, Place, Stands, read};
use crate::cli::error::{Failure, Outcome};
use crate::cli::exit::Exit;
use crate::engine::{Millis, RoundExit, Timestamp, Tokens, counted};
use crate::lab::fixed::ufloat;
use crate::run::Summary;
use crate::run::figures::{millions, span, usd};
use crate::run::record::JOURNAL;
use crate::run::summary::Round;
use crate::trace;

/// How often the journal is looked at.
const LOOK: Duration = Duration::from_millis(500);
/// Rounds that a chart shows at most: the last ones.
const SHOWN: usize = 120;

/// `watch`.
#[derive(Debug, Args)]
pub struct Watch {
    /// The run [default: the last one]
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// Which project.
    #[command(flatten)]
    pub place: Place,
}

/// Shows a run until `q` is pressed.
///
/// # Errors
/// A run that cannot be read, or a screen that is none.
pub fn run(args: &Watch) -> Outcome {
    let folder = args.place.folder();
    let known = read(&folder, args.run.as_deref())?;
    if !io::stdout().is_terminal() {
        return Err(Failure::said("watch needs a terminal").hint("flyball status prints the same, once"));
    }
    let mut tail = Tail::new(folder.run(&known.id).join(JOURNAL));
    let mut terminal = ratatui::try_init().map_err(|error| Failure::usage(error).while_("cannot take the screen"))?;
    let shown = (|| -> io::Result<()> {
        let mut known = known;
        loop {
            tail.take(&mut known.summary)?;
            known.stands = stands(&known, folder.owner().is_some());
            terminal.draw(|frame| draw(frame, &known))?;
            if event::poll(LOOK)?
                && let Event::Key(key) = event::read()?
                && (matches!(key.code, KeyCode::Char('q') | KeyCode::Esc)
                    || (key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL)))
            {
                return Ok(());
            }
        }
    })();
    ratatui::restore();
    shown.map_err(|error| Failure::usage(error).while_("cannot show the run"))?;
    Ok(Exit::Success)
}

fn stands(known: &Known, locked: bool) -> Stands {
    match known.summary.stopped {
        Some(control) => Stands::Stopped(control),
        None if locked => Stands::Runs,
        None => Stands::Lost,
    }
}

/// A journal that grows: whole lines of it, once each.
#[derive(Debug)]
struct Tail {
    path: PathBuf,
    read: u64,
    first: bool,
}

impl Tail {
    const fn new(path: PathBuf) -> Self {
        Self { path, read: 0, first: true }
    }

    /// Takes in what is new. The first time everything is: the summary begins afresh.
    fn take(&mut self, summary: &mut Summary) -> io::Result<()> {
        let bytes = new_bytes(&self.path, self.read)?;
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        self.read += u64::try_from(whole).unwrap_or(u64::MAX);
        let mut lines = bytes[..whole].split(|&byte| byte == b'\n');
        if std::mem::take(&mut self.first) {
            lines.next();
            *summary = Summary::new(summary.setup.clone());
        }
        for line in lines.filter(|line| !line.is_empty()) {
            // kinds that are not known here are passed over, as by every reader
            if let Ok(line) = serde_json::from_slice::<trace::Line>(line) {
                summary.take(&line);
            }
        }
        Ok(())
    }
}

fn new_bytes(path: &Path, from: u64) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The whole screen.
fn draw(frame: &mut Frame<'_>, known: &Known) {
    let rows =
        [Constraint::Length(4), Constraint::Min(6), Constraint::Min(6), Constraint::Length(3), Constraint::Length(8)];
    let [head, stairs, readings, budget, table] = Layout::vertical(rows).areas(frame.area());
    frame.render_widget(heading(known), head);
    draw_stairs(frame, stairs, known);
    draw_readings(frame, readings, known);
    draw_budget(frame, budget, known);
    draw_rounds(frame, table, known);
}

fn heading(known: &Known) -> Paragraph<'_> {
    let summary = &known.summary;
    let first = format!("run {}  {}  {}", known.id, known.agent, known.stands.words());
    let cost = if summary.cost.count() == 0 { String::new() } else { format!(", {}", usd(summary.cost)) };
    let second = format!(
        "{}, {}{cost}, {}   q leaves, the run goes on",
        counted(summary.begun, "round"),
        counted(millions(summary.output), "output token"),
        span(summary.at.since(Timestamp::EPOCH))
    );
    Paragraph::new(vec![Line::styled(first, Style::new().add_modifier(Modifier::BOLD)), Line::from(second)])
        .block(Block::bordered().title("flyball"))
}

fn last_rounds(summary: &Summary) -> &[Round] {
    &summary.rounds[summary.rounds.len().saturating_sub(SHOWN)..]
}

/// The rounds' numbers as an axis.
fn across(rounds: &[Round]) -> Axis<'static> {
    let (from, to) = rounds.first().zip(rounds.last()).map_or((1, 2), |(first, last)| (first.number, last.number + 1));
    Axis::default().title("round").bounds([ufloat(from), ufloat(to)]).labels([from.to_string(), to.to_string()])
}

/// The effort of each round, hardest at the top.
fn draw_stairs(frame: &mut Frame<'_>, area: Rect, known: &Known) {
    let (summary, ladder) = (&known.summary, &known.summary.setup.ladder);
    let rounds = last_rounds(summary);
    let height = |effort: &str| ladder.iter().rev().position(|word| word == effort).map_or(0.0, |at| ufloat(at as u64));
    let points: Vec<(f64, f64)> = rounds
        .iter()
        .flat_map(|round| {
            [(ufloat(round.number), height(&round.effort)), (ufloat(round.number + 1), height(&round.effort))]
        })
        .collect();
    let stairs = Dataset::default().name("effort").marker(Marker::Braille).graph_type(GraphType::Line).data(&points);
    let top = ufloat(ladder.len().saturating_sub(1).max(1) as u64);
    let labels: Vec<String> = ladder.iter().rev().cloned().collect();
    let chart = Chart::new(vec![stairs.style(Style::new().fg(Color::Cyan))])
        .block(Block::bordered().title("effort of each round"))
        .x_axis(across(rounds))
        .y_axis(Axis::default().bounds([0.0, top]).labels(labels));
    frame.render_widget(chart, area);
}

/// What was read after each round, and the band that it is held to.
fn draw_readings(frame: &mut Frame<'_>, area: Rect, known: &Known) {
    let (summary, setup) = (&known.summary, &known.summary.setup);
    let rounds = last_rounds(summary);
    let target = ufloat(setup.juice_millionths) / 1e6;
    let slack = ufloat(setup.slack_ppm.into()) / 1e6;
    let reading = |round: &Round| {
        let mean = round.reading.filter(|mean| mean.turns > 0)?;
        Some((ufloat(round.number), ufloat(mean.total_tokens) / ufloat(mean.turns)))
    };
    let points: Vec<(f64, f64)> = rounds.iter().filter_map(reading).collect();
    let ends = rounds
        .first()
        .zip(rounds.last())
        .map_or([1.0, 2.0], |(first, last)| [ufloat(first.number), ufloat(last.number + 1)]);
    let level = |share: f64| ends.map(|x| (x, target * share)).to_vec();
    let (low, high) = (level(1.0 - slack), level(1.0 + slack));
    let most = points.iter().map(|(_, y)| *y).fold(target * (1.0 + slack), f64::max) * 1.1;
    let line = |name: &'static str, data, colour| {
        Dataset::default()
            .name(name)
            .marker(Marker::Dot)
            .graph_type(GraphType::Line)
            .style(Style::new().fg(colour))
            .data(data)
    };
    let read = Dataset::default().name("reading").marker(Marker::Block).graph_type(GraphType::Scatter).data(&points);
    let chart = Chart::new(vec![line("band", &low, Color::Green), line("band", &high, Color::Green), read])
        .block(Block::bordered().title(format!(
            "output tokens per turn over {}: target {target:.0}, band {:.0} to {:.0}",
            span(Millis::new(setup.over_ms)),
            target * (1.0 - slack),
            target * (1.0 + slack)
        )))
        .x_axis(across(rounds))
        .y_axis(Axis::default().bounds([0.0, most]).labels([
            "0".to_owned(),
            format!("{:.0}", most / 2.0),
            format!("{most:.0}"),
        ]));
    frame.render_widget(chart, area);
}

fn draw_budget(frame: &mut Frame<'_>, area: Rect, known: &Known) {
    let summary = &known.summary;
    let block = Block::bordered().title("budget");
    let Some(budget) = summary.setup.budget_tokens.filter(|&budget| budget > 0) else {
        return frame.render_widget(Paragraph::new("no limit on output tokens").block(block), area);
    };
    let share = (ufloat(summary.output.count()) / ufloat(budget)).clamp(0.0, 1.0);
    let label = format!(
        "{} of {} output tokens, {:.0} %",
        millions(summary.output),
        millions(Tokens::new(budget)),
        share * 100.0
    );
    frame.render_widget(
        Gauge::default().block(block).ratio(share).label(label).gauge_style(Style::new().fg(Color::Blue)),
        area,
    );
}

fn draw_rounds(frame: &mut Frame<'_>, area: Rect, known: &Known) {
    let summary = &known.summary;
    let room = usize::from(area.height.saturating_sub(3));
    let row = |round: &Round| {
        let reading = round
            .reading
            .filter(|mean| mean.turns > 0)
            .map_or_else(|| "-".to_owned(), |mean| (mean.total_tokens / mean.turns).to_string());
        Row::new([
            round.number.to_string(),
            round.effort.clone(),
            round.turns.to_string(),
            reading,
            round.next.clone().unwrap_or_else(|| "-".to_owned()),
            round.why.clone().unwrap_or_else(|| "-".to_owned()),
            round.output.count().to_string(),
            span(summary.lasted(round)),
            round.exit.map_or("under way", RoundExit::word).to_owned(),
        ])
    };
    let widths = [6, 10, 6, 8, 10, 14, 9, 9, 10].map(Constraint::Length);
    let table = Table::new(summary.rounds.iter().rev().take(room).map(row), widths)
        .header(Row::new(["round", "effort", "turns", "reading", "next", "why", "output", "lasted", "end"]))
        .block(Block::bordered().title("last rounds, the newest first"));
    frame.render_widget(table, area);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Line, MeanOf, Record, Setup, Word};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    fn known() -> Known {
        let setup = Setup {
            ladder: ["high", "low"].map(str::to_owned).to_vec(),
            configured: "low".to_owned(),
            law: "reference".to_owned(),
            juice_millionths: 500_000_000,
            over_ms: 300_000,
            slack_ppm: 150_000,
            rest_ms: 5_000,
            budget_tokens: Some(4_000),
            rounds: None,
            set: std::collections::BTreeMap::new(),
        };
        let mut summary = Summary::new(setup);
        let turn = crate::engine::TurnRecord::new(1, Timestamp::from_millis(9_000), Tokens::new(1_000), "test");
        let decided = Record::Decided {
            round: 1,
            from: "low".to_owned(),
            to: "high".to_owned(),
            why: "above-band".to_owned(),
            mean: Some(MeanOf { total_tokens: 1_000, turns: 1 }),
            side: None,
            cutoff_ms: 0,
            pinned: false,
            belief: None,
        };
        for record in [
            Record::Spawn { round: 1, effort: "low".to_owned() },
            Record::Turned(trace::Turn::of(&turn)),
            decided,
            Record::Ended { round: 1, exit: Word(RoundExit::Done) },
        ] {
            summary.take(&Line { at_ms: 9_000, record, prev: None });
        }
        Known { id: "r1".to_owned(), summary, stands: Stands::Runs, agent: "sim".to_owned() }
    }

    #[test]
    fn the_screen_says_all_without_colour() {
        let mut terminal = Terminal::new(TestBackend::new(110, 40)).unwrap();
        terminal.draw(|frame| draw(frame, &known())).unwrap();
        let text: String = terminal.backend().buffer().content().iter().map(ratatui::buffer::Cell::symbol).collect();
        for part in [
            "run r1",
            "effort of each round",
            "target 500, band 425 to 575",
            "1000 of 4000 output tokens, 25 %",
            "above-band",
            "q leaves",
        ] {
            assert!(text.contains(part), "{part:?} is not on the screen");
        }
    }

    #[test]
    fn a_small_screen_and_a_run_of_nothing_are_drawn() {
        let mut known = known();
        for size in [(20, 8), (1, 1), (300, 100)] {
            let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
            terminal.draw(|frame| draw(frame, &known)).unwrap();
        }
        known.summary = Summary::new(known.summary.setup.clone());
        let mut terminal = Terminal::new(TestBackend::new(80, 30)).unwrap();
        terminal.draw(|frame| draw(frame, &known)).unwrap();
    }

    #[test]
    fn a_journal_is_taken_line_by_line_and_a_half_line_waits() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let note = |text: &str| {
            serde_json::to_string(&Line { at_ms: 1, record: Record::Note { text: text.to_owned() }, prev: None })
                .unwrap()
        };
        std::fs::write(&path, format!("header\n{}\n{}", note("one"), &note("two")[..9])).unwrap();
        let (mut tail, mut summary) = (Tail::new(path.clone()), known().summary);
        tail.take(&mut summary).unwrap();
        assert_eq!(summary.notes, ["one"]);
        std::fs::write(&path, format!("header\n{}\n{}\n", note("one"), note("two"))).unwrap();
        tail.take(&mut summary).unwrap();
        assert_eq!(summary.notes, ["one", "two"]);
    }
}
