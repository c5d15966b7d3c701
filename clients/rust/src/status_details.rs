//! The rich details of a failed call: `google.rpc.Status` out of the trailing metadata.
//!
//! The three messages that the contract uses are small and frozen, so they are declared here. What cannot be read counts
//! as absent: a client that fails must be able to say so, also if a proxy has mangled the details.

use std::collections::HashMap;
use std::time::Duration;

use prost::Message;
use prost_types::Any;

use crate::error::FieldViolation;

pub(crate) const DOMAIN: &str = "condense.v1";

/// What the details say.
#[derive(Default)]
pub(crate) struct Details {
    pub reason: Option<String>,
    pub metadata: HashMap<String, String>,
    pub retry_after: Option<Duration>,
    pub violations: Vec<FieldViolation>,
}

/// Reads them. Of several of a kind the first counts; a reason of another domain is none of ours.
pub(crate) fn read(status: &[u8]) -> Details {
    let mut details = Details::default();
    let Ok(status) = RpcStatus::decode(status) else {
        return details;
    };
    for detail in &status.details {
        let kind = detail.type_url.rsplit('/').next().unwrap_or_default();
        match kind {
            "google.rpc.ErrorInfo" if details.reason.is_none() => {
                if let Ok(info) = ErrorInfo::decode(detail.value.as_slice())
                    && info.domain == DOMAIN
                {
                    details.reason = Some(info.reason);
                    details.metadata = info.metadata;
                }
            }
            "google.rpc.RetryInfo" if details.retry_after.is_none() => {
                let info = RetryInfo::decode(detail.value.as_slice()).unwrap_or_default();
                details.retry_after = info.retry_delay.map(|delay| delay.try_into().unwrap_or(Duration::ZERO));
            }
            "google.rpc.BadRequest" if details.violations.is_empty() => {
                let request = BadRequest::decode(detail.value.as_slice()).unwrap_or_default();
                details.violations = request
                    .field_violations
                    .into_iter()
                    .map(|it| FieldViolation { field: it.field, description: it.description })
                    .collect();
            }
            _ => {}
        }
    }
    details
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct RpcStatus {
    #[prost(int32, tag = "1")]
    pub code: i32,
    #[prost(string, tag = "2")]
    pub message: String,
    #[prost(message, repeated, tag = "3")]
    pub details: Vec<Any>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ErrorInfo {
    #[prost(string, tag = "1")]
    pub reason: String,
    #[prost(string, tag = "2")]
    pub domain: String,
    #[prost(map = "string, string", tag = "3")]
    pub metadata: HashMap<String, String>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct RetryInfo {
    #[prost(message, optional, tag = "1")]
    pub retry_delay: Option<prost_types::Duration>,
}

#[derive(Clone, PartialEq, Message)]
struct BadRequest {
    #[prost(message, repeated, tag = "1")]
    field_violations: Vec<WireViolation>,
}

#[derive(Clone, PartialEq, Message)]
struct WireViolation {
    #[prost(string, tag = "1")]
    field: String,
    #[prost(string, tag = "2")]
    description: String,
}
