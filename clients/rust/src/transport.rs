//! The connection: its limits, what every call carries, and how long it may take.

use std::future::Future;
use std::time::{Duration, Instant};

use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::Channel;
use tonic::{Request, Response, Status};

use crate::error::{Error, ErrorKind, Result};
use crate::retry::RetryPolicy;
use crate::v1::capabilities_service_client::CapabilitiesServiceClient;
use crate::v1::condense_service_client::CondenseServiceClient;
use crate::v1::session_service_client::SessionServiceClient;

pub(crate) const MIB: usize = 1024 * 1024;

/// Longer ids are not for load balancers: the server refuses them, and metadata of their size would not reach it.
const MAX_SESSION_HEADER: usize = 8000;

/// How a client connects and how long it waits. The defaults fit a server with default settings; `Builder` changes them.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ClientOptions {
    /// The limit of both directions.
    pub max_message_bytes: usize,
    /// New messages of more bytes are uploaded as a stream of chunks.
    pub unary_delta_bytes: usize,
    /// The size of these chunks, nearly.
    pub chunk_bytes: usize,
    /// How often the connection is probed during calls.
    pub keepalive: Duration,
    /// How long one attempt of a call may take.
    pub call_timeout: Option<Duration>,
    /// How long one attempt of an upload may take.
    pub upload_timeout: Option<Duration>,
    /// When calls are tried again.
    pub retry: RetryPolicy,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            max_message_bytes: 64 * MIB,
            unary_delta_bytes: 2 * MIB,
            chunk_bytes: MIB,
            keepalive: Duration::from_secs(60),
            call_timeout: Some(Duration::from_secs(30)),
            upload_timeout: Some(Duration::from_secs(300)),
            retry: RetryPolicy::default(),
        }
    }
}

/// A channel with what goes along with every call on it. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Transport {
    pub channel: Channel,
    pub options: ClientOptions,
    pub authorization: Option<MetadataValue<Ascii>>,
    /// The session, for load balancers that keep it on one server.
    pub session: Option<MetadataValue<Ascii>>,
}

impl Transport {
    pub(crate) fn condense(&self) -> CondenseServiceClient<Channel> {
        CondenseServiceClient::new(self.channel.clone())
            .max_decoding_message_size(self.options.max_message_bytes)
            .max_encoding_message_size(self.options.max_message_bytes)
    }

    pub(crate) fn sessions(&self) -> SessionServiceClient<Channel> {
        SessionServiceClient::new(self.channel.clone())
            .max_decoding_message_size(self.options.max_message_bytes)
            .max_encoding_message_size(self.options.max_message_bytes)
    }

    pub(crate) fn capabilities(&self) -> CapabilitiesServiceClient<Channel> {
        CapabilitiesServiceClient::new(self.channel.clone())
    }

    pub(crate) fn for_session(&self, session_id: &str) -> Self {
        let encoded = Some(percent_encoded(session_id)).filter(|id| (1..=MAX_SESSION_HEADER).contains(&id.len()));
        let session = encoded.and_then(|id| MetadataValue::try_from(id).ok());
        Self { session, ..self.clone() }
    }

    pub(crate) fn request<M>(&self, message: M, timeout: Option<Duration>) -> Request<M> {
        let mut request = Request::new(message);
        if let Some(authorization) = &self.authorization {
            request.metadata_mut().insert("authorization", authorization.clone());
        }
        if let Some(session) = &self.session {
            request.metadata_mut().insert("x-condense-session", session.clone());
        }
        if let Some(timeout) = timeout {
            request.set_timeout(timeout);
        }
        request
    }

    /// One unary call, tried again as the policy says. `call` gets the request anew for every attempt.
    pub(crate) async fn call<M: Clone, R, F>(&self, message: M, call: impl Fn(Request<M>) -> F) -> Result<R>
    where
        F: Future<Output = std::result::Result<Response<R>, Status>>,
    {
        let timeout = self.options.call_timeout;
        let mut attempts = self.options.retry.attempts();
        loop {
            match within(timeout, call(self.request(message.clone(), timeout))).await {
                Ok(response) => return Ok(response.into_inner()),
                Err(error) => attempts.wait_after(error).await?,
            }
        }
    }
}

/// The answer, or `DeadlineExceeded` if there is none in time.
///
/// The transport watches the deadline too and calls it a cancellation, so whatever breaks at that time is one.
pub(crate) async fn within<R>(
    timeout: Option<Duration>,
    call: impl Future<Output = std::result::Result<R, Status>>,
) -> Result<R> {
    let Some(timeout) = timeout else {
        return call.await.map_err(Error::of_status);
    };
    let start = Instant::now();
    match tokio::time::timeout(timeout, call).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(status)) if status.code() != tonic::Code::Cancelled || start.elapsed() < timeout => {
            Err(Error::of_status(status))
        }
        _ => Err(deadline_exceeded(timeout)),
    }
}

pub(crate) fn deadline_exceeded(timeout: Duration) -> Error {
    Error::local(ErrorKind::DeadlineExceeded, format!("no answer within {} s", timeout.as_secs_f64()))
}

/// Metadata is ASCII; all other characters are percent-encoded.
fn percent_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            0x21..0x7f if byte != b'%' => encoded.push(byte.into()),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}
