//! One original, verbatim and of any size.

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

    /// The next piece; `None`: that was the last one.
    pub async fn next(&mut self) -> Result<Option<String>> {
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
                    self.rest.extend_from_slice(&chunk.data);
                    let text = self.take_text();
                    if !text.is_empty() {
                        return Ok(Some(text));
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

    /// The characters that are complete.
    fn take_text(&mut self) -> String {
        let complete = match std::str::from_utf8(&self.rest) {
            Ok(text) => text.len(),
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Err(_) => self.rest.len(),
        };
        let rest = self.rest.split_off(complete);
        let text = std::mem::replace(&mut self.rest, rest);
        String::from_utf8(text).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }
}
