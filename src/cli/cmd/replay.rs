//! `flyball replay`: recorded turns in, what laws would have read and decided out.

use std::collections::BTreeSet;
use std::io::{BufRead as _, Read as _};
use std::path::Path;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde_json::{Value, json};

use super::common;
use crate::agents::join;
use crate::cli::args::{Format, Replay as Args};
use crate::cli::error::{Failure, Outcome};
use crate::cli::exit::Exit;
use crate::cli::input::{self, Role};
use crate::cli::logs::{self, Found};
use crate::cli::output;
use crate::engine::{Ladder, LawKind, Millis, Ratio, Target, Tokens, TurnRecord, Verdict, counted};
use crate::lab::axis::{self, AxisError, JUICE, OVER, SLACK};
use crate::lab::fit::ladder;
use crate::lab::fixed::ufloat;
use crate::lab::recorded::{choose_model, effort_of, model_of};
use crate::lab::replay::{NOTE, Reader, ReplayError, Row, Tape, replay};
use crate::lab::report::decimal;
use crate::lab::result::VERSION;
use crate::lab::scenario::{GovernorSettings, file};
use crate::lab::settings::Settings;
use crate::trace::{self, FORMAT, Setup};

/// The longest first line that is looked at to tell a trace from a log.
const MOST_HEADER: u64 = 1 << 20;

/// A tape, what it was read with, and what came of it.
struct Played {
    tape: Tape,
    reader: Reader,
    rows: Vec<Row>,
}

impl Played {
    /// Ends of rounds after which the laws ask for different efforts, and all ends.
    fn differ(&self) -> (usize, usize) {
        let ends = self.rows.iter().filter(|row| row.turn.is_none());
        ends.fold((0, 0), |(differ, all), row| (differ + usize::from(row.differs()), all + 1))
    }

    /// Ends of rounds after which the first law asks for what the run decided on, and all ends with a recorded decision.
    fn agree(&self) -> (usize, usize) {
        let ends = self.rows.iter().filter(|row| row.turn.is_none());
        let told = ends.filter_map(|row| Some((row, self.tape.rounds.get(row.round)?.decided.as_deref()?)));
        told.fold((0, 0), |(agree, all), (row, decided)| {
            let same =
                row.verdicts.first().is_some_and(|verdict| self.tape.ladder.effort(verdict.to).word() == decided);
            (agree + usize::from(same), all + 1)
        })
    }
}

/// Replays.
///
/// # Errors
/// Files that are neither logs nor traces, settings or flags at fault, each by name.
pub fn run(args: &Args) -> Outcome {
    let given = Given::read(args)?;
    let (traces, mut others): (Vec<Found>, Vec<Found>) =
        logs::find(&args.files)?.into_iter().partition(|file| is_trace(&file.path));
    let mut tapes = Vec::new();
    for file in &traces {
        tapes.push(tape_of_trace(&file.path)?);
    }
    // the folder of a run holds its pictures' data too
    others.retain(|file| traces.is_empty() || !file.searched || file.path.extension().is_none_or(|end| end != "json"));
    if !others.is_empty() || traces.is_empty() {
        tapes.push(tape_of_logs(&others, args)?);
    }
    let mut played = Vec::new();
    for tape in tapes {
        let reader = given.reader(&tape, args.every_turn)?;
        let rows = replay(&tape, &reader).map_err(|error| Failure::usage(error).while_(cannot(&tape.name)))?;
        tape.notes.iter().for_each(|note| output::warn(&format!("{}: {note}", tape.name)));
        played.push(Played { tape, reader, rows });
    }
    match args.format {
        Format::Table => output::print(played.iter().map(table).collect::<Vec<_>>().join("\n").as_bytes())?,
        Format::Json => output::print(format!("{}\n", object(&played)).as_bytes())?,
        Format::Csv => output::print(csv(&played).as_bytes())?,
    }
    if args.format == Format::Csv {
        output::hint(NOTE);
    }
    Ok(Exit::Success)
}

fn cannot(name: &str) -> String {
    format!("cannot replay {name}")
}

/// Whether the file's first line says that it is a trace.
fn is_trace(path: &Path) -> bool {
    // what is read from a pipe is gone: there the readers of logs find out what it is
    let Some(file) = path.is_file().then(|| file::open(path).ok()).flatten() else { return false };
    let mut line = Vec::new();
    let read = file::unmarked_lines(file.take(MOST_HEADER)).and_then(|mut lines| lines.read_until(b'\n', &mut line));
    let said = |value: Value| value.get("format").and_then(Value::as_str) == Some(FORMAT);
    read.is_ok() && serde_json::from_slice::<Value>(&line).is_ok_and(said)
}

fn tape_of_trace(path: &Path) -> Outcome<Tape> {
    let name = path.display().to_string();
    let file = input::open(Role { name: "trace", hint: "name the trace of a run" }, path)?;
    let lines = file::unmarked_lines(file).map_err(|error| Failure::usage(error).while_(cannot(&name)))?;
    let trace = trace::read(lines).map_err(|error| Failure::usage(error).while_(cannot(&name)))?;
    if trace.torn {
        output::warn(&format!("{name}: its last line is cut off, and was left out"));
    }
    Tape::of_trace(&name, &trace).map_err(|error| Failure::usage(error).while_(cannot(&name)))
}

fn tape_of_logs(files: &[Found], args: &Args) -> Outcome<Tape> {
    let joined = join(&logs::load_found(files)?);
    logs::warn_of(&joined.health);
    let model = choose_model(&joined.turns, args.model.as_deref(), "")
        .map_err(|error| Failure::usage(error).while_(cannot("these logs")).hint("name one of them with --model"))?;
    let own: Vec<TurnRecord> = joined.turns.into_iter().filter(|record| model_of(record) == model).collect();
    let ladder = ladder_of(&model, &own, &args.effort)?;
    Tape::of_records(&model, &own, ladder).map_err(|error| {
        let hint = match &error {
            ReplayError::Effort { .. } => Some("name the ladder, hardest first, with --effort high,medium,low"),
            ReplayError::NoEffort => Some("Claude Code writes the effort since 2.1.215, Codex in each turn_context"),
            ReplayError::Ladder(_) | ReplayError::Band(_) | ReplayError::NoRound => None,
        };
        let failure = Failure::usage(error).while_(cannot(&model));
        match hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    })
}

/// The ladder that is named; else the model's own; else the known words that were seen.
fn ladder_of(model: &str, records: &[TurnRecord], named: &[String]) -> Outcome<Ladder> {
    let seen = |word: &&&str| records.iter().any(|record| effort_of(record) == Some(**word));
    let used = |word: &String| records.iter().any(|record| effort_of(record) == Some(word.as_str()));
    if !named.is_empty() && !named.iter().any(used) {
        let seen: BTreeSet<&str> = records.iter().filter_map(effort_of).collect();
        let seen: Vec<&str> = seen.into_iter().collect();
        return Err(Failure::said(format!("--effort {}: no turn of {model} has one of these", named.join(", ")))
            .hint(format!("its turns have {}", seen.join(", "))));
    }
    backwards(named)?;
    let words: Vec<&str> = match (named, ladder::words(model)) {
        ([], []) => ladder::CHAIN.iter().rev().filter(seen).copied().collect(),
        ([], known) => known.to_vec(),
        (named, _) => named.iter().map(String::as_str).collect(),
    };
    Ladder::new(words).map_err(|error| {
        Failure::usage(error)
            .while_(format!("there is no ladder for {model}"))
            .hint("name its efforts, hardest first, with --effort high,medium,low")
    })
}

/// Refuses a ladder of known words that stands the wrong way round.
fn backwards(named: &[String]) -> Outcome<()> {
    if ladder::is_backwards(named) {
        let turned: Vec<&str> = named.iter().rev().map(String::as_str).collect();
        return Err(Failure::said(format!("--effort {}: a ladder stands hardest first", named.join(",")))
            .hint(format!("--effort {}", turned.join(","))));
    }
    Ok(())
}

/// What flags and the settings file say.
struct Given {
    config: Option<GovernorSettings>,
    laws: Option<Vec<LawKind>>,
    juice: Option<Target>,
    over: Option<Millis>,
    slack: Option<Ratio>,
}

impl Given {
    fn read(args: &Args) -> Outcome<Self> {
        let laws = (!args.law.is_empty()).then(|| axis::laws("--law", &args.law.join(","))).transpose();
        let laws = laws.map_err(Failure::usage)?;
        let again = |laws: &Vec<LawKind>| {
            laws.iter().enumerate().find(|(at, law)| laws[..*at].contains(law)).map(|(_, law)| *law)
        };
        if let Some(law) = laws.as_ref().and_then(again) {
            return Err(Failure::said(format!("--law: {law} stands twice, and a law never differs from itself")));
        }
        Ok(Self {
            config: args.config.as_deref().map(settings).transpose()?,
            laws,
            juice: one("--juice", args.juice.as_ref(), |text| JUICE.value(text))?,
            over: one("--over", args.over.as_ref(), |text| OVER.value(text))?,
            slack: one("--slack", args.slack.as_ref(), |text| SLACK.value(text))?,
        })
    }

    /// Flags over the settings file, over the run's own settings, over the original's.
    fn reader(&self, tape: &Tape, every_turn: bool) -> Outcome<Reader> {
        let usual = Settings::original().governor;
        let base = match (self.config, &tape.setup) {
            (Some(config), _) => config,
            (None, Some(setup)) => {
                own(setup, usual, self.laws.is_some()).map_err(|failure| failure.while_(cannot(&tape.name)))?
            }
            (None, None) => usual,
        };
        Ok(Reader {
            laws: self.laws.clone().unwrap_or_else(|| vec![base.law]),
            juice: self.juice.unwrap_or(base.juice),
            over: self.over.unwrap_or(base.over),
            slack: self.slack.unwrap_or(base.slack),
            budget: base.budget,
            tuning: base.tuning,
            every_turn,
        })
    }
}

fn one<T>(flag: &str, given: Option<&String>, read: impl Fn(&str) -> Result<T, String>) -> Outcome<Option<T>> {
    let wrong = |text: &String, why| AxisError { origin: flag.to_owned(), item: text.clone(), why };
    given.map(|text| read(text).map_err(|why| Failure::usage(wrong(text, why)))).transpose()
}

fn settings(path: &Path) -> Outcome<GovernorSettings> {
    let text = input::text(input::SETTINGS, path, input::SHORT)?;
    let settings = Settings::load(&text, &path.display().to_string());
    settings.map(|settings| settings.governor).map_err(|error| input::faulty(input::SETTINGS, path, error))
}

/// The settings that a run was made with; its law need not be known where another is asked for.
fn own(setup: &Setup, usual: GovernorSettings, other_law: bool) -> Outcome<GovernorSettings> {
    let law = match axis::law(&setup.law) {
        Ok(law) => law,
        Err(_) if other_law => usual.law,
        Err(why) => return Err(Failure::said(why).hint("name a law that this flyball has with --law")),
    };
    Ok(GovernorSettings {
        law,
        juice: Target::from_micros(setup.juice_millionths),
        over: Millis::new(setup.over_ms),
        slack: Ratio::from_ppm(setup.slack_ppm),
        rest: Millis::new(setup.rest_ms),
        budget: setup.budget_tokens.map(Tokens::new),
        tuning: setup.tuning(),
    })
}

fn told(reader: &Reader) -> String {
    let short = |micros: i64| decimal(micros).trim_end_matches('0').trim_end_matches('.').to_owned();
    format!(
        "juice {}, over {} s, slack {}",
        short(i64::try_from(reader.juice.micros()).unwrap_or(i64::MAX)),
        ufloat(reader.over.count()) / 1000.0,
        short(reader.slack.ppm().into())
    )
}

fn table(played: &Played) -> String {
    let Played { tape, reader, rows } = played;
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    let mut head: Vec<String> = ["round", "session", "effort", "turns", "tokens"].map(str::to_owned).into();
    for law in &reader.laws {
        head.extend([format!("{law} reads"), "band".to_owned(), "then".to_owned(), "why".to_owned()]);
    }
    head.push(String::new());
    table.set_header(head);
    for row in rows {
        table.add_row(cells(tape, row));
    }
    for column in [3, 4].into_iter().chain((0..reader.laws.len()).map(|law| 5 + 4 * law)) {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let lines = common::lines(&table);
    format!(
        "{}: {}; {}\n\n{lines}\n{}{NOTE}\n",
        tape.name,
        counted(tape.rounds.len(), "round"),
        told(reader),
        summary(played)
    )
}

fn summary(played: &Played) -> String {
    let mut text = String::new();
    if played.reader.laws.len() > 1 {
        let names: Vec<&str> = played.reader.laws.iter().map(|law| law.name()).collect();
        let (differ, all) = played.differ();
        text.push_str(&format!(
            "{} ask for different efforts after {differ} of {} (*)\n",
            names.join(" and "),
            counted(all, "round")
        ));
    }
    let (agree, all) = played.agree();
    if let Some(law) = played.reader.laws.first().filter(|_| all > 0) {
        text.push_str(&format!("{law} asks for what the run decided on after {agree} of {}\n", counted(all, "round")));
    }
    text
}

fn cells(tape: &Tape, row: &Row) -> Vec<String> {
    let Some(round) = tape.rounds.get(row.round) else { return Vec::new() };
    let number = row.turn.map_or_else(|| round.number.to_string(), |turn| format!("{}.{turn}", round.number));
    let session = round.session.as_deref().map_or("-", |session| session.get(..8).unwrap_or(session)).to_owned();
    let whole = |text: String| if row.turn.is_none() { text } else { String::new() };
    let mut cells = vec![
        number,
        session,
        tape.ladder.effort(round.rung).word().to_owned(),
        whole(round.turns().to_string()),
        whole(round.output().count().to_string()),
    ];
    for verdict in &row.verdicts {
        let evidence = verdict.decision.evidence;
        cells.extend([
            common::whole(evidence.mean),
            evidence.side.map_or("-", common::side).to_owned(),
            common::then(&tape.ladder, verdict),
            verdict.decision.why.word().to_owned(),
        ]);
    }
    cells.push(if row.differs() { "*" } else { "" }.to_owned());
    cells
}

fn object(played: &[Played]) -> Value {
    json!({ "version": VERSION, "note": NOTE, "tapes": played.iter().map(tape_object).collect::<Vec<_>>() })
}

fn tape_object(played: &Played) -> Value {
    let Played { tape, reader, rows } = played;
    let ((differ, rounds), (agree, decided)) = (played.differ(), played.agree());
    json!({
        "name": tape.name,
        "ladder": tape.ladder.efforts().iter().map(|effort| effort.word()).collect::<Vec<_>>(),
        "laws": reader.laws.iter().map(|law| law.name()).collect::<Vec<_>>(),
        "juice_millionths": reader.juice.micros(),
        "over_ms": reader.over.count(),
        "slack_ppm": reader.slack.ppm(),
        "notes": tape.notes,
        "read": rounds,
        "differ": differ,
        "decided": decided,
        "agree": agree,
        "rows": rows.iter().map(|row| row_object(tape, reader, row)).collect::<Vec<_>>(),
    })
}

fn row_object(tape: &Tape, reader: &Reader, row: &Row) -> Value {
    let round = tape.rounds.get(row.round);
    let law = |(law, verdict): (&LawKind, &Verdict)| {
        let evidence = verdict.decision.evidence;
        json!({
            "law": law.name(),
            "reading": evidence.mean.map(|mean| json!({"total_tokens": mean.total().count(), "turns": mean.turns()})),
            "side": evidence.side.map(common::side),
            "next": tape.ladder.effort(verdict.to).word(),
            "pinned": verdict.pinned,
            "why": verdict.decision.why.word(),
            "cutoff_ms": verdict.cutoff.millis(),
        })
    };
    json!({
        "round": round.map(|round| round.number),
        "turn": row.turn,
        "at_ms": row.at.millis(),
        "session": round.and_then(|round| round.session.as_deref()),
        "effort": round.map(|round| tape.ladder.effort(round.rung).word()),
        "turns": round.map(crate::lab::replay::Round::turns),
        "output_tokens": round.map(|round| round.output().count()),
        "decided": round.and_then(|round| round.decided.as_deref()),
        "laws": reader.laws.iter().zip(&row.verdicts).map(law).collect::<Vec<_>>(),
        "differs": row.differs(),
    })
}

/// A row for each law of each row.
fn csv(played: &[Played]) -> String {
    let mut out = csv::Writer::from_writer(Vec::new());
    // writing to memory does not fail
    let _ = out.write_record([
        "name",
        "round",
        "turn",
        "session",
        "effort",
        "at_ms",
        "law",
        "total_tokens",
        "turns",
        "side",
        "next",
        "why",
        "differs",
    ]);
    for Played { tape, reader, rows } in played {
        for row in rows {
            let Some(round) = tape.rounds.get(row.round) else { continue };
            for (law, verdict) in reader.laws.iter().zip(&row.verdicts) {
                let evidence = verdict.decision.evidence;
                let number = |count: Option<u64>| count.map(|count| count.to_string()).unwrap_or_default();
                let _ = out.write_record([
                    tape.name.as_str(),
                    &round.number.to_string(),
                    &row.turn.map(|turn| turn.to_string()).unwrap_or_default(),
                    round.session.as_deref().unwrap_or_default(),
                    tape.ladder.effort(round.rung).word(),
                    &row.at.millis().to_string(),
                    law.name(),
                    &number(evidence.mean.map(|mean| mean.total().count())),
                    &number(evidence.mean.map(|mean| mean.turns())),
                    evidence.side.map_or("", common::side),
                    tape.ladder.effort(verdict.to).word(),
                    verdict.decision.why.word(),
                    &row.differs().to_string(),
                ]);
            }
        }
    }
    out.into_inner().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}
