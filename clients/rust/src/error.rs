//! Errors, by the reason that the service gives and never by a text.

use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use tonic::{Code, Status};

use crate::status_details;
use crate::v1::ErrorReason;

/// What the functions of this crate return.
pub type Result<T> = std::result::Result<T, Error>;

/// A call that failed, or that was refused before anything was sent.
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    message: String,
    reason: String,
    metadata: HashMap<String, String>,
    retry_after: Option<Duration>,
    violations: Vec<FieldViolation>,
    status: Option<Status>,
}

/// A field of the request that cannot be used, by its path in the contract, and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldViolation {
    /// The path of the field.
    pub field: String,
    /// What is wrong with it.
    pub description: String,
}

/// What kind of failure it is: the reasons of the contract, and failures of the way to the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is no session with this id.
    SessionNotFound,
    /// There is a session with this id.
    SessionAlreadyExists,
    /// A session cannot have this id.
    SessionIdInvalid,
    /// The base of a delta is not what the server has, and sending again from earlier bases has not helped.
    TranscriptMismatch,
    /// A message cannot be stored. Metadata `messageIndex`: where it is.
    MessageInvalid,
    /// One message is larger than the server takes.
    MessageTooLarge,
    /// The new messages together are more than the server takes.
    DeltaTooLarge,
    /// Native text cannot be read.
    NativeJsonInvalid,
    /// A knob has a value that it cannot have.
    ConfigInvalid,
    /// A flush or a compaction is running: follow it with `attach`, or wait for its end.
    FlushInProgress,
    /// Other servers kept writing to the session at the same moment.
    RevisionConflict,
    /// A page token or a cursor is not one of this request.
    PageTokenInvalid,
    /// A regular expression cannot be used.
    PatternInvalid,
    /// A limit of the server is reached.
    QuotaExceeded,
    /// The server has no summarizer of that name.
    SummarizerUnknown,
    /// The call has no valid credentials.
    Unauthenticated,
    /// The caller may not do this.
    PermissionDenied,
    /// The server's store does not answer.
    StoreUnavailable,
    /// The server takes no more work.
    ShuttingDown,
    /// Something of the request cannot be used; nothing of it was applied.
    RequestInvalid,
    /// This server does not have what was asked for.
    NotImplemented,
    /// A defect of the server. Metadata `incidentId` names it in the server's log.
    Internal,
    /// A ref names no result of the session, or several.
    ResultNotFound,
    /// No answer came. Whether the call took effect is not known; repeating it is safe.
    Unavailable,
    /// The call took longer than its timeout. Whether it took effect is not known; repeating it is safe.
    DeadlineExceeded,
    /// The call was cancelled on its way.
    Cancelled,
    /// None of these: a newer reason, or an answer that is not of the contract. See [`Error::reason`].
    Other,
}

const REASON_PREFIX: &str = "ERROR_REASON_";

const BY_REASON: [(ErrorReason, ErrorKind); 22] = [
    (ErrorReason::SessionNotFound, ErrorKind::SessionNotFound),
    (ErrorReason::SessionAlreadyExists, ErrorKind::SessionAlreadyExists),
    (ErrorReason::SessionIdInvalid, ErrorKind::SessionIdInvalid),
    (ErrorReason::TranscriptMismatch, ErrorKind::TranscriptMismatch),
    (ErrorReason::MessageInvalid, ErrorKind::MessageInvalid),
    (ErrorReason::MessageTooLarge, ErrorKind::MessageTooLarge),
    (ErrorReason::DeltaTooLarge, ErrorKind::DeltaTooLarge),
    (ErrorReason::NativeJsonInvalid, ErrorKind::NativeJsonInvalid),
    (ErrorReason::ConfigInvalid, ErrorKind::ConfigInvalid),
    (ErrorReason::FlushInProgress, ErrorKind::FlushInProgress),
    (ErrorReason::RevisionConflict, ErrorKind::RevisionConflict),
    (ErrorReason::PageTokenInvalid, ErrorKind::PageTokenInvalid),
    (ErrorReason::PatternInvalid, ErrorKind::PatternInvalid),
    (ErrorReason::QuotaExceeded, ErrorKind::QuotaExceeded),
    (ErrorReason::SummarizerUnknown, ErrorKind::SummarizerUnknown),
    (ErrorReason::Unauthenticated, ErrorKind::Unauthenticated),
    (ErrorReason::PermissionDenied, ErrorKind::PermissionDenied),
    (ErrorReason::StoreUnavailable, ErrorKind::StoreUnavailable),
    (ErrorReason::ShuttingDown, ErrorKind::ShuttingDown),
    (ErrorReason::RequestInvalid, ErrorKind::RequestInvalid),
    (ErrorReason::NotImplemented, ErrorKind::NotImplemented),
    (ErrorReason::Internal, ErrorKind::Internal),
];

impl ErrorKind {
    /// Whether no answer came, be it from the server or from its store. Repeating the call is safe.
    pub fn is_unavailable(self) -> bool {
        matches!(self, Self::Unavailable | Self::StoreUnavailable | Self::ShuttingDown)
    }

    /// Whether the request has to be corrected; nothing of it was applied.
    pub fn is_invalid_request(self) -> bool {
        use ErrorKind::*;
        matches!(
            self,
            RequestInvalid
                | SessionIdInvalid
                | MessageInvalid
                | MessageTooLarge
                | DeltaTooLarge
                | NativeJsonInvalid
                | ConfigInvalid
                | PageTokenInvalid
                | PatternInvalid
                | SummarizerUnknown
        )
    }

    /// The reason of the contract, without its prefix; empty for failures that have none.
    fn reason(self) -> &'static str {
        let found = BY_REASON.iter().find(|(_, kind)| *kind == self);
        found.map_or("", |(reason, _)| reason.as_str_name().trim_start_matches(REASON_PREFIX))
    }

    fn of_reason(reason: &str) -> Self {
        let reason = ErrorReason::from_str_name(&format!("{REASON_PREFIX}{reason}"));
        let found = BY_REASON.iter().find(|(known, _)| Some(*known) == reason);
        found.map_or(Self::Other, |(_, kind)| *kind)
    }

    /// For failures without details: of a proxy, or of the transport itself.
    fn of_transport(status: &Status) -> Self {
        match status.code() {
            // A status with a source was made on this side, from an error of the connection. It broke, whatever code
            // was found for it; calls that are cancelled here are dropped and report nothing.
            Code::Unknown | Code::Internal | Code::Cancelled | Code::ResourceExhausted
                if std::error::Error::source(status).is_some() =>
            {
                Self::Unavailable
            }
            Code::Unavailable => Self::Unavailable,
            Code::DeadlineExceeded => Self::DeadlineExceeded,
            Code::Cancelled => Self::Cancelled,
            Code::Unauthenticated => Self::Unauthenticated,
            Code::PermissionDenied => Self::PermissionDenied,
            Code::Unimplemented => Self::NotImplemented,
            _ => Self::Other,
        }
    }
}

impl Error {
    /// An error of this side: nothing was sent, or the answer was not what the contract says.
    pub(crate) fn local(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: message.into(),
            reason: kind.reason().to_owned(),
            metadata: HashMap::new(),
            retry_after: None,
            violations: Vec::new(),
            status: None,
        }))
    }

    pub(crate) fn with_metadata<const N: usize>(mut self, metadata: [(&str, String); N]) -> Self {
        self.0.metadata = metadata.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        self
    }

    pub(crate) fn of_status(status: Status) -> Self {
        let details = status_details::read(status.details());
        let kind = match &details.reason {
            Some(reason) => ErrorKind::of_reason(reason),
            None => ErrorKind::of_transport(&status),
        };
        Self(Box::new(Inner {
            kind,
            message: status.message().to_owned(),
            reason: details.reason.unwrap_or_default(),
            metadata: details.metadata,
            retry_after: details.retry_after,
            violations: details.violations,
            status: Some(status),
        }))
    }

    /// What kind of failure it is.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// A sentence for people, with the way out.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The reason as the service has named it, such as `SESSION_NOT_FOUND`; empty if it gave none.
    pub fn reason(&self) -> &str {
        &self.0.reason
    }

    /// The status code; `None` if nothing was sent.
    pub fn code(&self) -> Option<Code> {
        self.0.status.as_ref().map(Status::code)
    }

    /// Facts for programs, as the reason's comment in the contract lists them.
    pub fn metadata(&self) -> &HashMap<String, String> {
        &self.0.metadata
    }

    /// How long the service wants callers to wait; `None`: it does not say.
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// Which fields of the request are wrong.
    pub fn violations(&self) -> &[FieldViolation] {
        &self.0.violations
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.reason.as_str() {
            "" => write!(formatter, "{}", self.0.message),
            reason => write!(formatter, "{} ({reason})", self.0.message),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.status.as_ref().map(|status| status as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prost::Message;
    use status_details::{DOMAIN, ErrorInfo, RetryInfo, RpcStatus};

    fn any(kind: &str, message: impl Message) -> prost_types::Any {
        prost_types::Any { type_url: format!("type.googleapis.com/google.rpc.{kind}"), value: message.encode_to_vec() }
    }

    fn failed(code: Code, reason: &str, domain: &str) -> Error {
        let info = ErrorInfo { reason: reason.into(), domain: domain.into(), metadata: HashMap::new() };
        let delay = prost_types::Duration { seconds: 1, nanos: 500_000_000 };
        let retry = RetryInfo { retry_delay: Some(delay) };
        let details = vec![any("ErrorInfo", info), any("RetryInfo", retry)];
        let status = RpcStatus { code: code.into(), message: String::new(), details };
        Error::of_status(Status::with_details(code, "a sentence", status.encode_to_vec().into()))
    }

    #[test]
    fn every_reason_of_the_contract_has_a_kind_of_its_own() {
        for number in 1.. {
            let Ok(reason) = ErrorReason::try_from(number) else {
                assert_eq!(number as usize, BY_REASON.len() + 1);
                break;
            };
            let name = reason.as_str_name().trim_start_matches(REASON_PREFIX);
            let error = failed(Code::InvalidArgument, name, DOMAIN);
            assert_ne!(error.kind(), ErrorKind::Other, "{name}");
            assert_eq!((error.kind().reason(), error.reason()), (name, name));
            assert_eq!(error.retry_after(), Some(Duration::from_millis(1500)));
        }
    }

    #[test]
    fn reasons_that_are_not_ours_are_not_guessed() {
        assert_eq!(failed(Code::NotFound, "MADE_LATER", DOMAIN).kind(), ErrorKind::Other);
        assert_eq!(failed(Code::NotFound, "MADE_LATER", DOMAIN).reason(), "MADE_LATER");
        assert_eq!(failed(Code::Unavailable, "SESSION_NOT_FOUND", "proxy.example").kind(), ErrorKind::Unavailable);
    }

    #[test]
    fn details_that_nobody_can_read_count_as_absent() {
        let status = Status::with_details(Code::Unavailable, "", vec![0xff, 0x01, 0x02].into());
        assert_eq!(Error::of_status(status).kind(), ErrorKind::Unavailable);
        assert_eq!(Error::of_status(Status::new(Code::Unknown, "")).kind(), ErrorKind::Other);
    }
}
