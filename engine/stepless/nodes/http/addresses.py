"""Which addresses a workflow may send requests to.

A URL can come out of data, so a node could be talked into calling what only this machine can reach: the cloud's metadata
service, a database, a neighbour in the private network. Therefore a host name is looked up here, every address that it has
must be public or allowed, and the connection is made to an address that was judged: a second look-up, which could give
another answer, never happens.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, TypeAlias

from stepless.errors import ConfigError

Address: TypeAlias = IPv4Address | IPv6Address
LookUp: TypeAlias = Callable[[str, int], Awaitable[list[str]]]

ALLOW_VARIABLE: Final = "STEPLESS_HTTP_ALLOW"
_NAT64: Final = IPv6Network("64:ff9b::/96")
_UNICAST: Final = IPv6Network("2000::/3")  # all that is given out for the whole internet (RFC 4291, 2.4)
_NEVER: Final = (IPv4Network("192.0.0.0/24"), IPv6Network("3fff::/20"))  # older Pythons take them for global
_MAX_LABEL_CHARACTERS: Final = 63  # RFC 1035, 2.3.4
_MAX_NAME_CHARACTERS: Final = 253


class HostRefused(ValueError):
    """No host can have this name."""


class AddressRefused(Exception):
    """The host has an address that is neither public nor allowed."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """What may be reached besides public addresses: host names as they stand in URLs, and networks."""

    hosts: frozenset[str] = frozenset()
    networks: tuple[IPv4Network | IPv6Network, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Allowed:
        """From hosts, addresses and CIDR networks parted by commas. Raises `ConfigError` naming the entry at fault."""
        hosts, networks = set(), []
        for entry in filter(None, map(str.strip, text.split(","))):
            try:
                networks.append(ip_network(entry))
            except ValueError as error:
                if "/" in entry or ":" in entry or not any(map(str.isalpha, entry)):
                    raise ConfigError(f"{entry!r:.100} is no host, address or network: {error}", place=ALLOW_VARIABLE,
                                      mend="write hosts without a port, and networks like 10.0.0.0/8") from None
                hosts.add(_plain(entry))
        return cls(frozenset(hosts), tuple(networks))

    def permits(self, host: str, address: Address) -> bool:
        return _plain(host) in self.hosts or any(address in network for network in self.networks) or is_public(address)


def _plain(host: str) -> str:
    return host.rstrip(".").lower()


def is_public(address: Address) -> bool:
    """Whether the whole internet means the same machine by it. An IPv6 address that carries an IPv4 address to a gateway is
    as public as the address it carries."""
    if isinstance(address, IPv6Address):
        carried = _carried(address)
        if carried is not None:
            return is_public(carried)
        if address not in _UNICAST:
            return False
    if address.is_multicast or address.is_reserved or any(address in network for network in _NEVER):
        return False
    return address.is_global


def _carried(address: IPv6Address) -> IPv4Address | None:
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    if address.teredo is not None:
        return address.teredo[1]
    return address.ipv4_mapped or address.sixtofour


async def look_up(host: str, port: int) -> list[str]:
    """The addresses of a host in the order in which the system prefers them; raises OSError when it has none."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def check_host(host: str) -> None:
    """Raises `HostRefused` for a name that no name server can hold: to ask for it again is no use."""
    name = host.removesuffix(".")
    labels = name.split(".")
    longest = max(labels, key=len)
    if len(longest) > _MAX_LABEL_CHARACTERS:
        most = f"{_MAX_LABEL_CHARACTERS} is the limit between two dots"
        raise HostRefused(f"{longest[:20]}… in the host has {len(longest)} characters; {most}")
    if not all(labels):
        raise HostRefused(f"there is nothing between two dots of the host {host:.100}")
    if len(name) > _MAX_NAME_CHARACTERS:
        raise HostRefused(f"the host has {len(name)} characters; {_MAX_NAME_CHARACTERS} is the limit")


async def checked_addresses(host: str, port: int, allowed: Allowed, look_up: LookUp = look_up) -> list[str]:
    """The addresses of `host`, all of them permitted. Raises `AddressRefused` if a single one is not: an attacker's name may
    well have a public address beside the private one. Raises `HostRefused` as `check_host` does."""
    check_host(host)
    addresses = await look_up(host, port)
    for text in addresses:
        if not allowed.permits(host, ip_address(text.partition("%")[0])):
            raise AddressRefused(f"{host} is at {text}, which is no public address")
    return addresses
