import asyncio
from collections.abc import Awaitable, Callable
from ipaddress import ip_address

import pytest

from stepless.errors import ConfigError
from stepless.nodes.http.addresses import AddressRefused, Allowed, HostRefused, checked_addresses, is_public, look_up

PRIVATE = [
    "127.0.0.1", "127.8.8.8", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "169.254.170.2",
    "100.64.0.1",
    "192.0.0.8", "198.18.0.1", "203.0.113.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "fc00::1",
    "fd00:ec2::254", "ff02::1", "::ffff:127.0.0.1", "::ffff:a9fe:a9fe", "::127.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b:1::808:808",
    "2002:7f00:1::1", "2001:0:4136:e378:8000:63bf:80ff:fffe", "2001:db8::1", "fec0::1", "feff::1", "3fff::1", "5f00::1", "100::1",
    "100:0:0:1::1", "4000::1", "1fff::1", "fe00::1", "2001:2::1",
]


def answering(*addresses: str) -> Callable[[str, int], Awaitable[list[str]]]:
    async def look_up(host: str, port: int) -> list[str]:
        return list(addresses)

    return look_up


@pytest.mark.parametrize("address", PRIVATE)
def test_what_only_some_machines_can_reach_is_not_public(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "1.1.1.1", "2606:4700:4700::1111", "2a00:1450::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8"]
)
def test_what_everybody_can_reach_is_public(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize(("allow", "host", "addresses", "permitted"), [
    ("", "a.example", ["8.8.8.8"], True),
    ("", "a.example", ["10.0.0.1"], False),
    ("", "a.example", ["8.8.8.8", "10.0.0.1"], False),
    ("", "a.example", ["fe80::1%lo"], False),
    ("a.example", "a.example", ["10.0.0.1"], True),
    ("A.Example.", "a.example", ["10.0.0.1"], True),
    ("a.example", "A.EXAMPLE.", ["10.0.0.1"], True),
    ("a.example", "b.a.example", ["10.0.0.1"], False),
    ("10.0.0.0/8, ::1", "a.example", ["10.0.0.1", "::1"], True),
    ("10.0.0.0/8", "a.example", ["11.0.0.1", "192.168.0.1"], False),
    ("127.0.0.1", "127.0.0.1", ["127.0.0.1"], True),
    ("localhost", "127.0.0.1", ["127.0.0.1"], False),
])
def test_every_address_of_a_host_must_be_public_or_allowed(allow: str, host: str, addresses: list[str], permitted: bool) -> None:
    checked = checked_addresses(host, 80, Allowed.parse(allow), answering(*addresses))
    if permitted:
        assert asyncio.run(checked) == addresses
    else:
        with pytest.raises(AddressRefused, match=host):
            asyncio.run(checked)


@pytest.mark.parametrize(
    "host", ["a" * 64, f"{'a' * 64}.example", f"www.{'b' * 64}", "a..example", ".", ".a", ".".join(["a" * 63] * 4)]
)
def test_a_name_that_no_host_can_have_is_not_looked_up(host: str) -> None:
    async def never(host: str, port: int) -> list[str]:
        raise AssertionError("looked up")

    with pytest.raises(HostRefused):
        asyncio.run(checked_addresses(host, 80, Allowed(), never))


@pytest.mark.parametrize("host", ["a" * 63, "example.", "::1", "127.0.0.1", "xn--mnchen-3ya.example", ".".join(["a" * 62] * 4)])
def test_a_name_that_a_host_can_have_is_looked_up(host: str) -> None:
    assert asyncio.run(checked_addresses(host, 80, Allowed(), answering("8.8.8.8"))) == ["8.8.8.8"]


@pytest.mark.parametrize("entry", ["10.0.0.1/8", "10.0.0", "a.example:80", "https://a.example", "300.1.1.1"])
def test_a_malformed_entry_of_the_list_is_named(entry: str) -> None:
    with pytest.raises(ConfigError, match="STEPLESS_HTTP_ALLOW") as refused:
        Allowed.parse(f"good.example, {entry}")
    assert repr(entry) in refused.value.message


@pytest.mark.parametrize("disguise", ["2130706433", "0x7f.1", "127.1", "017700000001"])
def test_a_number_in_disguise_is_looked_up_before_it_is_judged(disguise: str) -> None:
    with pytest.raises(AddressRefused, match=r"127\.0\.0\.1"):
        asyncio.run(checked_addresses(disguise, 80, Allowed(), look_up))
