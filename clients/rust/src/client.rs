use std::time::Duration;

use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::{Channel, Endpoint};

use crate::error::{Error, ErrorKind, Result};
use crate::format::Format;
use crate::retry::RetryPolicy;
use crate::session::Session;
use crate::transport::{ClientOptions, Transport};
use crate::v1::{GetCapabilitiesRequest, GetCapabilitiesResponse};

/// A connection to a server. Cheap to clone, may be shared by tasks and threads, and closed when its last clone and the
/// last session of it are dropped. It connects again by itself.
#[derive(Clone, Debug)]
pub struct Client {
    transport: Transport,
}

impl Client {
    /// Connects to `host:port` or `http://host:port`. Fails if there is no server.
    pub async fn connect(target: impl Into<String>) -> Result<Self> {
        Self::builder(target).connect().await
    }

    /// A client with options.
    pub fn builder(target: impl Into<String>) -> Builder {
        Builder {
            target: target.into(),
            token: None,
            options: ClientOptions::default(),
            #[cfg(feature = "tls")]
            tls: None,
        }
    }

    /// A session of the server; its first call creates it if it does not exist.
    pub fn session(&self, session_id: impl Into<String>, format: Format) -> Session {
        Session::new(session_id.into(), format, &self.transport)
    }

    /// The options that it was made with.
    pub fn options(&self) -> &ClientOptions {
        &self.transport.options
    }

    /// What the server can do, and its limits.
    pub async fn capabilities(&self) -> Result<GetCapabilitiesResponse> {
        let stub = self.transport.capabilities();
        let call = |request| {
            let mut stub = stub.clone();
            async move { stub.get_capabilities(request).await }
        };
        self.transport.call(GetCapabilitiesRequest {}, call).await
    }

    /// The connection, for calls of the contract that this crate has no method for; see [`crate::v1`].
    pub fn channel(&self) -> Channel {
        self.transport.channel.clone()
    }
}

/// Options of a client. The defaults fit a server with default settings. Timeouts hold for one attempt.
#[derive(Clone, Debug)]
#[must_use]
pub struct Builder {
    target: String,
    token: Option<String>,
    options: ClientOptions,
    #[cfg(feature = "tls")]
    tls: Option<tonic::transport::ClientTlsConfig>,
}

impl Builder {
    /// Sends a token as the bearer of every call.
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// Encrypts the connection. The target is `https://host:port` then.
    #[cfg(feature = "tls")]
    pub fn tls(mut self, config: tonic::transport::ClientTlsConfig) -> Self {
        self.tls = Some(config);
        self
    }

    /// The limit of both directions, which should equal the server's. Default 64 MiB.
    pub fn max_message_bytes(mut self, bytes: usize) -> Self {
        self.options.max_message_bytes = bytes;
        self
    }

    /// New messages of more bytes are uploaded as a stream of chunks. Defaults 2 MiB and 1 MiB.
    pub fn upload_above(mut self, unary_delta_bytes: usize, chunk_bytes: usize) -> Self {
        (self.options.unary_delta_bytes, self.options.chunk_bytes) = (unary_delta_bytes, chunk_bytes);
        self
    }

    /// How often the connection is probed during calls; a server that allows fewer probes closes it. Default 60 s.
    pub fn keepalive(mut self, interval: Duration) -> Self {
        self.options.keepalive = interval;
        self
    }

    /// How long a call may take; `None`: as long as it takes. Default 30 s. Flushes have a timeout of their own.
    pub fn call_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.options.call_timeout = timeout.into();
        self
    }

    /// How long an upload may take. Default 300 s.
    pub fn upload_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.options.upload_timeout = timeout.into();
        self
    }

    /// When calls are tried again.
    pub fn retry(mut self, policy: RetryPolicy) -> Self {
        self.options.retry = policy;
        self
    }

    /// Connects. Fails if there is no server.
    pub async fn connect(self) -> Result<Client> {
        let unreachable = |error| Error::of_status(tonic::Status::from_error(Box::new(error)));
        let channel = self.endpoint()?.connect().await.map_err(unreachable)?;
        self.over(channel)
    }

    /// Connects with the first call. Has to be called within a Tokio runtime.
    pub fn connect_lazy(self) -> Result<Client> {
        let channel = self.endpoint()?.connect_lazy();
        self.over(channel)
    }

    /// Uses a connection that is there already.
    pub fn over(self, channel: Channel) -> Result<Client> {
        let bearer = |token: &str| {
            let value =
                Some(format!("Bearer {token}")).filter(|it| it.bytes().all(|byte| (b' '..=b'~').contains(&byte)));
            value.and_then(|it| MetadataValue::<Ascii>::try_from(it).ok()).ok_or_else(|| {
                Error::local(ErrorKind::RequestInvalid, "the token has characters that no header can hold: check it")
            })
        };
        let authorization = self.token.as_deref().map(bearer).transpose()?;
        Ok(Client { transport: Transport { channel, options: self.options, authorization, session: None } })
    }

    fn endpoint(&self) -> Result<Endpoint> {
        let has_scheme = self.target.contains("://");
        let uri = if has_scheme { self.target.clone() } else { format!("http://{}", self.target) };
        let invalid = |error: tonic::transport::Error| {
            let message = format!("{:?} is no address of a server: use host:port ({error})", self.target);
            Error::local(ErrorKind::RequestInvalid, message)
        };
        let endpoint = Endpoint::from_shared(uri)
            .map_err(invalid)?
            .connect_timeout(Duration::from_secs(20))
            .http2_keep_alive_interval(self.options.keepalive)
            .keep_alive_timeout(Duration::from_secs(20))
            .initial_stream_window_size(Some(crate::transport::MIB as u32))
            .initial_connection_window_size(Some(4 * crate::transport::MIB as u32));
        #[cfg(feature = "tls")]
        if let Some(tls) = &self.tls {
            return endpoint.tls_config(tls.clone()).map_err(invalid);
        }
        Ok(endpoint)
    }
}
