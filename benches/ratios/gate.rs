//! One figure that is asked for, and what was measured.

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asks {
    AtLeast,
    AtMost,
}

/// A line of the table.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    pub(crate) what: &'static str,
    pub(crate) asks: Asks,
    pub(crate) gate: f64,
    /// What a good build reaches on a quiet machine.
    pub(crate) goal: f64,
    pub(crate) unit: &'static str,
    /// None where it could not be measured here.
    pub(crate) measured: Option<f64>,
}

impl Gate {
    pub(crate) const fn at_least(what: &'static str, gate: f64, goal: f64, measured: Option<f64>) -> Self {
        Self { what, asks: Asks::AtLeast, gate, goal, unit: "x", measured }
    }

    pub(crate) const fn at_most(
        what: &'static str,
        gate: f64,
        goal: f64,
        unit: &'static str,
        measured: Option<f64>,
    ) -> Self {
        Self { what, asks: Asks::AtMost, gate, goal, unit, measured }
    }

    pub(crate) fn passes(&self) -> Option<bool> {
        self.measured.map(|measured| match self.asks {
            Asks::AtLeast => measured >= self.gate,
            Asks::AtMost => measured <= self.gate,
        })
    }

    /// The line, as wide as the head.
    pub(crate) fn line(&self) -> String {
        let sign = if self.asks == Asks::AtLeast { ">=" } else { "<=" };
        let unit = self.unit;
        let verdict = match self.passes() {
            None => "skipped",
            Some(true) => "pass",
            Some(false) => "FAIL",
        };
        let measured = self.measured.map_or_else(|| "-".into(), |measured| format!("{}{unit}", number(measured)));
        let (gate, goal) =
            (format!("{sign} {}{unit}", number(self.gate)), format!("{sign} {}{unit}", number(self.goal)));
        format!("{:<62} {gate:>10} {goal:>10} {measured:>10}  {verdict}", self.what)
    }
}

/// The head of the table.
pub(crate) fn head() -> String {
    format!("{:<62} {:>10} {:>10} {:>10}", "what", "gate", "goal", "measured")
}

fn number(value: f64) -> String {
    if value >= 100.0 || value == 0.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}
