//! The view: the caller's own elements with the edits of the service applied. raw + edits = view.
//!
//! Everything that happens within an element is in the JSON that an edit brings; what is left is to drop, to insert and
//! to move elements.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::{Error, ErrorKind, Result};
use crate::sent_history::Digest;
use crate::v1::edit::Change;
use crate::v1::insert_after::Content;
use crate::v1::{self, Edit};

/// What to send to the model instead of the raw history, and what the service says about it.
///
/// Do not hand a view to the service; it wants the raw history.
#[derive(Clone, Debug)]
pub struct View<'a, T> {
    /// The messages. They serialize as one JSON array of the provider's shape.
    pub messages: Vec<Shown<'a, T>>,
    /// What turned the raw history into the view.
    pub edits: Arc<[Edit]>,
    /// The whole answer: `reclaim`, `cache`, `applied`, `advice`, `violations`, `status_line` and so on. Its own edits
    /// are empty; they are in `edits`.
    pub response: v1::PruneMessagesResponse,
}

impl<T> View<'_, T> {
    /// Whether the view differs from the raw history.
    pub fn pruned(&self) -> bool {
        self.response.pruned
    }

    /// One line for people about the state of the session.
    pub fn status_line(&self) -> &str {
        &self.response.status_line
    }
}

impl<T: Serialize> View<'_, T> {
    /// The messages as JSON values, for those who do not serialize them right away. Number forms beyond what
    /// `serde_json::Value` holds are lost here, and only here.
    pub fn to_values(&self) -> serde_json::Result<Vec<Value>> {
        self.messages.iter().map(|shown| serde_json::from_str(&serde_json::to_string(shown)?)).collect()
    }
}

/// One element of a view.
#[derive(Debug)]
pub enum Shown<'a, T> {
    /// An element of the caller, untouched.
    Own(&'a T),
    /// An element that the service has edited or inserted, as the JSON that it wrote.
    Written(Arc<RawValue>),
}

impl<T> Shown<'_, T> {
    /// The element of the caller; `None`: the service wrote it.
    pub fn own(&self) -> Option<&T> {
        match self {
            Self::Own(element) => Some(element),
            Self::Written(_) => None,
        }
    }
}

impl<T> Clone for Shown<'_, T> {
    fn clone(&self) -> Self {
        match self {
            Self::Own(element) => Self::Own(element),
            Self::Written(json) => Self::Written(json.clone()),
        }
    }
}

impl<T: Serialize> Serialize for Shown<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Self::Own(element) => element.serialize(serializer),
            Self::Written(json) => json.serialize(serializer),
        }
    }
}

/// A list of edits, understood, and the revision that it belongs to.
#[derive(Debug, Default)]
pub(crate) struct HeldEdits {
    pub revision: String,
    pub edits: Arc<[Edit]>,
    changes: Vec<(i64, ElementChange)>,
}

#[derive(Debug)]
enum ElementChange {
    Replace(Arc<RawValue>),
    Drop,
    Insert(Arc<RawValue>),
    MoveAfter(i64),
}

impl HeldEdits {
    /// Reads edits. `None`: they are of a kind that this client does not know; the server has to write the view out.
    pub(crate) fn read(revision: String, edits: Vec<Edit>) -> Option<Self> {
        let mut changes = Vec::with_capacity(edits.len());
        for edit in &edits {
            let (at, within) = (edit.message_index, edit.part_index.is_some());
            if edit.change.is_none() && (!within || edit.native_json.is_empty()) {
                return None;
            }
            if !edit.native_json.is_empty() {
                changes.push((at, ElementChange::Replace(element(&edit.native_json)?)));
            }
            if within {
                continue;
            }
            match &edit.change {
                Some(Change::Drop(_)) => changes.push((at, ElementChange::Drop)),
                Some(Change::MoveAfter(to)) => changes.push((at, ElementChange::MoveAfter(to.after_index))),
                Some(Change::InsertAfter(insert)) => match &insert.content {
                    Some(Content::NativeJson(json)) => changes.push((at, ElementChange::Insert(element(json)?))),
                    _ => return None,
                },
                _ => {}
            }
        }
        Some(Self { revision, edits: edits.into(), changes })
    }

    /// The view of a history. `None`: an edit is about a place that the history does not have.
    ///
    /// Positions count in the raw history throughout, and an element that moves is edited first, whatever the order.
    pub(crate) fn apply<'a, T>(&self, elements: &'a [T]) -> Option<Vec<Shown<'a, T>>> {
        let mut shown: Vec<Shown<'a, T>> = elements.iter().map(Shown::Own).collect();
        let mut is_absent = vec![false; elements.len()];
        let mut behind: HashMap<i64, Vec<Anchored>> = HashMap::new();
        let anchors = -1..(elements.len() as i64).max(1);
        for (at, change) in &self.changes {
            let place = usize::try_from(*at).ok().filter(|place| *place < elements.len());
            match change {
                ElementChange::Replace(json) => shown[place?] = Shown::Written(json.clone()),
                ElementChange::Drop => is_absent[place?] = true,
                ElementChange::Insert(json) if anchors.contains(at) => {
                    behind.entry(*at).or_default().push(Anchored::Inserted(json.clone()));
                }
                ElementChange::MoveAfter(to) if anchors.contains(to) => {
                    is_absent[place?] = true;
                    behind.entry(*to).or_default().push(Anchored::Moved(place?));
                }
                ElementChange::Insert(_) | ElementChange::MoveAfter(_) => return None,
            }
        }
        let mut view = Vec::with_capacity(elements.len());
        for at in -1..elements.len() as i64 {
            if let Ok(place) = usize::try_from(at)
                && !is_absent[place]
            {
                view.push(shown[place].clone());
            }
            for anchored in behind.remove(&at).unwrap_or_default() {
                view.push(match anchored {
                    Anchored::Inserted(json) => Shown::Written(json),
                    Anchored::Moved(place) => shown[place].clone(),
                });
            }
        }
        Some(view)
    }
}

enum Anchored {
    Inserted(Arc<RawValue>),
    Moved(usize),
}

fn element(json: &[u8]) -> Option<Arc<RawValue>> {
    let text = std::str::from_utf8(json).ok()?;
    RawValue::from_string(text.to_owned()).ok().map(Arc::from)
}

/// The view that a server has written out. Elements that the caller has are the caller's own.
pub(crate) fn read_full_view<'a, T>(elements: &'a [T], digests: &[Digest], json: &[u8]) -> Result<Vec<Shown<'a, T>>> {
    let written: Vec<Box<RawValue>> = serde_json::from_slice(json)
        .map_err(|error| Error::local(ErrorKind::Other, format!("the server's view is no JSON array: {error}")))?;
    let mut own: HashMap<Digest, VecDeque<&'a T>> = HashMap::new();
    for (element, digest) in elements.iter().zip(digests) {
        own.entry(*digest).or_default().push_back(element);
    }
    let shown = written.into_iter().map(|json| {
        let same = own.get_mut(&Digest::of(json.get().as_bytes())).and_then(VecDeque::pop_front);
        same.map_or_else(|| Shown::Written(Arc::from(json)), Shown::Own)
    });
    Ok(shown.collect())
}

#[cfg(test)]
mod tests;
