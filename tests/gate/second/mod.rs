//! `confirm` and the laws that estimate, written a second time from their pages: plainly, without a thought for speed, and with
//! places where a mistake can be planted.
//!
//! Without a mistake they decide as the product does, which is a test. They share no line with it. A mistake is a word of
//! [`Slip`], and each is looked at in one place. Places count from the hardest rung, 0; logarithms are natural.

mod filter;
mod reading;
mod simple;
mod turns;

use flyball::engine::{Decision, Evidence, Law, LawKind, Memory, Reading, Why};

/// A mistake, under the law that has it.
macro_rules! slips {
    ($($group:ident: $($slip:ident)*;)*) => {
        /// What can be written wrong.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Slip { $($($slip,)*)* }

        /// Every mistake, with the law that is to have it.
        pub(super) const SLIPS: &[(Subject, Slip)] = &[$($((Subject::$group, Slip::$slip),)*)*];
    };
}

slips! {
    Confirm: ReadingLess ReadingMore RowOutlivesBand RowOutlivesMove SidesAlike AllOfWindow;
    Integral: ErrorAdded ErrorInNats NotHeldAtEnds PositionForgotten NoHysteresis SharesWhole;
    Cusum: NoHalfStep SumsOutliveMove SumsBelowZero WrongWay SumsForgotten PlainSpread EdgeHalved;
    Evidence: StayOutlivesMove OneRoundStays NoDoubtAsked NoBandAsked OldestStays ErrorOfLast;
    Stride: MoveNotPredicted MovePredictedBackwards SpreadStays SpreadGone StepNotLearnt StepLearntBackwards
        SurpriseNever SurpriseAlways NothingTried AllTried RoundsDown OneRungAMove GainBackwards
        NoHysteresisAtAll TurnsOverNever TurnsOverAtOnce ProbesNever ProbesAlways NoDriftOfLevel AmendedNever AmendedBackwards;
    // what all of them read, on the law where nobody names one
    Stride: LogToBaseTwo TurnsLessOne LumpLost AnyRungCompared LuckAdded BetweenLeftOut RatioOfAll RatioLeftOut
        WithinUndivided NothingPooled;
    Stride3: RateNotAdded RateAddedTwice RateLearntBackwards RateForgotten RateForStep;
    Model: MoveForgets OthersNotLearnt DriftOfOne NoDriftOfAny LadderBackwards NoGainAsked DoubtNotAsked FirstBelow;
    Hybrid: DebtForgotten DebtBackwards TurnsInBand NeverTurns;
    Dither: OwesForgotten OwesBackwards TurnsWhenNear WidthLeftOut FadesNever;
}

/// What is written a second time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    Confirm,
    Integral,
    Cusum,
    Evidence,
    Stride,
    Stride3,
    Model,
    Hybrid,
    /// `stride` with its setting `dither`.
    Dither,
}

impl Subject {
    pub(super) const ALL: [Self; 9] = [
        Self::Confirm,
        Self::Integral,
        Self::Cusum,
        Self::Evidence,
        Self::Stride,
        Self::Stride3,
        Self::Model,
        Self::Hybrid,
        Self::Dither,
    ];

    /// The law that it is.
    pub(super) const fn law(self) -> LawKind {
        match self {
            Self::Confirm => LawKind::Confirm,
            Self::Integral => LawKind::Integral,
            Self::Cusum => LawKind::Cusum,
            Self::Evidence => LawKind::Evidence,
            Self::Stride | Self::Dither => LawKind::Stride,
            Self::Stride3 => LawKind::Stride3,
            Self::Model => LawKind::Model,
            Self::Hybrid => LawKind::Hybrid,
        }
    }
}

/// At most one mistake.
#[derive(Clone, Copy, Debug)]
struct Slipped(Option<Slip>);

impl Slipped {
    fn is(self, slip: Slip) -> bool {
        self.0 == Some(slip)
    }

    /// One thing where the mistake is made, else the other.
    fn pick<T>(self, slip: Slip, wrong: T, right: T) -> T {
        if self.is(slip) { wrong } else { right }
    }
}

/// Where a law would go, from the hardest, and why.
type Answer = (usize, Why);

enum Kind {
    Confirm(simple::Confirm),
    Integral(simple::Integral),
    Cusum(simple::Cusum),
    Evidence(simple::Evidence),
    Stride(Box<filter::Stride>),
    Model(Box<turns::Model>),
}

/// A law written a second time.
pub(super) struct Second {
    subject: Subject,
    slip: Slipped,
    kind: Kind,
}

impl Second {
    pub(super) fn new(subject: Subject, slip: Option<Slip>) -> Self {
        let kind = match subject {
            Subject::Confirm => Kind::Confirm(simple::Confirm::default()),
            Subject::Integral => Kind::Integral(simple::Integral::default()),
            Subject::Cusum => Kind::Cusum(simple::Cusum::default()),
            Subject::Evidence => Kind::Evidence(simple::Evidence::default()),
            Subject::Stride => Kind::Stride(Box::new(filter::Stride::new(false, false))),
            Subject::Stride3 => Kind::Stride(Box::new(filter::Stride::new(true, false))),
            Subject::Dither => Kind::Stride(Box::new(filter::Stride::new(false, true))),
            Subject::Model => Kind::Model(Box::new(turns::Model::new(false))),
            Subject::Hybrid => Kind::Model(Box::new(turns::Model::new(true))),
        };
        Self { subject, slip: Slipped(slip), kind }
    }
}

impl Law for Second {
    fn name(&self) -> &'static str {
        self.subject.law().name()
    }

    fn decide(&mut self, reading: &Reading<'_>) -> Decision {
        let answer = match &mut self.kind {
            Kind::Confirm(law) => Some(law.decide(reading, self.slip)),
            Kind::Integral(law) => law.decide(reading, self.slip),
            Kind::Cusum(law) => law.decide(reading, self.slip),
            Kind::Evidence(law) => law.decide(reading, self.slip),
            Kind::Stride(law) => law.decide(reading, self.slip),
            Kind::Model(law) => law.decide(reading, self.slip),
        };
        let (place, why) = answer.unwrap_or((reading.rung.index(), Why::EmptyRound));
        let to = reading.rungs.rung(place.min(reading.rungs.count() - 1)).unwrap_or(reading.rung);
        Decision { to, why, evidence: Evidence::default() }
    }

    fn memory(&self) -> Memory {
        let resets = self.subject == Subject::Confirm && !self.slip.is(Slip::AllOfWindow);
        if resets { Memory::SinceMove } else { Memory::Sliding }
    }

    fn reads_logs(&self) -> bool {
        self.subject != Subject::Confirm
    }
}
