//! Parts of an original to ask for. Characters and lines count from 1.

use std::ops::{Bound, RangeBounds};

use crate::v1::slice::Selection;
use crate::v1::{CharRange, LineRange, PatternMatch, Slice};

/// Some lines of what `reference` names: `lines("t12", 1..=40)`, `lines("t12", 200..)`.
pub fn lines(reference: impl Into<String>, range: impl RangeBounds<i64>) -> Slice {
    let (first, last) = ends(range);
    let line_count = last.map(|last| last.saturating_sub(first.max(1)).saturating_add(1).max(0));
    slice(reference, Selection::Lines(LineRange { start_line: first, line_count }))
}

/// Some characters of what `reference` names.
pub fn chars(reference: impl Into<String>, range: impl RangeBounds<i64>) -> Slice {
    let (start_char, end_char) = ends(range);
    slice(reference, Selection::Chars(CharRange { start_char, end_char }))
}

/// The lines that hold a text, with `context_lines` around each.
pub fn containing(reference: impl Into<String>, text: impl Into<String>, context_lines: i32) -> Slice {
    let found = PatternMatch { pattern: text.into(), regex: false, context_lines };
    slice(reference, Selection::Pattern(found))
}

/// The lines that match an RE2 expression, with `context_lines` around each.
pub fn matching(reference: impl Into<String>, expression: impl Into<String>, context_lines: i32) -> Slice {
    let found = PatternMatch { pattern: expression.into(), regex: true, context_lines };
    slice(reference, Selection::Pattern(found))
}

fn slice(reference: impl Into<String>, selection: Selection) -> Slice {
    Slice { r#ref: reference.into(), selection: Some(selection), max_chars: None }
}

/// The first and the last member; `None`: to the end.
fn ends(range: impl RangeBounds<i64>) -> (i64, Option<i64>) {
    let first = match range.start_bound() {
        Bound::Included(first) => *first,
        Bound::Excluded(before) => before.saturating_add(1),
        Bound::Unbounded => 1,
    };
    let last = match range.end_bound() {
        Bound::Included(last) => Some(*last),
        Bound::Excluded(behind) => Some(behind.saturating_sub(1)),
        Bound::Unbounded => None,
    };
    (first, last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_become_what_the_contract_counts() {
        let count = |slice: Slice| match slice.selection {
            Some(Selection::Lines(range)) => (range.start_line, range.line_count),
            _ => unreachable!("lines were asked for"),
        };
        assert_eq!(count(lines("t1", 3..=5)), (3, Some(3)));
        assert_eq!(count(lines("t1", 3..5)), (3, Some(2)));
        assert_eq!(count(lines("t1", 0..=5)), (0, Some(5)));
        assert_eq!(count(lines("t1", 7..)), (7, None));
        let (first, last) = (7, 3);
        assert_eq!(count(lines("t1", first..=last)), (7, Some(0)));
    }
}
