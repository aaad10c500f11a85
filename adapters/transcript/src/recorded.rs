use serde::Deserialize;
use session_todo::{Item, List, Status};

/// A list that the product recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded<'a> {
    /// Whose list it is.
    pub family: Family,
    /// The list as a JSON array of items, in the product's spelling.
    pub list: &'a str,
    /// The line on which it stands, from 1.
    pub line: u64,
}

/// Which of a product's tools a list belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// A tool that replaces the whole list: items have no ids.
    TodoWrite,
    /// Tools that change one task by its id.
    Tasks,
}

/// An item as a product recorded it.
#[derive(Debug, Deserialize)]
struct Known {
    #[serde(default)]
    id: Option<String>,
    #[serde(alias = "subject", alias = "title", alias = "step")]
    content: String,
    status: String,
}

/// What a recorded list says of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The recorded list can't be read.
    Unreadable,
    /// They are the same, as far as the product keeps its list.
    Agree {
        /// Whether either has an item: two empty lists say nothing.
        telling: bool,
    },
    /// They differ.
    Differ {
        /// How, in a few words.
        why: String,
        /// The arguments of a `todo_write` that puts the recorded list in place, with what it leaves out of
        /// items that are ours, and with closed items that the product has dropped.
        correction: String,
    },
}

impl Recorded<'_> {
    /// Compares with the list as it was replayed. They agree when each recorded item is ours with its status,
    /// and each open item of ours is recorded (R8).
    #[must_use]
    pub fn against(&self, ours: &List) -> Verdict {
        let Ok(known) = serde_json::from_str::<Vec<Known>>(self.list) else { return Verdict::Unreadable };
        let Some(statuses) = known.iter().map(|known| status(&known.status)).collect::<Option<Vec<_>>>() else {
            return Verdict::Unreadable;
        };
        let known: Vec<(Known, Status)> = known.into_iter().zip(statuses).collect();
        let places = self.places(&known, ours.items());
        match difference(&known, &places, ours.items()) {
            None => Verdict::Agree { telling: !known.is_empty() || !ours.items().is_empty() },
            Some(why) => Verdict::Differ { why, correction: correction(&known, &places, ours.items()) },
        }
    }

    /// Where each recorded item stands in our list: by id, or by content, each of ours once.
    fn places(&self, known: &[(Known, Status)], ours: &[Item]) -> Vec<Option<usize>> {
        let mut taken = vec![false; ours.len()];
        let mut places = Vec::with_capacity(known.len());
        for (item, status) in known {
            let is_same = |our: &Item| match self.family {
                Family::Tasks => item.id.as_deref() == Some(&our.id),
                Family::TodoWrite => item.content == our.content,
            };
            let free =
                |(at, our): (usize, &Item)| (!taken.get(at).is_some_and(|taken| *taken) && is_same(our)).then_some(at);
            // Of two with one content, the one with the status comes first.
            let exact = ours.iter().enumerate().filter(|(_, our)| our.status == *status).find_map(free);
            let place = exact.or_else(|| ours.iter().enumerate().find_map(free));
            if let Some(slot) = place.and_then(|at| taken.get_mut(at)) {
                *slot = true;
            }
            places.push(place);
        }
        places
    }
}

fn difference(known: &[(Known, Status)], places: &[Option<usize>], ours: &[Item]) -> Option<String> {
    for ((item, status), place) in known.iter().zip(places) {
        let name = item.id.as_deref().unwrap_or(&item.content);
        let Some(our) = place.and_then(|at| ours.get(at)) else {
            return Some(format!("recorded {name:?} is not on the replayed list"));
        };
        if our.status != *status {
            return Some(format!("{name:?} is recorded as {}, replayed as {}", status.as_str(), our.status.as_str()));
        }
        if our.content != item.content {
            return Some(format!("{name:?} is recorded with another content"));
        }
    }
    let unrecorded = |(at, our): &(usize, &Item)| our.status.is_open() && !places.contains(&Some(*at));
    let (_, lost) = ours.iter().enumerate().find(unrecorded)?;
    Some(format!("#{} is open on the replayed list and not recorded", lost.id))
}

/// The recorded list with what only our items have, behind the closed items of ours that it has dropped.
fn correction(known: &[(Known, Status)], places: &[Option<usize>], ours: &[Item]) -> String {
    let is_dropped = |(at, our): &(usize, &Item)| !our.status.is_open() && !places.contains(&Some(*at));
    let mut items: Vec<Item> = ours.iter().enumerate().filter(is_dropped).map(|(_, our)| our.clone()).collect();
    for ((item, status), place) in known.iter().zip(places) {
        let our = place.and_then(|at| ours.get(at));
        items.push(Item {
            id: item.id.clone().or_else(|| our.map(|our| our.id.clone())).unwrap_or_default(),
            content: item.content.clone(),
            status: *status,
            description: our.and_then(|our| our.description.clone()),
            extras: our.map(|our| our.extras.clone()).unwrap_or_default(),
        });
    }
    Item::to_arguments(&items)
}

fn status(word: &str) -> Option<Status> {
    Some(match word {
        "pending" | "todo" | "not-started" => Status::Pending,
        "in_progress" | "in-progress" => Status::InProgress,
        "completed" | "done" => Status::Completed,
        "cancelled" => Status::Cancelled,
        "blocked" => Status::Blocked,
        _ => return None,
    })
}
