//! One original, verbatim and of any size.

use bytes::Bytes;
use tonic::Streaming;

use crate::error::{Error, ErrorKind, Result};
use crate::transport::{Transport, within};
use crate::v1::{ReadToolResultRequest, ReadToolResultResponse};

type Chunks = Streaming<ReadToolResultResponse>;

/// Reads one original piece by piece. A stream that breaks goes on where it ended.
#[derive(Debug)]
pub struct ResultReader {
    transport: Transport,
    session_id: String,
    reference: String,
    stream: Option<Chunks>,
    /// Where the next chunk begins.
    offset: i64,
    /// Where the last stream broke.
    broken_at: Option<i64>,
    /// Bytes of a character whose end has not come yet.
    rest: Vec<u8>,
    is_done: bool,
}

impl ResultReader {
    pub(crate) fn new(transport: Transport, session_id: String, reference: String) -> Self {
        Self {
            transport,
            session_id,
            reference,
            stream: None,
            offset: 0,
            broken_at: None,
            rest: Vec::new(),
            is_done: false,
        }
    }

    /// The next piece; `None`: that was the last one. Half of a character, which texts out of JSON can hold and a
    /// `String` cannot, is shown as U+FFFD; [`ResultReader::next_bytes`] has it.
    pub async fn next(&mut self) -> Result<Option<String>> {
        while let Some(bytes) = self.next_bytes().await? {
            self.rest.extend_from_slice(&bytes);
            let text = take_text(&mut self.rest);
            if !text.is_empty() {
                return Ok(Some(text));
            }
        }
        Ok(None)
    }

    /// The next piece as the bytes of its UTF-8, in which half of a character is the three bytes that it would have.
    pub async fn next_bytes(&mut self) -> Result<Option<Bytes>> {
        while !self.is_done {
            match self.receive().await {
                Ok(None) => self.is_done = true,
                Ok(Some(chunk)) if !chunk.found => {
                    self.is_done = true;
                    let message =
                        format!("{:?} names no result of this session, or several: use a ref", self.reference);
                    return Err(Error::local(ErrorKind::ResultNotFound, message));
                }
                Ok(Some(chunk)) => {
                    self.offset = chunk.offset_bytes + chunk.data.len() as i64;
                    if !chunk.data.is_empty() {
                        return Ok(Some(chunk.data));
                    }
                }
                Err(error) if error.kind().is_unavailable() && self.broken_at != Some(self.offset) => {
                    (self.broken_at, self.stream) = (Some(self.offset), None);
                }
                Err(error) => {
                    self.is_done = true;
                    return Err(error);
                }
            }
        }
        Ok(None)
    }

    /// All that is left, as one text.
    pub async fn read_to_end(&mut self) -> Result<String> {
        let mut text = String::new();
        while let Some(piece) = self.next().await? {
            text.push_str(&piece);
        }
        Ok(text)
    }

    async fn receive(&mut self) -> Result<Option<ReadToolResultResponse>> {
        if let Some(stream) = &mut self.stream {
            return within(None, stream.message()).await;
        }
        let message = ReadToolResultRequest {
            session_id: self.session_id.clone(),
            r#ref: self.reference.clone(),
            offset_bytes: self.offset,
            limit_bytes: None,
        };
        let mut attempts = self.transport.options.retry.attempts();
        let (stream, first) = loop {
            match self.open(message.clone()).await {
                Ok(opened) => break opened,
                Err(error) => attempts.wait_after(error).await?,
            }
        };
        self.stream = Some(stream);
        Ok(first)
    }

    /// A stream and its first message, with which failures of the call come.
    async fn open(&self, message: ReadToolResultRequest) -> Result<(Chunks, Option<ReadToolResultResponse>)> {
        let request = self.transport.request(message, None);
        let mut stream = within(None, self.transport.condense().read_tool_result(request)).await?.into_inner();
        let first = within(None, stream.message()).await?;
        Ok((stream, first))
    }
}

/// Takes the characters that are complete. What is none is shown as U+FFFD, half of a character as one of them.
fn take_text(rest: &mut Vec<u8>) -> String {
    let mut text = String::new();
    let mut bytes = rest.as_slice();
    while !bytes.is_empty() {
        let (valid, wrong) = match std::str::from_utf8(bytes) {
            Ok(valid) => (valid.len(), 0),
            Err(error) => (error.valid_up_to(), error.error_len().unwrap_or(0)),
        };
        text.push_str(std::str::from_utf8(&bytes[..valid]).unwrap_or_default());
        bytes = &bytes[valid..];
        match bytes {
            [0xed, 0xa0..=0xbf, _, ..] => bytes = &bytes[3..],
            _ if wrong > 0 => bytes = &bytes[wrong..],
            _ => break,
        }
        text.push(char::REPLACEMENT_CHARACTER);
    }
    *rest = bytes.to_vec();
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_whole_wherever_a_chunk_ends() {
        let original = "a🙂é漢";
        for cut in 0..=original.len() {
            let (mut rest, mut text) = (Vec::new(), String::new());
            for chunk in [&original.as_bytes()[..cut], &original.as_bytes()[cut..]] {
                rest.extend_from_slice(chunk);
                text.push_str(&take_text(&mut rest));
            }
            assert_eq!((text.as_str(), rest.len()), (original, 0));
        }
    }

    #[test]
    fn half_of_a_character_is_shown_as_one_replacement() {
        let mut rest = b"a\xed\xa0\xbdb\xffc\xed\xb9\x82\xed\x9f\xbf\xf0\x9f".to_vec();
        assert_eq!(take_text(&mut rest), "a\u{fffd}b\u{fffd}c\u{fffd}\u{d7ff}");
        assert_eq!(rest, b"\xf0\x9f");
    }
}
