//! What is recommended on small requests, and how worlds differ.

use super::judge::{Request, recommend};
use super::perturb::worlds;
use super::race::race;
use super::screen::screen;
use super::*;
use crate::lab::grid::Axes;
use crate::lab::settings::Settings;

fn load(text: &str) -> Scenario {
    let mut scenario = Scenario::load(text, "x.toml").unwrap();
    scenario.plan.rounds = 60;
    scenario
}

fn typical() -> Scenario {
    load(include_str!("../../../scenarios/s02-typical.toml"))
}

fn request<'a>(worlds: &'a [World], current: Option<Settings>) -> Request<'a> {
    let axes = Axes {
        law: Some(vec![LawKind::Reference, LawKind::Reset]),
        over: Some([300, 1800, 3600].map(Millis::from_secs).to_vec()),
        slack: Some([150_000, 300_000].map(Ratio::from_ppm).to_vec()),
        ..Axes::default()
    };
    let (weights, rest) = (Weights::default(), Millis::from_secs(5));
    Request { worlds, axes, rest, current, race_runs: 16, fresh_runs: 40, seed: 7, weights }
}

#[test]
fn the_typical_agent_gets_a_long_window_and_the_law_that_forgets() {
    let all = worlds(&typical(), true);
    assert_eq!(all.len(), 9);
    let told = recommend(&request(&all, Some(Settings::original()))).unwrap().unwrap();
    let chosen = told.chosen();
    assert_eq!(chosen.setting.law, LawKind::Reset);
    assert!(chosen.setting.over >= Millis::from_secs(1800) && chosen.setting.slack.ppm() == 300_000);
    let used = told.promises.iter().find(|promise| promise.who == "in use").unwrap();
    assert!(used.worse.unwrap().interval.unwrap().lo > 0.0, "the defaults are worse for certain");
    let regret = told.regret.unwrap();
    assert!(regret.tokens.mean > 1e6 && regret.seconds.mean > 3600.0, "{regret:?}");
    assert_eq!(chosen.on_rung.n, 40);
    assert!(told.front.iter().any(|(setting, _)| *setting == chosen.setting));
    assert_eq!(told.reweighed.len(), 8);
    let plain = told.promises.iter().find(|promise| promise.who == "default law").unwrap();
    assert!(plain.setting.law == LawKind::DEFAULT && plain.by_world.iter().all(|loss| loss.interval.is_some()));
    let page = text::Page { worlds: &all, price: Some(15.0), seed: 7, fresh_runs: 40, command: "again".to_owned() };
    let text = text::render(&page, &told);
    for words in
        ["--law reset", "USD", "hours", "gaps wider by a fifth", "twice the weight on reversals", "Again: again"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn worlds_differ_in_what_they_say() {
    let scenario = typical();
    let all = worlds(&scenario, true);
    let means = |at: usize| all[at].scenario.derived().means;
    let near = |got: f64, want: f64| assert!((got / want - 1.0).abs() < 1e-9, "{got} {want}");
    near(means(1)[1] / means(1)[2], libm::pow(1.6, 1.2));
    near(means(2)[1] / means(2)[2], libm::pow(1.6, 0.8));
    near(means(3)[2], 2048.0);
    near(all[4].scenario.agent.spec().session.tau, 0.4);
    near(means(5)[2], 2048.0 / libm::pow(1.6, 0.25));
    near(means(6)[2], 2048.0 * libm::pow(1.6, 0.25));
    near(all[7].scenario.agent.spec().drift.steps[0].level, 1.6);
    assert!(matches!(all[8].scenario.agent.spec().accounting, crate::sim::Accounting::Partial { .. }));
    assert!(all[0].home && !all[1].home && all.iter().all(|world| world.reachable));
    assert_eq!(worlds(&scenario, false).len(), 1);
}

#[test]
fn the_screen_leaves_out_what_theory_rules_out() {
    let all = worlds(&typical(), false);
    let screened = screen(
        &all,
        &Axes { law: Some(vec![LawKind::Reference, LawKind::Reset, LawKind::Fixed]), ..Axes::default() },
        Millis::ZERO,
    );
    let screened = screened.unwrap();
    assert_eq!(screened.all, 330);
    let has = |law, over, slack: u32| {
        let setting = Setting { law, over: Millis::from_secs(over), slack: Ratio::from_ppm(slack), rest: Millis::ZERO };
        screened.settings.contains(&setting)
    };
    assert!(has(LawKind::Reset, 3600, 300_000) && has(LawKind::Reference, 300, 300_000));
    assert!(!has(LawKind::Reset, 300, 50_000) && !has(LawKind::Reset, 300, 500_000), "illegal slacks");
    // a window of four rounds at a slack of .15 goes round with period 8
    assert!(!has(LawKind::Reference, 3600, 150_000) && has(LawKind::Reset, 3600, 150_000));
    // one that never moves is one setting
    assert_eq!(screened.settings.iter().filter(|setting| setting.law == LawKind::Fixed).count(), 1);
}

#[test]
fn what_a_law_looks_at_is_seen_in_any_world_whatever_their_order() {
    let mut far = typical();
    far.governor.juice = Target::from_tokens(100_000);
    far.name = "far".to_owned();
    let laws = vec![LawKind::Reference, LawKind::Reset, LawKind::Confirm, LawKind::Stride];
    let axes = Axes { law: Some(laws), ..Axes::default() };
    let of = |scenarios: [&Scenario; 2]| {
        let all: Vec<World> = scenarios.iter().flat_map(|scenario| worlds(scenario, false)).collect();
        screen(&all, &axes, Millis::ZERO).unwrap()
    };
    let (first, second) = (of([&far, &typical()]), of([&typical(), &far]));
    assert_eq!(first, second);
    assert_eq!(first.once, [LawKind::Stride]);
    assert!(first.settings.len() > 100 && !first.left_out.iter().any(|line| line.contains("stride")), "{first:?}");
}

#[test]
fn a_race_costs_little_and_keeps_its_runs() {
    let all = worlds(&typical(), false);
    let screened = screen(&all, &Axes { law: Some(vec![LawKind::Reset]), ..Axes::default() }, Millis::ZERO).unwrap();
    let raced = race(&all, &screened.settings, 32, 1, &Weights::default()).unwrap();
    assert_eq!(raced.left.len(), 6);
    assert!(raced.record.runs[0].iter().all(|runs| runs.len() == 32));
    let full = screened.settings.len() as u64 * 32;
    assert!(raced.cost * 3 < full, "{} of {full}", raced.cost);
    // the runs are those of the setting itself, whatever was dropped on the way
    let alone = Record::new(&all, &raced.left[..1], &(0..32), 1, &Weights::default()).unwrap();
    assert_eq!(alone.runs[0][0], raced.record.runs[0][0]);
}

#[test]
fn the_objective_is_the_mean_and_half_the_worst() {
    let run = |loss: i64| Run { parts: Parts { excess: loss, ..Parts::default() }, ..Run::default() };
    let (calm, wild) = ([run(100), run(300)], [run(900), run(500)]);
    let (values, worst) = objective(&[&calm, &wild], &Weights::default());
    assert_eq!((values, worst), (vec![500 + 450, 400 + 250], 1));
}

#[test]
fn settings_of_the_original_are_read_and_written() {
    let text = "juice: 2000     # output tokens\nover: 300\n\nslack: 0.15\nrest: 5\nbudget: 10\n";
    assert_eq!(yaml::read(text).unwrap(), Settings::original(), "it has one law");
    let mut settings = Settings::original();
    assert_eq!(yaml::read(&yaml::write(&settings, "two\nlines")).unwrap(), settings);
    settings.governor.law = LawKind::Reset;
    settings.governor.over = Millis::from_secs(3600);
    settings.governor.juice = Target::from_micros(680_500_000);
    settings.governor.budget = None;
    let written = yaml::write(&settings, "");
    assert!(written.contains("juice: 680.5 ") && written.contains("over: 3600 ") && written.contains("budget: 0 "));
    assert!(written.contains("chosen for reset") && written.contains("does there what 300 s does"), "{written}");
    for (text, want) in [
        ("juice\n", "line 1"),
        ("\njuice: -5\n", "line 2: juice: -5"),
        ("slack: lots\n", "slack: lots"),
        ("  law: reset\n", "no such setting"),
        ("budget: nan\n", "budget"),
    ] {
        assert!(yaml::read(text).unwrap_err().to_string().contains(want), "{text:?}");
    }
}

#[test]
fn a_target_off_the_ladder_is_told_and_a_rung_offered() {
    let mut scenario = typical();
    scenario.governor.juice = Target::from_tokens(9000);
    let all = worlds(&scenario, false);
    assert!(!all[0].reachable);
    let told = recommend(&request(&all, None)).unwrap().unwrap();
    let page = text::Page { worlds: &all, price: None, seed: 7, fresh_runs: 40, command: String::new() };
    let said = text::sentences(&page, &told).join("\n");
    assert!(
        said.contains("s02-typical: the target is 9000 output tokens per turn; rung-5, which makes 5243, is nearest.")
    );
    assert!(said.contains("above the whole ladder; --snap takes 5243"), "{said}");
    assert!(told.regret.is_none());
}
