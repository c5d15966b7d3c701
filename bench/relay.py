"""A relay between client and server that counts the bytes of both directions."""

import socket
import threading
from types import TracebackType
from typing import Any

import grpc

from condense_grpc.api.condense.v1.condense_service_pb2_grpc import CondenseServiceStub


class CountingRelay:
    """Listens on a free port and passes everything on. A context manager."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._target = host, int(port)
        self._count = 0
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))

    def __enter__(self) -> "CountingRelay":
        threading.Thread(target=self._accept, daemon=True).start()
        self._channel = grpc.insecure_channel(f"127.0.0.1:{self._listener.getsockname()[1]}")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._channel.close()
        self._listener.close()

    def condense(self) -> Any:
        """The service through the relay."""
        return CondenseServiceStub(self._channel)

    def bytes(self) -> int:
        """Bytes so far, both directions."""
        with self._lock:
            return self._count

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            far = socket.create_connection(self._target)
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=self._pass_on, args=(source, sink), daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(1 << 16):
                with self._lock:
                    self._count += len(data)
                sink.sendall(data)
        except OSError:
            pass
        finally:
            sink.close()
