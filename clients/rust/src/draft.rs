//! A caller's list on its way to the server: compared with what was sent, and written as JSON where it is new.
//!
//! This is the door. What cannot be sent is refused here, with its place in the list and before anything has left.

use bytes::Bytes;
use serde::Serialize;

use crate::error::{Error, ErrorKind, Result};
use crate::format::Format;
use crate::sent_history::{Checkpoint, Digest, SentHistory};
use crate::v1::transcript_delta::Payload;
use crate::v1::{AppendMessagesRequest, MessageFormat, NativeMessages, SessionConfig, TranscriptDelta};

/// One list of the caller, compared with what was sent. Serves one call.
pub(crate) struct Draft<'a, T> {
    elements: &'a [T],
    format: Format,
    pub digests: Vec<Digest>,
    /// Bytes of each element as JSON.
    sizes: Vec<usize>,
}

impl<'a, T: Serialize> Draft<'a, T> {
    pub(crate) fn read(elements: &'a [T], format: Format, max_message_bytes: usize) -> Result<Self> {
        let mut draft = Self {
            elements,
            format,
            digests: Vec::with_capacity(elements.len()),
            sizes: Vec::with_capacity(elements.len()),
        };
        let mut text = Vec::new();
        for (index, element) in elements.iter().enumerate() {
            text.clear();
            serde_json::to_writer(&mut text, element)
                .map_err(|error| invalid(index, format_args!("cannot be written as JSON: {error}")))?;
            if text.first() != Some(&b'{') {
                return Err(invalid(index, format_args!("is no JSON object")));
            }
            if text.len() > max_message_bytes {
                return Err(too_large(index, text.len(), max_message_bytes));
            }
            draft.digests.push(Digest::of(&text));
            draft.sizes.push(text.len());
        }
        Ok(draft)
    }

    pub(crate) fn len(&self) -> usize {
        self.elements.len()
    }

    /// The latest checkpoint that the list agrees with.
    pub(crate) fn base(&self, sent: &SentHistory) -> Checkpoint {
        sent.base_for(sent.count_unchanged(&self.digests))
    }

    /// The size of the elements behind a base.
    pub(crate) fn delta_bytes(&self, base: &Checkpoint) -> usize {
        self.sizes[base.length..].iter().map(|size| size + 1).sum()
    }

    /// Everything behind a base. An empty list is sent too: the transcript ends at the base then.
    pub(crate) fn delta(&self, base: &Checkpoint) -> Result<TranscriptDelta> {
        Ok(delta_at(base, self.payload(base.length, self.len())?))
    }

    /// Everything behind a base as the requests of an upload, at least one, of about that size. A larger element is
    /// alone in its chunk.
    pub(crate) fn chunks(
        &self,
        base: &Checkpoint,
        session_id: &str,
        config: Option<&SessionConfig>,
        size: usize,
    ) -> Result<Vec<AppendMessagesRequest>> {
        let mut chunks = Vec::new();
        let (mut start, mut filled) = (base.length, 0);
        for index in base.length..self.len() {
            if index > start && filled + self.sizes[index] > size {
                chunks.push(AppendMessagesRequest {
                    delta: Some(TranscriptDelta { payload: Some(self.payload(start, index)?), ..Default::default() }),
                    ..Default::default()
                });
                (start, filled) = (index, 0);
            }
            filled += self.sizes[index];
        }
        chunks.push(AppendMessagesRequest {
            delta: Some(TranscriptDelta { payload: Some(self.payload(start, self.len())?), ..Default::default() }),
            ..Default::default()
        });
        let first = &mut chunks[0];
        first.session_id = session_id.to_owned();
        first.config = config.cloned();
        first.delta = first.delta.take().and_then(|delta| delta.payload).map(|payload| delta_at(base, payload));
        Ok(chunks)
    }

    fn payload(&self, start: usize, end: usize) -> Result<Payload> {
        let size: usize = self.sizes[start..end].iter().map(|size| size + 1).sum();
        let mut json = Vec::with_capacity(size + 2);
        json.push(b'[');
        for (index, element) in self.elements[start..end].iter().enumerate() {
            if index > 0 {
                json.push(b',');
            }
            serde_json::to_writer(&mut json, element)
                .map_err(|error| invalid(start + index, format_args!("cannot be written as JSON: {error}")))?;
        }
        json.push(b']');
        Ok(Payload::Native(NativeMessages { format: MessageFormat::from(self.format).into(), json: Bytes::from(json) }))
    }
}

fn delta_at(base: &Checkpoint, payload: Payload) -> TranscriptDelta {
    TranscriptDelta {
        base_length: base.length as i64,
        base_etag: base.etag.clone(),
        create_if_missing: true,
        payload: Some(payload),
    }
}

fn invalid(index: usize, what: std::fmt::Arguments<'_>) -> Error {
    Error::local(ErrorKind::MessageInvalid, format!("message {index} {what}"))
        .with_metadata([("messageIndex", index.to_string())])
}

fn too_large(index: usize, size: usize, limit: usize) -> Error {
    let message = format!(
        "message {index} has {size} bytes, more than the {limit} of one gRPC message: \
         make it smaller, or raise the limit of client and server"
    );
    Error::local(ErrorKind::MessageTooLarge, message).with_metadata([
        ("messageIndex", index.to_string()),
        ("bytes", size.to_string()),
        ("maxBytes", limit.to_string()),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn text(payload: Option<Payload>) -> String {
        match payload {
            Some(Payload::Native(native)) => String::from_utf8(native.json.to_vec()).expect("JSON is UTF-8"),
            _ => unreachable!("a native session was asked for"),
        }
    }

    #[test]
    fn chunks_together_are_the_delta_and_only_the_first_says_where() {
        let elements: Vec<_> = (0..10).map(|number| json!({"content": "x".repeat(number * 10)})).collect();
        let draft = Draft::read(&elements, Format::OpenAiChat, 1000).expect("these can be sent");
        let base = Checkpoint { length: 2, etag: "e2".into() };
        let chunks = draft.chunks(&base, "s", None, 100).expect("these can be sent");
        assert!(chunks.len() > 2);
        let deltas: Vec<_> = chunks.iter().map(|chunk| chunk.delta.clone().expect("every chunk has one")).collect();
        assert_eq!((deltas[0].base_length, deltas[0].base_etag.as_str()), (2, "e2"));
        assert!(deltas[0].create_if_missing && chunks[0].session_id == "s");
        assert!(deltas[1..].iter().all(|it| !it.create_if_missing && it.base_length == 0));
        let sent: Vec<serde_json::Value> = deltas
            .into_iter()
            .flat_map(|it| serde_json::from_str::<Vec<serde_json::Value>>(&text(it.payload)).expect("an array"))
            .collect();
        assert_eq!(sent, elements[2..]);
    }

    #[test]
    fn nothing_new_is_an_empty_array_and_not_absent() {
        let elements = [json!({"role": "user"})];
        let draft = Draft::read(&elements, Format::OpenAiChat, 1000).expect("it can be sent");
        let base = Checkpoint { length: 1, etag: "e1".into() };
        assert_eq!(text(draft.delta(&base).expect("it can be sent").payload), "[]");
        assert_eq!(draft.chunks(&base, "s", None, 100).expect("it can be sent").len(), 1);
    }

    #[test]
    fn what_cannot_be_sent_is_refused_with_its_place() {
        let refused = |element: serde_json::Value| {
            let elements = [json!({}), element];
            let error = Draft::read(&elements, Format::OpenAiChat, 50).err().expect("it cannot be sent");
            assert_eq!(error.metadata()["messageIndex"], "1");
            error.kind()
        };
        assert_eq!(refused(json!("text")), ErrorKind::MessageInvalid);
        assert_eq!(refused(json!({"content": "x".repeat(50)})), ErrorKind::MessageTooLarge);
    }
}
