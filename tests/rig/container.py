"""Where a server in a container listens, and where the tests reach it."""

from __future__ import annotations

from testcontainers.core.container import DockerContainer
from testcontainers.core.docker_client import DockerClient

from connectors.kafka.loopback import ADDRESS, free_ports


class ContainerPort:
    """A port of a container that is about to start.

    A daemon with a bridge network publishes it. One without, such as a daemon that may not touch the machine's
    network, lets the container share that network: it then takes a free port of the machine's loopback interface.

    Args:
        container: not started yet.
        usual: what its server listens on unless it is told otherwise.

    Attributes:
        number: what the server must listen on.
        address: where it must listen; ``None`` where it may listen everywhere, as it does unless it is told otherwise.
    """

    def __init__(self, container: DockerContainer, usual: int) -> None:
        self._container = container
        if not _has_bridge():
            [self.number] = free_ports(1)
            self.address: str | None = ADDRESS
            container.with_kwargs(network_mode="host")
        else:
            self.number, self.address = usual, None
            container.with_exposed_ports(usual)

    def start(self) -> tuple[str, int]:
        """Start the container; the host and the port by which the tests reach it."""
        self._container.start()
        if self.address is not None:
            return self.address, self.number
        return self._container.get_container_host_ip(), int(self._container.get_exposed_port(self.number))


def _has_bridge() -> bool:
    client = DockerClient().client
    try:
        return any(network.attrs["Driver"] == "bridge" for network in client.networks.list())
    finally:
        client.close()
