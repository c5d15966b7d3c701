"""What a client asks before anything else."""

from condense_grpc.api.condense.v1 import capabilities_pb2
from condense_grpc.server.convert.capabilities import Capabilities, write_capabilities
from condense_grpc.server.wire import Incoming


class CapabilitiesServicer:
    """CapabilitiesService. The answer is made once."""

    def __init__(self, capabilities: Capabilities) -> None:
        self._answer = write_capabilities(capabilities)

    async def GetCapabilities(
        self, incoming: Incoming[capabilities_pb2.GetCapabilitiesRequest]
    ) -> capabilities_pb2.GetCapabilitiesResponse:
        """See the contract."""
        await incoming.message()
        return self._answer
