//! Edits as the contract describes them, on elements of any shape.

use bytes::Bytes;
use serde_json::json;

use super::*;
use crate::v1::{Drop, InsertAfter, MoveAfter, ReplaceResult, edit};

fn edit(at: i64, change: edit::Change) -> Edit {
    Edit { message_index: at, change: Some(change), ..Default::default() }
}

fn insert(at: i64, json: &'static str) -> Edit {
    let content = Some(Content::NativeJson(Bytes::from_static(json.as_bytes())));
    edit(at, Change::InsertAfter(InsertAfter { content, kind: 0 }))
}

fn replace(at: i64, json: &'static str) -> Edit {
    let native_json = Bytes::from_static(json.as_bytes());
    Edit { native_json, ..edit(at, Change::ReplaceResult(ReplaceResult::default())) }
}

fn view(elements: &[Value], edits: Vec<Edit>) -> Option<String> {
    let shown = HeldEdits::read("r1".into(), edits)?.apply(elements)?;
    Some(serde_json::to_string(&shown).expect("a view is JSON"))
}

#[test]
fn elements_without_an_edit_are_the_callers_own() {
    let elements = [json!({"a": 1}), json!({"b": 1})];
    let held = HeldEdits::read("r1".into(), vec![replace(1, r#"{"b":1.50}"#)]).expect("a known kind");
    let shown = held.apply(&elements).expect("known places");
    assert!(std::ptr::eq(shown[0].own().expect("untouched"), &elements[0]));
    assert!(shown[1].own().is_none());
    assert_eq!(serde_json::to_string(&shown).expect("JSON"), r#"[{"a":1},{"b":1.50}]"#);
}

#[test]
fn anchors_hold_also_where_nothing_is_shown() {
    let elements = [json!(0), json!(1), json!(2), json!(3)];
    let edits = vec![
        insert(-1, "\"first\""),
        edit(1, Change::Drop(Drop {})),
        insert(1, "\"behind the dropped\""),
        edit(3, Change::MoveAfter(MoveAfter { after_index: 1 })),
        replace(3, "\"moved and edited\""),
    ];
    let expected = r#"["first",0,"behind the dropped","moved and edited",2]"#;
    assert_eq!(view(&elements, edits).as_deref(), Some(expected));
}

#[test]
fn edits_within_an_element_say_nothing_beyond_their_json() {
    let elements = [json!(0), json!(1)];
    let within = Edit { part_index: Some(0), ..edit(1, Change::Drop(Drop {})) };
    let last = Edit {
        message_index: 1,
        part_index: Some(2),
        native_json: Bytes::from_static(b"\"new\""),
        ..Default::default()
    };
    assert_eq!(view(&elements, vec![within, last]).as_deref(), Some(r#"[0,"new"]"#));
}

#[test]
fn lone_surrogates_and_numbers_pass_as_they_were_written() {
    let json = r#"{"text":"\ud83d alone","count":1.0e+2,"big":123456789012345678901234567890}"#;
    assert_eq!(view(&[json!(0)], vec![replace(0, json)]), Some(format!("[{json}]")));
}

#[test]
fn what_is_not_understood_is_not_guessed() {
    let elements = [json!(0)];
    let unknown = Edit { message_index: 0, ..Default::default() };
    for edits in [
        vec![unknown],
        vec![edit(1, Change::Drop(Drop {}))],
        vec![edit(-1, Change::Drop(Drop {}))],
        vec![insert(1, "1")],
        vec![edit(0, Change::MoveAfter(MoveAfter { after_index: 1 }))],
        vec![replace(0, "{")],
        vec![edit(
            0,
            Change::InsertAfter(InsertAfter { content: Some(Content::Message(Default::default())), kind: 0 }),
        )],
    ] {
        assert_eq!(view(&elements, edits), None);
    }
}

#[test]
fn a_view_that_was_written_out_gives_own_elements_back() {
    let elements = [json!({"a": 1}), json!({"a": 1}), json!({"b": 2})];
    let digests: Vec<Digest> = elements.iter().map(|it| Digest::of(it.to_string().as_bytes())).collect();
    let written = br#"[{"a":1},{"new":0},{"a":1},{"a":1}]"#;
    let shown = read_full_view(&elements, &digests, written).expect("an array");
    assert!(std::ptr::eq(shown[0].own().expect("untouched"), &elements[0]));
    assert!(std::ptr::eq(shown[2].own().expect("untouched"), &elements[1]));
    assert!(shown[1].own().is_none() && shown[3].own().is_none());
    assert!(read_full_view(&elements, &digests, b"{}").is_err());
}
