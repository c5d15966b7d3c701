//! The client of condense_grpc, a service that keeps the context of LLM agents small and loses nothing.

/// The code of the contract, generated: messages, and clients of the single services.
#[allow(clippy::all, missing_docs, rustdoc::all)]
pub mod v1 {
    include!("gen/condense.v1.rs");
}
