//! What is asked becomes what is started.

use super::*;

#[test]
fn names_are_words() {
    for kind in AgentKind::ALL {
        assert_eq!(kind.to_string().parse::<AgentKind>(), Ok(kind));
    }
    assert!("qwen".parse::<AgentKind>().unwrap_err().to_string().contains("claude, codex"));
}
