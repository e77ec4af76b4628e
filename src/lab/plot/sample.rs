//! Made-up data of plausible size and shape, for the tests of the pictures; no result of anything.

use super::num::real;
use super::*;

fn caption(title: &str, runs: u64, rounds: u64) -> Caption {
    Caption {
        title: title.to_owned(),
        scenario: "S02 typical".to_owned(),
        law: "reference".to_owned(),
        runs,
        rounds,
        seed: 42,
        note: "Made-up numbers. On-rung counts a round whose rung has its true mean in the acceptable set, band ±15 %."
            .to_owned(),
        command: "flyball sweep S02 --law reference --seed 42".to_owned(),
    }
}

/// A plain generator (Knuth's MMIX constants), uniform in 0..1.
struct Luck(u64);

impl Luck {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        real(self.0 >> 33) / real(1 << 31)
    }
}

pub(super) fn heat() -> Heat {
    const SHARE: [[f64; 4]; 6] = [
        [47.1, 53.2, 52.4, 39.0],
        [50.4, 57.0, 58.1, 44.2],
        [51.3, 59.3, 61.0, 49.4],
        [54.0, 63.1, 68.3, 64.2],
        [56.2, 66.4, 72.0, 75.1],
        [57.3, 64.0, 67.2, 67.0],
    ];
    let cells = |of: &dyn Fn(f64) -> HeatCell| -> Vec<Vec<HeatCell>> {
        SHARE.iter().map(|row| row.iter().map(|share| of(*share)).collect()).collect()
    };
    let value = |value: f64, half: f64| HeatCell { value: Num::from(value), half: Num::from(half), at_least: false };
    let mut settle = cells(&|share| HeatCell {
        value: Num::from(60.0 * libm::exp((38.0 - share) / 7.0)),
        half: Num::MISSING,
        at_least: share < 54.0,
    });
    settle[0][3] = HeatCell::default();
    let panel = |title: &str, unit: &str, better, scale, decimals, cells| HeatPanel {
        title: title.to_owned(),
        unit: unit.to_owned(),
        better,
        scale,
        decimals,
        cells,
    };
    Heat {
        caption: caption("A longer window helps only where the slack is legal", 200, 200),
        juice: Num::whole(2048),
        over_ms: vec![60_000, 300_000, 1_200_000, 3_600_000],
        slack: [0.05, 0.15, 0.2, 0.3, 0.4, 0.5].map(Num::from).into(),
        memory_ms: Some(300_000),
        legal: Some(Legal { low: Num::from(0.230_769), high: Num::from(0.375) }),
        chosen: Some(HeatPlace { column: 3, row: 4 }),
        panels: vec![
            panel(
                "On the right rung",
                "% of rounds",
                Better::High,
                Scale::Linear,
                1,
                cells(&|s| value(s, 0.2 + s / 90.0)),
            ),
            panel("Reversals", "per 100 rounds", Better::Low, Scale::Linear, 1, cells(&|s| value(98.0 - 1.2 * s, 0.8))),
            panel("Tokens to settle", "millions, mean", Better::Low, Scale::Log, 2, settle),
        ],
    }
}

/// A run of the reference law against a noisy agent, target on the third rung.
pub(super) fn trace(rounds: u64) -> Trace {
    const MEANS: [f64; 6] = [5243.0, 3277.0, 2048.0, 1280.0, 800.0, 500.0];
    let mut luck = Luck(7);
    let mut rung = 4_usize;
    let told = (0..rounds).map(|_| {
        let ran = rung;
        if luck.next() < 0.04 {
            return TraceRound { rung: ran, reading: Num::MISSING, why: Why::NoTurn };
        }
        let noise = (0..12).map(|_| luck.next()).sum::<f64>() - 6.0;
        let reading = MEANS[ran] * libm::exp(0.24 * noise);
        let why = match reading {
            low if low < 2048.0 * 0.85 && ran == 0 => Why::Pinned,
            low if low < 2048.0 * 0.85 => Why::Harder,
            high if high > 2048.0 * 1.15 => Why::Softer,
            _ => Why::Hold,
        };
        rung = match why {
            Why::Harder => ran - 1,
            Why::Softer => (ran + 1).min(5),
            Why::Pinned | Why::NoTurn | Why::Hold => ran,
        };
        TraceRound { rung: ran, reading: Num::from(reading), why }
    });
    let rounds_told = told.collect();
    Trace {
        caption: caption("The reference law reverses every other round and never holds the right rung", 1, rounds),
        rungs: ["max", "xhigh", "high", "medium", "low", "minimal"].map(str::to_owned).into(),
        acceptable: vec![Shade { rung: 2, from: 1, to: rounds }],
        target: Num::whole(2048),
        slack: Num::from(0.15),
        scale: Scale::Log,
        rounds: rounds_told,
        stop: Some("budget".to_owned()),
    }
}

pub(super) fn settle() -> Settle {
    let laws = [
        ("model", 0.26, 0),
        ("evidence", 0.19, 0),
        ("reset", 0.1, 2),
        ("cooldown", 0.035, 8),
        ("reference", 0.002, 134),
    ];
    let lines = laws.into_iter().map(|(name, hazard, censored)| {
        let mut share = 1.0;
        let mut steps = Vec::new();
        for round in 1..=200 {
            share *= 1.0 - hazard;
            let half = 1.96 * (share * (1.0 - share) / 200.0_f64).sqrt();
            let (low, high) = (Num::from((share - half).max(0.0)), Num::from((share + half).min(1.0)));
            if share > 0.004 {
                steps.push(SettleStep { round, share: Num::from(share), low, high });
            }
        }
        let median =
            steps.iter().find(|step| step.share.get().is_some_and(|share| share <= 0.5)).map(|step| step.round);
        SettleLine { name: name.to_owned(), runs: 200, steps, censored: vec![200; censored], median }
    });
    let mut caption = caption("Keeping only the new rung's turns settles thirty times sooner", 200, 200);
    caption.law = String::new();
    Settle { lines: lines.collect(), caption, hold: 10, band: Num::from(0.15), scale: Scale::Log }
}

pub(super) fn burn() -> Burn {
    let cells =
        [("reference, 5 min, slack 0.15", 0.54), ("reset, 1 h, slack 0.30", 0.1), ("evidence z = 2, slack 0.25", 0.03)];
    let panels = cells.into_iter().map(|(name, share)| BurnPanel {
        name: name.to_owned(),
        points: (0..=200)
            .step_by(4)
            .map(|round| {
                let total = real(round) * 47_000.0;
                let spread = 9_000.0 * (real(round) * 12.0).sqrt();
                let fan = |middle: f64| {
                    [-1.645, -0.674, 0.0, 0.674, 1.645].map(|z| Num::from((middle + z * middle.min(spread)).max(0.0)))
                };
                BurnPoint {
                    round,
                    off: fan(total * share + real(round).min(6.0) * 20_000.0 * (1.0 - share)),
                    total: fan(total),
                }
            })
            .collect(),
    });
    let mut caption = caption("Half of what the reference law spends is spent on the wrong rung", 200, 200);
    caption.law = String::new();
    Burn { panels: panels.collect(), caption, budget: Num::whole(10_000_000) }
}

mod tests {
    use super::*;

    /// Every picture with its data as JSON.
    fn all() -> [(String, String); 5] {
        let json = |data: serde_json::Result<String>| data.unwrap();
        [
            (heat().svg(), json(serde_json::to_string(&heat()))),
            (trace(80).svg(), json(serde_json::to_string(&trace(80)))),
            (trace(1000).svg(), json(serde_json::to_string(&trace(1000)))),
            (settle().svg(), json(serde_json::to_string(&settle()))),
            (burn().svg(), json(serde_json::to_string(&burn()))),
        ]
    }

    #[test]
    fn the_same_data_is_the_same_bytes() {
        assert_eq!(all(), all());
    }

    /// What each mark says when pointed at, in the order drawn: all titles but the picture's own.
    fn told(svg: &str) -> Vec<String> {
        let page = resvg::usvg::roxmltree::Document::parse(svg).unwrap();
        let titles = page.descendants().filter(|node| node.has_tag_name("title"));
        let marks = titles.filter(|title| title.parent() != Some(page.root_element()));
        let words = marks.map(|title| {
            let mark = title.parent().unwrap();
            assert_eq!(mark.first_element_child(), Some(title), "a title stands first");
            assert!(["g", "rect", "circle", "path"].contains(&mark.tag_name().name()), "{mark:?}");
            title.text().unwrap().to_owned()
        });
        words.collect()
    }

    #[test]
    fn each_cell_says_its_value_interval_and_settings() {
        let told = told(&heat().svg());
        let cells: usize = heat().panels.iter().map(|panel| panel.cells.iter().map(Vec::len).sum::<usize>()).sum();
        assert_eq!(told.len(), cells);
        assert!(
            told[0].starts_with("On the right rung: 47.1 ±0.7 (95 %) % of rounds; window 60 s, slack 0.05"),
            "{}",
            told[0]
        );
        assert!(
            told.iter().any(|told| told.contains("Tokens to settle: ≥"))
                && told.iter().any(|told| told.contains("n/a millions"))
        );
    }

    #[test]
    fn each_round_of_a_trace_says_its_rung_reading_and_reason() {
        for rounds in [80, 1000] {
            let (trace, told) = (trace(rounds), told(&trace(rounds).svg()));
            assert_eq!(told.len(), trace.rounds.len());
            for (at, (told, round)) in told.iter().zip(&trace.rounds).enumerate() {
                let reading = round.reading.get().map_or_else(|| "none".to_owned(), hover::number);
                let want =
                    format!("round {}: {}, reading {reading} tokens per turn, ", at + 1, trace.rungs[round.rung]);
                assert!(told.starts_with(&want), "{told}");
            }
        }
    }

    #[test]
    fn curves_and_fans_say_every_line_at_a_round_with_its_spread() {
        let (settle, burn) = (settle(), burn());
        let said = told(&settle.svg());
        let strips: Vec<&String> = said.iter().filter(|told| told.starts_with("round ")).collect();
        assert_eq!(strips.len(), hover::MOST);
        for (line, strip) in settle.lines.iter().flat_map(|line| strips.iter().map(move |strip| (line, strip))) {
            assert!(strip.contains(&format!("{} ", line.name)) && strip.contains("(95 %: "), "{strip}");
        }
        let at = |words: &str| said.iter().filter(|told| told.contains(words)).count();
        assert_eq!((at("censored at round 200"), at("half of the runs had settled by round")), (3, 4));
        let said = told(&burn.svg());
        assert_eq!(said.len(), hover::MOST * burn.panels.len());
        let last = &said[hover::MOST - 1];
        assert!(
            last.contains("round 200, M tokens so far: all 9.4 (25 to 75 %: ") && last.contains("off the right rung")
        );
    }

    #[test]
    fn what_is_told_weighs_no_more_than_what_is_drawn() {
        for (svg, _) in all() {
            let told: usize = told(&svg).iter().map(|words| words.len() + "<g><title></title></g>".len()).sum();
            let strips = svg.split_once("fill-opacity=\"0\"").map_or(0, |_| {
                let unseen = svg.split("<g fill-opacity=\"0\">").skip(1);
                unseen.map(|group| group.split("</g>").next().unwrap_or("").matches("<rect").count() * 60).sum()
            });
            assert!(told + strips < svg.len() * 11 / 20, "{told} and {strips} of {}", svg.len());
        }
    }

    #[test]
    fn a_picture_drawn_from_its_json_is_the_same() {
        let again: Heat = serde_json::from_str(&all()[0].1).unwrap();
        assert_eq!((again.svg(), again), (heat().svg(), heat()));
        assert_eq!(serde_json::from_str::<Trace>(&all()[1].1).unwrap(), trace(80));
        assert_eq!(serde_json::from_str::<Settle>(&all()[3].1).unwrap(), settle());
        assert_eq!(serde_json::from_str::<Burn>(&all()[4].1).unwrap(), burn());
    }

    #[test]
    fn a_png_has_the_size_of_its_picture_and_is_not_blank() {
        for (svg, _) in all() {
            let tree = resvg::usvg::Tree::from_str(&svg, &resvg::usvg::Options::default()).unwrap();
            let size = tree.size().to_int_size();
            let drawn = resvg::tiny_skia::Pixmap::decode_png(&png(&svg).unwrap()).unwrap();
            let scale = u32::from(PNG_SCALE);
            assert_eq!((drawn.width(), drawn.height()), (size.width() * scale, size.height() * scale));
            let paper =
                drawn.pixels().iter().filter(|pixel| (pixel.red(), pixel.green(), pixel.blue()) == (255, 255, 255));
            let share =
                real(u64::try_from(paper.count()).unwrap()) / real(u64::try_from(drawn.pixels().len()).unwrap());
            assert!((0.3..0.97).contains(&share), "{share} of the page is paper");
        }
    }

    #[test]
    fn text_lies_inside_the_page() {
        let only = resvg::usvg::Options { fontdb: fonts(), ..Default::default() };
        for (svg, _) in all() {
            let tree = resvg::usvg::Tree::from_str(&svg, &only).unwrap();
            let page = tree.size();
            let mut seen = 0;
            for node in tree.root().children() {
                if let resvg::usvg::Node::Text(text) = node {
                    let edge = text.abs_bounding_box();
                    seen += 1;
                    assert!(
                        edge.left() >= 0.0 && edge.right() <= page.width() && edge.bottom() <= page.height(),
                        "{text:?}"
                    );
                }
            }
            assert!(seen > 20);
        }
    }

    fn fonts() -> std::sync::Arc<resvg::usvg::fontdb::Database> {
        let mut fonts = resvg::usvg::fontdb::Database::new();
        fonts.load_font_data(FONT.to_vec());
        std::sync::Arc::new(fonts)
    }
}
