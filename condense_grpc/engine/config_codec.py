"""Session settings as the JSON text that the store keeps."""

import msgspec

from condense_grpc.domain.config import SessionConfig

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(SessionConfig)


def config_to_json(config: SessionConfig) -> str:
    """All settings; what is stored does not change when a default does."""
    return _encoder.encode(config).decode()


def config_from_json(text: str) -> SessionConfig:
    """The settings; what is not there takes its default, what this release does not know is ignored."""
    return _decoder.decode(text)
