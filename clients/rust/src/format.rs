use crate::v1::MessageFormat;

/// The shape of the messages of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// The `messages` of the OpenAI Chat Completions API.
    OpenAiChat,
    /// The `input` items of the OpenAI Responses API.
    OpenAiResponses,
    /// The `messages` of the Anthropic Messages API.
    Anthropic,
    /// The `contents` of the Gemini API.
    Gemini,
    /// Messages of the Pi agent.
    Pi,
}

impl From<Format> for MessageFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::OpenAiChat => Self::OpenaiChat,
            Format::OpenAiResponses => Self::OpenaiResponses,
            Format::Anthropic => Self::Anthropic,
            Format::Gemini => Self::Gemini,
            Format::Pi => Self::Pi,
        }
    }
}
