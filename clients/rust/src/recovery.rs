//! The tool by which a model gets originals back: its definition for each provider, and how its arguments are read.
//!
//! Register the definition from the first request of a session on: a list of tools that changes later breaks the
//! provider's prompt cache. Models write arguments in many ways; whatever is clear is taken, and the rest is answered
//! with a sentence that says what is wanted.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::format::Format;
use crate::slices;
use crate::v1::Slice;

/// The name of the tool. Stubs name it, so it must not be called otherwise.
pub const RECOVERY_TOOL_NAME: &str = "context_tree_query";

const DESCRIPTION: &str = "Returns the original, complete output of earlier tool calls that now appear only as a \
    summary or a stub. Pass the refs exactly as the stub or summary shows them, for example t12. For a long output ask \
    for a part by lines, chars or a pattern.";
const WANTED: &str = r#"Call it again with {"toolCallIds": ["t12"]}, the refs as the stub or summary shows them."#;
const WANTED_SLICES: &str =
    r#"{"ref": "t12", "lines": [1, 200]}, {"ref": "t12", "chars": [1, 5000]} or {"ref": "t12", "pattern": "x"}"#;

/// The definition as a member of the provider's list of tools; for Gemini, of its `functionDeclarations`.
pub fn recovery_tool(format: Format) -> Value {
    let name = RECOVERY_TOOL_NAME;
    match format {
        Format::OpenAiChat => json!({
            "type": "function",
            "function": {"name": name, "description": DESCRIPTION, "parameters": parameters()},
        }),
        Format::OpenAiResponses => json!({
            "type": "function", "name": name, "description": DESCRIPTION, "parameters": parameters(), "strict": false,
        }),
        Format::Anthropic => json!({"name": name, "description": DESCRIPTION, "input_schema": parameters()}),
        Format::Gemini | Format::Pi => json!({"name": name, "description": DESCRIPTION, "parameters": parameters()}),
    }
}

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "toolCallIds": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Refs of tool calls, such as t12, or tool call ids.",
            },
            "slices": {
                "type": "array",
                "description": "Optional: parts instead of whole outputs. Each names a ref of toolCallIds.",
                "items": {
                    "type": "object",
                    "properties": {
                        "ref": {"type": "string", "description": "A member of toolCallIds."},
                        "lines": {
                            "type": "array",
                            "items": {"type": "integer"},
                            "description": "First and last line, from 1, for example [2001, 2400].",
                        },
                        "chars": {
                            "type": "array",
                            "items": {"type": "integer"},
                            "description": "First and last character, from 1.",
                        },
                        "pattern": {"type": "string", "description": "Only the lines that contain this text."},
                        "regex": {"type": "boolean", "description": "Read pattern as an RE2 expression."},
                        "contextLines": {"type": "integer", "description": "Lines around each match."},
                    },
                    "required": ["ref"],
                },
            },
        },
        "required": ["toolCallIds"],
    })
}

/// The arguments of a call of the tool: the model's own text, or what was parsed from it.
#[derive(Clone, Debug)]
pub enum ToolArguments<'a> {
    /// JSON as the model has written it.
    Text(&'a str),
    /// The parsed value.
    Parsed(&'a Value),
}

impl<'a> From<&'a str> for ToolArguments<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a String> for ToolArguments<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a Value> for ToolArguments<'a> {
    fn from(value: &'a Value) -> Self {
        // Some providers hand a text over, others an object.
        value.as_str().map_or(Self::Parsed(value), Self::Text)
    }
}

/// What a model wants to read.
#[derive(Debug, PartialEq)]
pub(crate) struct ToolQuery {
    pub refs: Vec<String>,
    pub slices: Vec<Slice>,
}

/// The query in the arguments; otherwise the answer for the model.
pub(crate) fn read_arguments(arguments: ToolArguments<'_>) -> Result<ToolQuery, String> {
    let parsed;
    let value = match arguments {
        ToolArguments::Parsed(value) => value,
        ToolArguments::Text(text) => {
            parsed = serde_json::from_str(text).map_err(|_| refusal(text))?;
            &parsed
        }
    };
    if !value.is_object() {
        return Err(format!("The arguments of {RECOVERY_TOOL_NAME} are not an object. {WANTED}"));
    }
    let slices = members(&value["slices"], "slices")?.iter().map(slice).collect::<Result<Vec<_>, _>>()?;
    let mut refs = members(&value["toolCallIds"], "toolCallIds")?
        .into_iter()
        .map(|member| match member {
            Value::String(text) => Ok(text),
            _ => Err(format!("A member of toolCallIds is not a text. {WANTED}")),
        })
        .collect::<Result<Vec<_>, _>>()?;
    if refs.is_empty() {
        for part in &slices {
            if !refs.contains(&part.r#ref) {
                refs.push(part.r#ref.clone());
            }
        }
    }
    if refs.is_empty() {
        return Err(format!("{RECOVERY_TOOL_NAME} was called without refs. {WANTED}"));
    }
    Ok(ToolQuery { refs, slices })
}

/// What to say about a text that could not be read.
fn refusal(text: &str) -> String {
    // No string of this language can hold a lone surrogate; as JSON its escape is right all the same.
    if serde_json::from_str::<&RawValue>(text).is_ok() && has_surrogate_escape(text) {
        return format!("A member of toolCallIds holds half of a character. {WANTED}");
    }
    format!("The arguments of {RECOVERY_TOOL_NAME} are not valid JSON. {WANTED}")
}

fn has_surrogate_escape(text: &str) -> bool {
    text.as_bytes()
        .windows(4)
        .any(|it| it[..2] == *b"\\u" && it[2] | 0x20 == b'd' && matches!(it[3] | 0x20, b'8'..=b'9' | b'a'..=b'f'))
}

/// A list; a single member and a list written as text are taken for one.
fn members(value: &Value, name: &str) -> Result<Vec<Value>, String> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Array(members) => Ok(members.clone()),
        Value::String(text) if text.trim_start().starts_with(['[', '{']) => match serde_json::from_str(text) {
            Ok(Value::Array(members)) => Ok(members),
            Ok(Value::Null) => Ok(Vec::new()),
            Ok(member) => Ok(vec![member]),
            Err(_) => Err(format!("{name} is not valid JSON. {WANTED}")),
        },
        member => Ok(vec![member.clone()]),
    }
}

fn slice(value: &Value) -> Result<Slice, String> {
    find_slice(value).ok_or_else(|| format!("A member of slices is not clear. Use {WANTED_SLICES}."))
}

fn find_slice(value: &Value) -> Option<Slice> {
    let reference = value["ref"].as_str()?;
    let range = |(first, last): (i64, Option<i64>)| {
        let last = last.map_or(std::ops::Bound::Unbounded, std::ops::Bound::Included);
        (std::ops::Bound::Included(first), last)
    };
    if !value["lines"].is_null() {
        return Some(slices::lines(reference, range(first_and_last(&value["lines"])?)));
    }
    if !value["chars"].is_null() {
        return Some(slices::chars(reference, range(first_and_last(&value["chars"])?)));
    }
    if value["pattern"].is_null() {
        return Some(Slice { r#ref: reference.to_owned(), ..Default::default() });
    }
    let around = match &value["contextLines"] {
        Value::Null => 0,
        lines => i32::try_from(whole_number(lines)?).ok()?,
    };
    let pattern = value["pattern"].as_str()?;
    let is_regex = value["regex"] == Value::Bool(true);
    let select = if is_regex { slices::matching } else { slices::containing };
    Some(select(reference, pattern, around))
}

/// First and last: a list of one or two numbers, a text such as `10-40`, or one number.
fn first_and_last(value: &Value) -> Option<(i64, Option<i64>)> {
    let ends: Vec<Value> = match value {
        Value::Array(ends) => ends.clone(),
        Value::String(text) => text.replace('-', " ").split_whitespace().map(Value::from).collect(),
        Value::Number(_) => vec![value.clone(), value.clone()],
        _ => return None,
    };
    match ends.as_slice() {
        [first] => Some((whole_number(first)?, None)),
        [first, Value::Null] => Some((whole_number(first)?, None)),
        [first, last] => Some((whole_number(first)?, Some(whole_number(last)?))),
        _ => None,
    }
}

fn whole_number(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64().or_else(|| {
            let number = number.as_f64()?.trunc();
            (number.abs() < 9e15).then_some(number as i64)
        }),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ToolQuery, String> {
        read_arguments(text.into())
    }

    #[test]
    fn what_is_clear_is_taken() {
        let refs = |text| read(text).map(|query| query.refs).expect("it is clear");
        assert_eq!(refs(r#"{"toolCallIds": ["t1", "t2"]}"#), ["t1", "t2"]);
        assert_eq!(refs(r#"{"toolCallIds": "t1"}"#), ["t1"]);
        assert_eq!(refs(r#"{"toolCallIds": "[\"t1\", \"t2\"]"}"#), ["t1", "t2"]);
        assert_eq!(refs(r#"{"slices": [{"ref": "t3"}, {"ref": "t3"}]}"#), ["t3"]);
        let lines = |text| read(text).map(|query| query.slices).expect("it is clear");
        let wanted = vec![slices::lines("t1", 10..=40)];
        assert_eq!(lines(r#"{"toolCallIds": ["t1"], "slices": {"ref": "t1", "lines": [10, 40]}}"#), wanted);
        assert_eq!(lines(r#"{"toolCallIds": ["t1"], "slices": [{"ref": "t1", "lines": "10-40"}]}"#), wanted);
        let one = vec![slices::chars("t1", 7..=7)];
        assert_eq!(lines(r#"{"slices": [{"ref": "t1", "chars": 7}]}"#), one);
        let found = vec![slices::matching("t1", "a+", 2)];
        assert_eq!(lines(r#"{"slices": [{"ref": "t1", "pattern": "a+", "regex": true, "contextLines": 2}]}"#), found);
    }

    #[test]
    fn the_rest_is_answered_with_what_is_wanted() {
        for text in ["", "t1", "[]", "null", "{}", r#"{"toolCallIds": [1]}"#, r#"{"toolCallIds": "[t1"}"#] {
            let answer = read(text).expect_err(text);
            assert!(answer.contains(WANTED), "{answer}");
        }
        let half = read(r#"{"toolCallIds": ["\ud83d"]}"#).expect_err("half of a character");
        assert!(half.starts_with("A member of toolCallIds holds half of a character."), "{half}");
        assert_eq!(read(r#"{"toolCallIds": ["\ud83d\ude42"]}"#).map(|it| it.refs), Ok(vec!["🙂".to_owned()]));
        for slice in [r#"{"lines": [1]}"#, r#"{"ref": "t1", "lines": []}"#, r#"{"ref": "t1", "pattern": 1}"#, "7"] {
            let answer = read(&format!(r#"{{"slices": [{slice}]}}"#)).expect_err(slice);
            assert!(answer.contains(WANTED_SLICES), "{answer}");
        }
    }
}
