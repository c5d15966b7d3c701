//! Brings a caller's list to the server, whatever has happened before: lost answers, rewinds, a server that forgot.
//!
//! A delta starts at the latest checkpoint that the list still agrees with. If the server refuses that base, the next
//! try starts at an earlier one, and after a few tries at 0, which the server never refuses. Deltas that are too big for
//! one request are uploaded in chunks first; then nothing is left to send with the request itself.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use futures_core::Stream;
use serde::Serialize;

use crate::draft::Draft;
use crate::error::{Error, ErrorKind, Result};
use crate::format::Format;
use crate::sent_history::{Checkpoint, SentHistory};
use crate::transport::{Transport, within};
use crate::v1::{AppendMessagesRequest, PruneMessagesRequest, PruneMessagesResponse, SessionConfig, TranscriptDelta};

pub(crate) const MAX_ATTEMPTS: usize = 5;

/// The appends of one session, and what the server is known to have of its history.
#[derive(Debug)]
pub(crate) struct Delivery {
    pub session_id: String,
    pub format: Format,
    pub config: Option<SessionConfig>,
    pub transport: Transport,
    pub sent: Mutex<Arc<SentHistory>>,
}

/// A list, and what was known to be sent when the call began.
pub(crate) struct Parcel<'a, T> {
    pub draft: Draft<'a, T>,
    sent: Arc<SentHistory>,
}

impl Delivery {
    pub(crate) fn parcel<'a, T: Serialize>(&self, elements: &'a [T]) -> Result<Parcel<'a, T>> {
        let draft = Draft::read(elements, self.format, self.transport.options.max_message_bytes)?;
        Ok(Parcel { draft, sent: self.sent() })
    }

    /// Assumes from now on that the server has nothing.
    pub(crate) fn forget(&self) {
        self.remember(Arc::default());
    }

    /// Delivers a list with a `PruneMessages` like `template`. Not `stored`: a dry run, which changes nothing anywhere.
    pub(crate) async fn prune<T: Serialize>(
        &self,
        parcel: &mut Parcel<'_, T>,
        stored: bool,
        template: PruneMessagesRequest,
    ) -> Result<PruneMessagesResponse> {
        let mut base = parcel.draft.base(&parcel.sent);
        let mut uploads = false;
        for _ in 0..MAX_ATTEMPTS {
            uploads |= stored && parcel.draft.delta_bytes(&base) > self.transport.options.unary_delta_bytes;
            let error = match self.try_prune(parcel, stored, &template, &mut base, &mut uploads).await {
                Ok(response) => return Ok(response),
                Err(error) => error,
            };
            match error.kind() {
                ErrorKind::DeltaTooLarge if stored && !uploads => uploads = true,
                ErrorKind::TranscriptMismatch => base = step_back(parcel, &base, error)?,
                _ => return Err(error),
            }
        }
        Err(disagreement(&parcel.draft))
    }

    async fn try_prune<T: Serialize>(
        &self,
        parcel: &mut Parcel<'_, T>,
        stored: bool,
        template: &PruneMessagesRequest,
        base: &mut Checkpoint,
        uploads: &mut bool,
    ) -> Result<PruneMessagesResponse> {
        if *uploads {
            *base = self.upload(parcel, base).await?;
            *uploads = false;
        }
        let request = PruneMessagesRequest { delta: Some(parcel.draft.delta(base)?), ..template.clone() };
        let call = |request| {
            let mut stub = self.transport.condense();
            async move { stub.prune_messages(request).await }
        };
        let response = self.transport.call(request, call).await?;
        if stored {
            self.accept(parcel, base, response.transcript_length, response.transcript_etag.clone())?;
        }
        Ok(response)
    }

    /// What is new in a list, if that fits into one request.
    pub(crate) fn find_small_delta<T: Serialize>(&self, parcel: &Parcel<'_, T>) -> Result<Option<TranscriptDelta>> {
        let base = parcel.draft.base(&parcel.sent);
        let is_small = parcel.draft.delta_bytes(&base) <= self.transport.options.unary_delta_bytes;
        if is_small { parcel.draft.delta(&base).map(Some) } else { Ok(None) }
    }

    /// Delivers a list by an upload. Returns the delta that says: exactly this.
    pub(crate) async fn append<T: Serialize>(&self, parcel: &mut Parcel<'_, T>) -> Result<TranscriptDelta> {
        let mut base = parcel.draft.base(&parcel.sent);
        for _ in 0..MAX_ATTEMPTS {
            match self.upload(parcel, &base).await {
                Ok(end) => return parcel.draft.delta(&end),
                Err(error) if error.kind() == ErrorKind::TranscriptMismatch => base = step_back(parcel, &base, error)?,
                Err(error) => return Err(error),
            }
        }
        Err(disagreement(&parcel.draft))
    }

    async fn upload<T: Serialize>(&self, parcel: &mut Parcel<'_, T>, base: &Checkpoint) -> Result<Checkpoint> {
        let options = &self.transport.options;
        let chunks = parcel.draft.chunks(base, &self.session_id, self.config.as_ref(), options.chunk_bytes)?;
        let mut attempts = options.retry.attempts();
        let response = loop {
            let request = self.transport.request(Chunks(chunks.clone().into_iter()), options.upload_timeout);
            let mut stub = self.transport.condense();
            match within(options.upload_timeout, stub.append_messages(request)).await {
                Ok(response) => break response.into_inner(),
                Err(error) => attempts.wait_after(error).await?,
            }
        };
        self.accept(parcel, base, response.transcript_length, response.transcript_etag)
    }

    fn accept<T: Serialize>(
        &self,
        parcel: &mut Parcel<'_, T>,
        base: &Checkpoint,
        length: i64,
        etag: String,
    ) -> Result<Checkpoint> {
        if usize::try_from(length) != Ok(parcel.draft.len()) {
            return Err(disagreement(&parcel.draft));
        }
        parcel.sent = Arc::new(parcel.sent.extended(base, parcel.draft.digests.clone(), etag));
        self.remember(parcel.sent.clone());
        Ok(parcel.draft.base(&parcel.sent))
    }

    fn sent(&self) -> Arc<SentHistory> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn remember(&self, sent: Arc<SentHistory>) {
        *self.sent.lock().unwrap_or_else(PoisonError::into_inner) = sent;
    }
}

/// The base to try after a refusal. At 0 there is none.
fn step_back<T>(parcel: &Parcel<'_, T>, refused: &Checkpoint, error: Error) -> Result<Checkpoint> {
    if *refused == Checkpoint::default() {
        return Err(error);
    }
    Ok(parcel.sent.base_after_mismatch(refused, error.metadata()))
}

fn disagreement<T: Serialize>(draft: &Draft<'_, T>) -> Error {
    let message = format!(
        "client and server do not agree about a history of {} messages: check that client and server are of the same \
         release, and that one client writes to the session",
        draft.len()
    );
    Error::local(ErrorKind::Other, message)
}

/// The requests of an upload.
struct Chunks(std::vec::IntoIter<AppendMessagesRequest>);

impl Stream for Chunks {
    type Item = AppendMessagesRequest;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.next())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}
