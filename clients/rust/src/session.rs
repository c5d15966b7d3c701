use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;

use crate::delivery::{Delivery, MAX_ATTEMPTS, Parcel};
use crate::error::{Error, ErrorKind, Result};
use crate::events::{FlushStream, Source};
use crate::format::Format;
use crate::reader::ResultReader;
use crate::recovery::{ToolArguments, read_arguments};
use crate::transport::Transport;
use crate::v1::{
    self, CompactChainsRequest, ContextUsage, DeleteSessionRequest, FlushBatchesRequest, FlushTrigger,
    GetDiagnosticsRequest, GetDiagnosticsResponse, PruneMessagesRequest, QueryResult, QueryToolCallRequest,
    SessionConfig, Slice, ToolCallRecord, TranscriptDelta,
};
use crate::view::{HeldEdits, Shown, View, read_full_view};

/// One history of the caller, mirrored by the server. Cheap to clone; may be shared by tasks and threads, and calls may
/// overlap.
///
/// It remembers what the server has of the history and the edits it was last told. That is only ever a shortcut: if the
/// server disagrees, or an answer is lost, more is sent again. A call whose future is dropped changes nothing here.
#[derive(Clone, Debug)]
pub struct Session(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    delivery: Delivery,
    held: Mutex<Arc<HeldEdits>>,
}

/// What a prune can be told, as `PruneMessagesRequest` names it.
#[derive(Clone, Debug, Default)]
pub struct PruneOptions {
    /// What the last request to the model used.
    pub usage: Option<ContextUsage>,
    /// If the view would save fewer characters, the raw history is shown.
    pub min_savings_chars: Option<i64>,
    /// Only report; nothing is stored, and the view is the raw history.
    pub dry_run: bool,
}

/// What a flush can be told, as `FlushBatchesRequest` names it.
#[derive(Clone, Debug)]
pub struct FlushOptions {
    /// Why it is done.
    pub trigger: FlushTrigger,
    /// Follow a flush that is already running instead of failing.
    pub attach: bool,
    /// Compress all eligible chains, also those within the rolling window.
    pub compact: bool,
    /// Only say what would be flushed.
    pub dry_run: bool,
    /// How long it may take; `None`: as long as it takes.
    pub timeout: Option<Duration>,
}

impl Default for FlushOptions {
    fn default() -> Self {
        Self { trigger: FlushTrigger::Manual, attach: true, compact: false, dry_run: false, timeout: None }
    }
}

/// Originals that were read back.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Ready to be handed to the model.
    pub text: String,
    /// One member per ref.
    pub results: Vec<QueryResult>,
}

impl Answer {
    /// The records that were found, in the order of the text, each once.
    pub fn records(&self) -> Vec<&ToolCallRecord> {
        let mut records: Vec<&ToolCallRecord> = Vec::new();
        for record in self.results.iter().flat_map(|it| &it.blocks).filter_map(|it| it.record.as_ref()) {
            if records.iter().all(|it| it.occurrence_key != record.occurrence_key) {
                records.push(record);
            }
        }
        records
    }
}

impl Session {
    pub(crate) fn new(session_id: String, format: Format, transport: &Transport) -> Self {
        let transport = transport.for_session(&session_id);
        let delivery = Delivery { session_id, format, config: None, transport, sent: Mutex::default() };
        Self(Arc::new(Inner { delivery, held: Mutex::default() }))
    }

    /// The configuration that the session gets if a call of this object creates it. What was sent is forgotten.
    #[must_use]
    pub fn with_config(self, config: SessionConfig) -> Self {
        let delivery = self.delivery();
        let delivery = Delivery {
            session_id: delivery.session_id.clone(),
            format: delivery.format,
            config: Some(config),
            transport: delivery.transport.clone(),
            sent: Mutex::default(),
        };
        Self(Arc::new(Inner { delivery, held: Mutex::default() }))
    }

    /// The id of the session.
    pub fn id(&self) -> &str {
        &self.delivery().session_id
    }

    /// What to send to the model instead of `messages`, the whole raw history. Only what is new in it is sent.
    ///
    /// Fails with `MessageInvalid` or `MessageTooLarge` before anything is sent if a message cannot be stored.
    pub async fn prune<'a, T: Serialize>(&self, messages: &'a [T]) -> Result<View<'a, T>> {
        self.prune_with(messages, PruneOptions::default()).await
    }

    /// See [`Session::prune`].
    pub async fn prune_with<'a, T: Serialize>(&self, messages: &'a [T], options: PruneOptions) -> Result<View<'a, T>> {
        let held = self.0.held.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut parcel = self.delivery().parcel(messages)?;
        let template = PruneMessagesRequest {
            session_id: self.id().to_owned(),
            delta: None,
            view: v1::View::Edits.into(),
            known_revision: held.revision.clone(),
            dry_run: options.dry_run,
            min_savings_chars: options.min_savings_chars,
            usage: options.usage,
            config: self.delivery().config.clone(),
        };
        let mut response = self.delivery().prune(&mut parcel, !options.dry_run, template).await?;
        if options.dry_run {
            let messages = messages.iter().map(Shown::Own).collect();
            return Ok(View { messages, edits: Arc::default(), response });
        }
        let told = std::mem::take(&mut response.edits);
        let held = match response.unchanged {
            true => Some(held),
            false => HeldEdits::read(response.revision.clone(), told.clone()).map(Arc::new),
        };
        let applied = held.and_then(|held| Some((held.apply(messages)?, held)));
        let Some((messages, held)) = applied else {
            let messages = self.full_view(messages, &mut parcel).await?;
            return Ok(View { messages, edits: told.into(), response });
        };
        let edits = held.edits.clone();
        *self.0.held.lock().unwrap_or_else(PoisonError::into_inner) = held;
        Ok(View { messages, edits, response })
    }

    /// The same view as the server writes it out: for edits of a kind that this client does not know.
    async fn full_view<'a, T: Serialize>(
        &self,
        messages: &'a [T],
        parcel: &mut Parcel<'_, T>,
    ) -> Result<Vec<Shown<'a, T>>> {
        let template = PruneMessagesRequest {
            session_id: self.id().to_owned(),
            view: v1::View::Full.into(),
            ..Default::default()
        };
        let response = self.delivery().prune(parcel, true, template).await?;
        read_full_view(messages, &parcel.draft.digests, &response.native_json)
    }

    /// Condenses what is pending, `messages` (the whole raw history) included. The stream tells how it goes.
    pub async fn flush<T: Serialize>(&self, messages: &[T]) -> Result<FlushStream> {
        self.flush_with(messages, FlushOptions::default()).await
    }

    /// See [`Session::flush`].
    pub async fn flush_with<T: Serialize>(&self, messages: &[T], options: FlushOptions) -> Result<FlushStream> {
        let mut parcel = self.delivery().parcel(messages)?;
        let mut small = self.delivery().find_small_delta(&parcel)?;
        let mut refusals = 0;
        loop {
            let delta = match small.take() {
                Some(delta) => delta,
                // An upload finds out what the server has.
                None => self.delivery().append(&mut parcel).await?,
            };
            refusals += 1;
            match self.open_flush(Some(delta), &options).await {
                Err(error)
                    if matches!(error.kind(), ErrorKind::TranscriptMismatch | ErrorKind::DeltaTooLarge)
                        && refusals < MAX_ATTEMPTS => {}
                outcome => return outcome,
            }
        }
    }

    /// Condenses what the server has, or follows the flush that it has started.
    pub async fn flush_pending(&self, options: FlushOptions) -> Result<FlushStream> {
        self.open_flush(None, &options).await
    }

    async fn open_flush(&self, delta: Option<TranscriptDelta>, options: &FlushOptions) -> Result<FlushStream> {
        let message = FlushBatchesRequest {
            session_id: self.id().to_owned(),
            delta,
            trigger: options.trigger.into(),
            dry_run: options.dry_run,
            compact: options.compact,
            attach: options.attach,
            config: self.delivery().config.clone(),
            joint_events: true,
        };
        let transport = &self.delivery().transport;
        let mut attempts = transport.options.retry.attempts();
        loop {
            let mut stub = transport.condense();
            let call = stub.flush_batches(transport.request(message.clone(), options.timeout));
            match FlushStream::open(call, Source::Flush, options.timeout).await {
                Ok(stream) => return Ok(stream),
                Err(error) => attempts.wait_after(error).await?,
            }
        }
    }

    /// Compresses every finished chain. The stream tells how it goes.
    pub async fn compact(&self) -> Result<FlushStream> {
        self.compact_with(true, None).await
    }

    /// The same. `attach`: follow what is already running instead of failing; `timeout`: how long it may take.
    pub async fn compact_with(&self, attach: bool, timeout: Option<Duration>) -> Result<FlushStream> {
        let message = CompactChainsRequest { session_id: self.id().to_owned(), attach, joint_events: true };
        let transport = &self.delivery().transport;
        let mut attempts = transport.options.retry.attempts();
        loop {
            let mut stub = transport.condense();
            let call = stub.compact_chains(transport.request(message.clone(), timeout));
            match FlushStream::open(call, Source::Compact, timeout).await {
                Ok(stream) => return Ok(stream),
                Err(error) => attempts.wait_after(error).await?,
            }
        }
    }

    /// Originals by short ref, tool call id or occurrence key; parts of them by [`crate::slices`]. Unknown refs are
    /// answered, not errors.
    pub async fn query<R: AsRef<str>>(&self, refs: &[R], slices: &[Slice]) -> Result<Answer> {
        let request = QueryToolCallRequest {
            session_id: self.id().to_owned(),
            refs: refs.iter().map(|it| it.as_ref().to_owned()).collect(),
            slices: slices.to_vec(),
        };
        let transport = &self.delivery().transport;
        let call = |request| {
            let mut stub = transport.condense();
            async move { stub.query_tool_call(request).await }
        };
        let response = transport.call(request, call).await?;
        Ok(Answer { text: response.text, results: response.results })
    }

    /// The result for a model that has called the recovery tool, from its arguments.
    ///
    /// Arguments that make no sense get an answer that says so. Fails only if the server cannot be asked.
    pub async fn answer_tool_call(&self, arguments: impl Into<ToolArguments<'_>>) -> Result<String> {
        let wanted = match read_arguments(arguments.into()) {
            Ok(wanted) => wanted,
            Err(answer) => return Ok(answer),
        };
        match self.query(&wanted.refs, &wanted.slices).await {
            Ok(answer) => Ok(answer.text),
            Err(error) if is_answer(&error) => Ok(format!("Nothing could be read: {}", error.message())),
            Err(error) => Err(error),
        }
    }

    /// One original, verbatim and of any size, piece by piece. Fails with `ResultNotFound` if the ref names none.
    pub fn read_result(&self, reference: impl Into<String>) -> ResultReader {
        ResultReader::new(self.delivery().transport.clone(), self.id().to_owned(), reference.into())
    }

    /// How the session is doing.
    pub async fn diagnostics(&self) -> Result<GetDiagnosticsResponse> {
        self.diagnostics_page(0, "").await
    }

    /// The same with a page of the entries behind it; size 0 and an empty token are the first page.
    pub async fn diagnostics_page(&self, size: i32, token: &str) -> Result<GetDiagnosticsResponse> {
        let request = GetDiagnosticsRequest {
            session_id: self.id().to_owned(),
            page_size: size,
            page_token: token.to_owned(),
            ..Default::default()
        };
        let transport = &self.delivery().transport;
        let call = |request| {
            let mut stub = transport.condense();
            async move { stub.get_diagnostics(request).await }
        };
        transport.call(request, call).await
    }

    /// Removes everything of the session from the server. Returns whether there was one.
    pub async fn delete(&self) -> Result<bool> {
        let request = DeleteSessionRequest { session_id: self.id().to_owned(), allow_missing: true };
        let transport = &self.delivery().transport;
        let call = |request| {
            let mut stub = transport.sessions();
            async move { stub.delete_session(request).await }
        };
        let response = transport.call(request, call).await?;
        self.delivery().forget();
        *self.0.held.lock().unwrap_or_else(PoisonError::into_inner) = Arc::default();
        Ok(response.deleted)
    }

    fn delivery(&self) -> &Delivery {
        &self.0.delivery
    }
}

/// Whether a model can do something about it.
fn is_answer(error: &Error) -> bool {
    error.kind().is_invalid_request() || matches!(error.kind(), ErrorKind::SessionNotFound | ErrorKind::NotImplemented)
}
