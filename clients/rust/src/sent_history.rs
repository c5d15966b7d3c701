//! What the server is known to have of the caller's history.
//!
//! After every answered append there is a checkpoint: a length and its etag. The next delta starts at the last
//! checkpoint before the place where the caller's list parts from what was sent. When the server turns out to have
//! something else, an earlier checkpoint that it confirms takes its place, and base 0 with everything is always right.
//!
//! Values are immutable: calls that overlap each work on the value they started with, and whichever ends later leaves a
//! value that was true when the server answered.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

const MAX_CHECKPOINTS: usize = 128;

/// What stands for an element that was sent: good for comparing within one process, as its keys are random.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Digest(u64, u64);

impl Digest {
    pub(crate) fn of(text: &[u8]) -> Self {
        static KEYS: LazyLock<[RandomState; 2]> = LazyLock::new(|| [RandomState::new(), RandomState::new()]);
        Self(KEYS[0].hash_one(text), KEYS[1].hash_one(text))
    }
}

/// A state of the transcript.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Checkpoint {
    pub length: usize,
    pub etag: String,
}

/// Digests of the elements that were sent, and the checkpoints, ascending.
#[derive(Clone, Debug, Default)]
pub(crate) struct SentHistory {
    digests: Vec<Digest>,
    checkpoints: Vec<Checkpoint>,
}

impl SentHistory {
    /// How many elements at the head of a list are what was sent.
    pub(crate) fn count_unchanged(&self, digests: &[Digest]) -> usize {
        self.digests.iter().zip(digests).take_while(|(sent, own)| sent == own).count()
    }

    /// The latest checkpoint within that many elements.
    pub(crate) fn base_for(&self, unchanged: usize) -> Checkpoint {
        self.checkpoints.iter().rev().find(|it| it.length <= unchanged).cloned().unwrap_or_default()
    }

    /// Where to send from after the server has refused a base: before it, and where the server agrees.
    ///
    /// An etag of ours at the server's own length has to be the server's. Below that length, or up to a common length
    /// that the server names, the latest checkpoint is the best guess.
    pub(crate) fn base_after_mismatch(&self, refused: &Checkpoint, metadata: &HashMap<String, String>) -> Checkpoint {
        let number = |key: &str| metadata.get(key).and_then(|text| text.parse::<usize>().ok());
        let (common, length) = (number("commonLength"), number("serverLength"));
        let etag = metadata.get("serverEtag").map(String::as_str).unwrap_or_default();
        let is_likely = |it: &&Checkpoint| match (common, length) {
            (Some(common), _) => it.length <= common,
            (None, Some(length)) => it.length < length || (it.length == length && it.etag == etag),
            (None, None) => true,
        };
        let earlier = self.checkpoints.iter().rev().filter(|it| it.length < refused.length);
        earlier.into_iter().find(is_likely).cloned().unwrap_or_default()
    }

    /// After an answer to a delta from `base`: the server has exactly these elements, at this etag.
    pub(crate) fn extended(&self, base: &Checkpoint, digests: Vec<Digest>, etag: String) -> Self {
        let new = Checkpoint { length: digests.len(), etag };
        let is_kept = |it: &&Checkpoint| it.length <= base.length && it.length < new.length;
        let mut checkpoints: Vec<Checkpoint> = self.checkpoints.iter().filter(is_kept).cloned().collect();
        checkpoints.push(new);
        Self { digests, checkpoints: thinned(checkpoints) }
    }
}

/// At most `MAX_CHECKPOINTS`: of the older half every second one goes, so that early bases get rare, not absent.
fn thinned(mut checkpoints: Vec<Checkpoint>) -> Vec<Checkpoint> {
    if checkpoints.len() > MAX_CHECKPOINTS {
        let mut place = 0;
        checkpoints.retain(|_| {
            place += 1;
            place > MAX_CHECKPOINTS / 2 || place % 2 == 1
        });
    }
    checkpoints
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digests(texts: &[&str]) -> Vec<Digest> {
        texts.iter().map(|text| Digest::of(text.as_bytes())).collect()
    }

    fn sent() -> SentHistory {
        let first = SentHistory::default().extended(&Checkpoint::default(), digests(&["a"]), "e1".into());
        let second = first.extended(&first.base_for(1), digests(&["a", "b", "c"]), "e3".into());
        second.extended(&second.base_for(3), digests(&["a", "b", "c", "d"]), "e4".into())
    }

    #[test]
    fn a_list_that_parts_goes_back_to_the_last_checkpoint_before() {
        let sent = sent();
        assert_eq!(sent.count_unchanged(&digests(&["a", "b", "x", "d", "e"])), 2);
        assert_eq!(sent.base_for(2).length, 1);
        assert_eq!(sent.base_for(3), Checkpoint { length: 3, etag: "e3".into() });
        assert_eq!(sent.base_for(0), Checkpoint::default());
    }

    #[test]
    fn a_rewound_answer_forgets_what_lay_behind() {
        let sent = sent();
        let rewound = sent.extended(&sent.base_for(1), digests(&["a", "x"]), "f2".into());
        let lengths: Vec<usize> = rewound.checkpoints.iter().map(|it| it.length).collect();
        assert_eq!(lengths, [1, 2]);
    }

    #[test]
    fn a_refused_base_is_followed_by_one_that_the_server_may_know() {
        let sent = sent();
        let refused = sent.base_for(4);
        let after = |facts: &[(&str, &str)]| {
            let facts = facts.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
            sent.base_after_mismatch(&refused, &facts).length
        };
        assert_eq!(after(&[("serverLength", "3"), ("serverEtag", "e3")]), 3);
        assert_eq!(after(&[("serverLength", "3"), ("serverEtag", "other")]), 1);
        assert_eq!(after(&[("serverLength", "9"), ("serverEtag", "other"), ("commonLength", "2")]), 1);
        assert_eq!(after(&[("serverLength", "0"), ("serverEtag", "")]), 0);
        assert_eq!(after(&[]), 3);
    }

    #[test]
    fn checkpoints_get_rare_and_never_more_than_the_limit() {
        let mut sent = SentHistory::default();
        let mut all = Vec::new();
        for number in 0..1000 {
            let base = sent.base_for(number);
            all.push(Digest::of(&number.to_le_bytes()));
            sent = sent.extended(&base, all.clone(), number.to_string());
            assert!(sent.checkpoints.len() <= MAX_CHECKPOINTS);
            assert!(sent.checkpoints.windows(2).all(|pair| pair[0].length < pair[1].length));
        }
        assert_eq!(sent.base_for(1000).length, 1000);
        assert_ne!(sent.base_for(60).length, 0);
    }
}
