"""Decides which addresses a workflow may send requests to.

A URL can come from data, so an attacker could make a node call what only this machine can reach: the cloud's metadata service,
a database, another machine in the private network. Therefore this module resolves the host name, requires every address to be
public or allowed, and connects to a checked address. The name is never resolved a second time, which could give another answer.
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
_UNICAST: Final = IPv6Network("2000::/3")  # global unicast (RFC 4291, 2.4)
_NEVER: Final = (IPv4Network("192.0.0.0/24"), IPv6Network("3fff::/20"))  # older Python versions report them as global
_MAX_LABEL_CHARACTERS: Final = 63  # RFC 1035, 2.3.4
_MAX_NAME_CHARACTERS: Final = 253


class HostRefused(ValueError):
    """The host name is invalid."""


class AddressRefused(Exception):
    """The host has an address that is neither public nor allowed."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """The hosts (as written in URLs) and networks that may be reached in addition to public addresses."""

    hosts: frozenset[str] = frozenset()
    networks: tuple[IPv4Network | IPv6Network, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Allowed:
        """Parses comma-separated hosts, addresses and CIDR networks. Raises `ConfigError` naming an invalid entry."""
        hosts, networks = set(), []
        for entry in filter(None, map(str.strip, text.split(","))):
            try:
                networks.append(ip_network(entry))
            except ValueError as error:
                if "/" in entry or ":" in entry or not any(map(str.isalpha, entry)):
                    raise ConfigError(f"{entry!r:.100} is not a host, address or network: {error}", place=ALLOW_VARIABLE,
                                      mend="write hosts without a port, and networks like 10.0.0.0/8") from None
                hosts.add(_plain(entry))
        return cls(frozenset(hosts), tuple(networks))

    def permits(self, host: str, address: Address) -> bool:
        return _plain(host) in self.hosts or any(address in network for network in self.networks) or is_public(address)


def _plain(host: str) -> str:
    return host.rstrip(".").lower()


def is_public(address: Address) -> bool:
    """Returns whether the address is global. An IPv6 address that embeds an IPv4 address for a gateway is public if the IPv4
    address is."""
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
    """Returns the addresses of a host, in the system's order of preference. Raises OSError when it has none."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def check_host(host: str) -> None:
    """Raises `HostRefused` for a name that DNS cannot contain: a retry does not help."""
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
    """Returns the addresses of `host`, all of them permitted. Raises `AddressRefused` if any is not: an attacker's name may have
    both a public and a private address. Raises `HostRefused` as `check_host` does."""
    check_host(host)
    addresses = await look_up(host, port)
    for text in addresses:
        if not allowed.permits(host, ip_address(text.partition("%")[0])):
            raise AddressRefused(f"{host} is at {text}, which is not a public address")
    return addresses
