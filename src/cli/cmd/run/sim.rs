//! The simulated agent as a real process: this program itself, speaking a program's lines through a pipe.

use std::fs;
use std::path::{Path, PathBuf};

use crate::agents::adapter::AgentKind;
use crate::cli::args::{any, whole};
use crate::cli::cmd::common;
use crate::cli::error::{Failure, Outcome};
use crate::cli::settings::gather::Gathered;
use crate::cli::settings::typed::read;
use crate::engine::Millis;
use crate::lab::scenario::Scenario;

/// What is played where no scenario is named.
const USUAL: (&str, &str) = ("sonnet-5.toml", include_str!("../../../../scenarios/sonnet-5.toml"));

/// The simulated agent of some settings.
#[derive(Debug)]
pub struct Sim {
    /// What it plays.
    pub scenario: Scenario,
    /// Whose lines it speaks.
    pub kind: AgentKind,
    file: Option<PathBuf>,
    wire: String,
    seed: u64,
    run: u64,
    speed: Option<String>,
}

impl Sim {
    /// The simulated agent that the settings describe; what they leave open follows from its scenario.
    ///
    /// # Errors
    /// The scenario's faults, or those of a setting.
    pub fn of(settings: &mut Gathered) -> Outcome<Self> {
        let named = settings.get("sim.scenario").text.clone();
        let (scenario, file) = if named.is_empty() {
            (Scenario::load(USUAL.1, USUAL.0).map_err(Failure::internal)?, None)
        } else {
            let path = Path::new(&named);
            let whole = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
            (common::scenario(path)?, Some(whole))
        };
        let wire = settings.get("sim.wire").text.clone();
        let kind = read(settings, "sim.wire", |wire| match wire {
            "claude" | "claude-result-only" => Ok(AgentKind::Claude),
            "codex" => Ok(AgentKind::Codex),
            "pi" => Ok(AgentKind::Pi),
            "opencode" => Ok(AgentKind::Opencode),
            _ => Err("it must be claude, claude-result-only, codex, pi or opencode".to_owned()),
        })?;
        let seed = read(settings, "sim.seed", any)?;
        let run = read(settings, "sim.run", whole::<_, 0, 4_294_967_295>)?;
        let speed = read(settings, "sim.speed", |text| match text {
            "instant" => Ok(None),
            text => match text.parse::<u32>() {
                Ok(1..) => Ok(Some(text.to_owned())),
                Ok(0) | Err(_) => Err("it must be a whole number, at least 1, or instant".to_owned()),
            },
        })?;
        let what = format!("scenario {}", scenario.name);
        let governor = &scenario.governor;
        let millis = |span: Millis| match span.count() {
            whole if whole.is_multiple_of(1000) => format!("{}s", whole / 1000),
            count => format!("{count}ms"),
        };
        settings.tune(governor.tuning, &what);
        settings.follows("governor.juice", &decimal(governor.juice.micros()), &what);
        settings.follows("governor.over", &millis(governor.over), &what);
        settings.follows("governor.slack", &decimal(governor.slack.ppm().into()), &what);
        settings.follows("governor.rest", &millis(governor.rest), &what);
        let ladder: Vec<&str> = scenario.ladder.efforts().iter().map(|effort| effort.word()).collect();
        settings.follows("agent.ladder", &ladder.join(","), &what);
        settings.follows("agent.effort", scenario.ladder.effort(scenario.plan.start).word(), &what);
        Ok(Self { scenario, kind, file, wire, seed, run, speed })
    }

    /// Whether it plays without waiting.
    #[must_use]
    pub const fn is_instant(&self) -> bool {
        self.speed.is_none()
    }

    /// Its argv, with the place of the effort to fill; `folder` is the run's.
    ///
    /// # Errors
    /// Where the scenario cannot be put there, or this program's own file is not known.
    pub fn argv(&self, folder: &Path) -> Outcome<Vec<String>> {
        let file = match &self.file {
            Some(file) => file.clone(),
            None => {
                let file = folder.join(USUAL.0);
                let written = fs::create_dir_all(folder).and_then(|()| fs::write(&file, USUAL.1));
                written.map_err(|error| Failure::usage(error).while_(format!("cannot write {}", file.display())))?;
                file
            }
        };
        let own =
            std::env::current_exe().map_err(|error| Failure::internal(error).while_("cannot find flyball itself"))?;
        let mut argv = vec![own.display().to_string(), "fake-agent".to_owned()];
        let mut put = |flag: &str, value: &str| argv.extend([flag.to_owned(), value.to_owned()]);
        put("--scenario", &file.display().to_string());
        put("--wire", &self.wire);
        put("--seed", &self.seed.to_string());
        put("--run", &self.run.to_string());
        put("--effort", "{effort}");
        match &self.speed {
            Some(speed) => put("--speed", speed),
            None => argv.push("--instant".to_owned()),
        }
        Ok(argv)
    }
}

/// Millionths as the shortest decimal.
fn decimal(millionths: u64) -> String {
    let text = format!("{}.{:06}", millionths / 1_000_000, millionths % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
