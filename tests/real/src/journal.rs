//! What a run of flyball recorded, read from its journal: the effort of each round, its turns, its end, and the stop.
//!
//! Read as plain JSON, not by the project's own code: the point is what stands in the file.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

/// One round.
#[derive(Default, Debug)]
pub struct Round {
    pub effort: String,
    /// Output tokens of each turn, and what grade they have, in the order in which they landed.
    pub turns: Vec<Turn>,
    /// Output of the whole round, where it was settled.
    pub total: Option<u64>,
    /// `done`, `failed` or `cut`.
    pub exit: Option<String>,
}

/// One turn.
#[derive(Clone, Debug)]
pub struct Turn {
    id: Option<String>,
    pub output: u64,
    pub grade: String,
}

impl Round {
    /// Output of the whole round.
    pub fn sum(&self) -> u64 {
        self.total.unwrap_or_else(|| self.turns.iter().map(|turn| turn.output).sum())
    }

    /// Output of turns whose counts nobody stated.
    pub fn estimated(&self) -> u64 {
        self.turns.iter().filter(|turn| turn.grade != "known").map(|turn| turn.output).sum()
    }
}

/// One run.
#[derive(Default, Debug)]
pub struct Journal {
    pub rounds: BTreeMap<u64, Round>,
    /// The control that stopped it.
    pub stop: Option<String>,
    /// Efforts of the decisions, from and to.
    pub moves: Vec<(String, String)>,
}

impl Journal {
    /// The only run of a project.
    ///
    /// # Errors
    /// There is none, there are several, or a line is not JSON.
    pub fn of(project: &Path) -> Result<Self, String> {
        let runs = project.join(".flyball").join("runs");
        let folders = fs::read_dir(&runs).map_err(|error| format!("no record of a run: {error}"))?;
        let found: Vec<_> = folders.flatten().map(|entry| entry.path().join("journal.jsonl")).collect();
        let [path] = &found[..] else { return Err(format!("{} records of runs", found.len())) };
        let text = fs::read_to_string(path).map_err(|error| format!("no journal: {error}"))?;
        let mut journal = Self::default();
        for line in text.lines().skip(1) {
            let line = serde_json::from_str(line).map_err(|error| format!("a line of the journal: {error}"))?;
            journal.add(&line);
        }
        Ok(journal)
    }

    fn add(&mut self, line: &Value) {
        let word = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
        let round = line["round"].as_u64().unwrap_or(0);
        match line["kind"].as_str().unwrap_or_default() {
            "spawn" => self.rounds.entry(round).or_default().effort = word("effort"),
            "turned" => self.rounds.entry(round).or_default().turns.push(Turn {
                id: line["id"].as_str().map(str::to_owned),
                output: line["output_tokens"].as_u64().unwrap_or(0),
                grade: word("grade"),
            }),
            "settled" => {
                let of = self.rounds.entry(round).or_default();
                of.total = line["total_tokens"].as_u64();
                for stated in line["turns"].as_array().into_iter().flatten() {
                    let turn = of.turns.iter_mut().find(|turn| turn.id.as_deref() == stated["id"].as_str());
                    if let (Some(turn), Some(output)) = (turn, stated["output_tokens"].as_u64()) {
                        turn.output = output;
                    }
                }
            }
            "ended" => self.rounds.entry(round).or_default().exit = Some(word("exit")),
            "decided" => self.moves.push((word("from"), word("to"))),
            "stop" => self.stop = Some(word("control")),
            _ => {}
        }
    }
}
