//! Plays the steps on a session, and replays them after each block: every scenario shows P2 and P5 too.

use session_todo::{Effect, Event, Policy, Session, State};

use super::line::{Show, Step};
use super::{Fault, line, policy, print};

#[derive(Default)]
pub(super) struct Stage {
    scene: Option<Scene>,
    by_hand: bool,
}

/// A session, with what is needed to replay it.
struct Scene {
    session: Session,
    from: State,
    events: Vec<Event<'static>>,
    last: Option<Effect>,
    /// The last effect at all, which `show text` shows.
    shown: Option<Effect>,
    reminders: Vec<u64>,
}

impl Stage {
    pub(super) fn by_hand(&self) -> bool {
        self.by_hand
    }

    pub(super) fn play(&mut self, lines: &[(usize, &str)]) -> Result<Vec<String>, Fault> {
        let mut out = Vec::new();
        for &(line, text) in lines {
            let fault = |message| Fault { line, message };
            self.step(line::read(text).map_err(fault)?, &mut out).map_err(fault)?;
        }
        if let Some(scene) = &self.scene {
            scene.replay().map_err(|message| Fault { line: lines.last().map_or(0, |last| last.0), message })?;
        }
        tidy(&mut out, lines);
        Ok(out)
    }

    fn step(&mut self, step: Step, out: &mut Vec<String>) -> Result<(), String> {
        match step {
            Step::ByHand => self.by_hand = true,
            Step::Preset(policy) => self.scene = Some(Scene::go_on(self.scene.take(), policy)),
            step => {
                let scene = self.scene.as_mut().ok_or("a scenario begins with a line like `policy default`")?;
                scene.step(step, out)?;
            }
        }
        Ok(())
    }
}

impl Scene {
    fn go_on(before: Option<Self>, policy: Policy) -> Self {
        let from = before.as_ref().map(|scene| scene.session.state().clone()).unwrap_or_default();
        let (shown, reminders) = before.map(|scene| (scene.shown, scene.reminders)).unwrap_or_default();
        let session = Session::resume(policy, from.clone());
        Self { session, from, events: Vec::new(), last: None, shown, reminders }
    }

    fn step(&mut self, step: Step, out: &mut Vec<String>) -> Result<(), String> {
        match step {
            Step::Events(events) => events.into_iter().for_each(|event| self.event(event, out)),
            Step::Show(show) => self.show(show, out)?,
            Step::Set(key, value) => {
                let mut changed = self.session.policy().clone();
                policy::set(&mut changed, &key, &value)?;
                self.from = self.session.state().clone();
                self.events.clear();
                self.last = None;
                self.session = Session::resume(changed, self.from.clone());
            }
            Step::StoreAndReadBack => self.store_and_read_back()?,
            Step::Preset(_) | Step::ByHand => {}
        }
        Ok(())
    }

    fn event(&mut self, event: Event<'static>, out: &mut Vec<String>) {
        let effect = self.session.step(&event);
        let number = self.session.state().requests();
        if let Some(effect) = &effect {
            out.push(format!("{number} {}", print::effect(effect, &event, self.session.policy())));
            self.shown = Some(effect.clone());
        }
        if matches!(&effect, Some(Effect::AppendSystemReminder(reminder)) if reminder.items.is_some()) {
            self.reminders.push(number);
        }
        self.events.push(event);
        self.last = effect;
    }

    fn show(&self, show: Show, out: &mut Vec<String>) -> Result<(), String> {
        match show {
            Show::Text => print::text(out, print::words(self.shown.as_ref().ok_or("no effect came yet")?)),
            Show::List => print::list(out, self.session.list()),
            Show::Reminders => out.push(print::reminders(&self.reminders)),
            Show::Tools => out.extend(self.session.policy().tools().map(|tool| print::tool(&tool))),
            Show::Guidance => print::named(out, "guidance", Some(self.session.policy().guidance())),
            Show::Summary => print::named(out, "summary", self.session.context_for_summary().as_deref()),
        }
        Ok(())
    }

    fn store_and_read_back(&mut self) -> Result<(), String> {
        let stored = serde_json::to_string(self.session.state()).map_err(|error| error.to_string())?;
        let state: State = serde_json::from_str(&stored).map_err(|error| error.to_string())?;
        if state != *self.session.state() {
            return Err(format!("A8: the state came back as another one: {stored}"));
        }
        self.session = Session::resume(self.session.policy().clone(), state);
        Ok(())
    }

    fn replay(&self) -> Result<(), String> {
        let policy = self.session.policy().clone();
        let (replayed, last) = Session::replay(policy, Some(self.from.clone()), self.events.iter().cloned());
        if replayed != self.session {
            return Err("P2: a replay of the events so far gives another state".to_owned());
        }
        if last != self.last {
            return Err("P5: a replay of the events so far gives another last effect".to_owned());
        }
        Ok(())
    }
}

/// A block that shows the reminders as numbers has no line for each; one that nothing comes of says so.
fn tidy(out: &mut Vec<String>, lines: &[(usize, &str)]) {
    if lines.iter().any(|(_, text)| *text == "show reminders") {
        out.retain(|line| line.split(' ').nth(1) != Some("reminder"));
    }
    if out.is_empty() {
        out.push("nothing".to_owned());
    }
}
