//! The client of condense_grpc, a service that keeps the context of LLM agents small and loses nothing.
//!
//! You keep your own raw history; before each request to the model [`Session::prune`] says what to send instead.
//! Histories are lists of JSON values in the shape of a provider ([`Format`]): anything that serializes, be it
//! `serde_json::Value`, types of your own, or `Box<RawValue>`, which keeps every byte as it was.
//!
#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod client;
mod delivery;
mod draft;
mod error;
mod events;
mod format;
mod reader;
mod recovery;
mod retry;
mod sent_history;
mod session;
pub mod slices;
mod status_details;
mod transport;
mod view;

pub use client::{Builder, Client};
pub use error::{Error, ErrorKind, FieldViolation, Result};
pub use events::FlushStream;
pub use format::Format;
pub use reader::ResultReader;
pub use recovery::{RECOVERY_TOOL_NAME, ToolArguments, recovery_tool};
pub use retry::RetryPolicy;
pub use session::{Answer, FlushOptions, PruneOptions, Session};
pub use transport::ClientOptions;
pub use view::{Shown, View};

pub use tonic;

/// The code of the contract, generated: messages, and clients of the single services.
#[allow(clippy::all, missing_docs, rustdoc::all)]
pub mod v1 {
    include!("gen/condense.v1.rs");
}
