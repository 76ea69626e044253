import ipaddress
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.crawl.web.addresses import is_public, literal_address, may_connect

LOOPBACK = ipaddress.ip_address("127.0.0.1")

PRIVATE = (
    "127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1",
    "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1", "192.0.0.1", "192.0.2.1",
    "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "224.0.1.1", "239.255.255.255",
    "240.0.0.1", "255.255.255.255", "192.88.99.1", "168.63.129.16", "100.100.100.200",
    "::", "::1", "fe80::1", "febf::1", "fec0::1", "fc00::1", "fd00:ec2::254", "ff02::1", "ff0e::1",
    "100::1", "2001:db8::1", "64:ff9b:1::1", "3fff::1", "3fff:fff:ffff::1", "5f00::1", "4000::1",
    "2001:2::1", "2001:10::1", "2001:1::1", "2001:4:112::1", "2001:1ff:ffff::1",
    # all of 192.0.0.0/24, which some releases of Python take for public in part
    "192.0.0.0", "192.0.0.8", "192.0.0.9", "192.0.0.10", "192.0.0.170", "192.0.0.255",
    # that carry a private IPv4 address: mapped, compatible, 6to4, NAT64, Teredo
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:a9fe:a9fe", "::127.0.0.1", "2002:7f00:1::",
    "2002:a9fe:a9fe::1", "2002:c0a8:101::", "64:ff9b::7f00:1", "64:ff9b::169.254.169.254",
    "2001:0:a00:1::1", "2001:0:808:808:0:0:f5ff:fffe",
)  # fmt: skip
PUBLIC = (
    "8.8.8.8", "1.1.1.1", "93.184.216.34", "172.15.0.1", "172.32.0.1", "192.167.1.1", "100.63.0.1",
    "100.128.0.1", "2606:4700::1111", "2a00:1450:4001::1", "::ffff:8.8.8.8", "2002:808:808::1",
    "64:ff9b::8.8.8.8", "192.0.1.1", "192.1.0.1", "198.17.255.255", "198.20.0.1", "223.255.255.255",
    "192.31.196.1", "192.52.193.1", "192.175.48.1", "2001:200::1", "2001:dc0::1", "2620:4f:8000::1",
    "3ffe::1",
)  # fmt: skip


@pytest.mark.parametrize("text", PRIVATE)
def test_private_addresses_are_not_public(text):
    assert not is_public(ipaddress.ip_address(text))


@pytest.mark.parametrize("text", PUBLIC)
def test_public_addresses_are(text):
    assert is_public(ipaddress.ip_address(text))


@given(st.ip_addresses(v=4))
def test_what_python_calls_private_is_not_public(address):
    if address.is_private or address.is_multicast or address.is_reserved:
        assert not is_public(address)


@given(st.ip_addresses(v=4))
def test_an_ipv6_address_is_as_public_as_the_one_it_carries(address):
    number = int(address)
    carriers = [
        ipaddress.IPv6Address((0xFFFF << 32) | number),
        ipaddress.IPv6Address((0x2002 << 112) | (number << 80) | 1),
        ipaddress.IPv6Address((0x64FF9B << 96) | number),
    ]
    assert all(is_public(carrier) == is_public(address) for carrier in carriers)


@pytest.mark.parametrize(
    "text",
    [
        "127.0.0.1", "127.0.0.1.", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.1",
        "0X7F.0.0.0x1", "0177.0.0.1", "017700000001", "0177.0.1", "127.0x000001", "127.00.00.01",
        "[::ffff:127.0.0.1]",
    ],
)  # fmt: skip
def test_every_spelling_of_loopback_is_read(text):
    address = literal_address(text)
    assert (getattr(address, "ipv4_mapped", None) or address) == LOOPBACK


@pytest.mark.slow
@given(st.ip_addresses(v=4), st.integers(1, 4), st.lists(st.sampled_from("dxo"), min_size=4))
def test_it_reads_numbers_as_the_system_does(address, count, bases):
    packed = address.packed
    numbers = [*packed[: count - 1], int.from_bytes(packed[count - 1 :], "big")]
    forms = {"d": str, "x": hex, "o": lambda n: f"0{n:o}"}
    text = ".".join(forms[base](n) for base, n in zip(bases, numbers, strict=False))
    assert literal_address(text) == address
    assert socket.inet_aton(text) == packed


@pytest.mark.parametrize(
    "name",
    ["example.org", "1.2.3.4.5", "256.1.1.1", "1.256.1", "4294967296", "08.0.0.1", "0xg", "",
     "1..2", "[::1::]", "12ab", "-1", "1.2.3.4x", "١٢٧.0.0.1"],
)  # fmt: skip
def test_names_and_what_is_neither_are_no_address(name):
    assert literal_address(name) is None


def test_zones_of_ipv6_do_not_hide_it():
    assert literal_address("[fe80::1%25eth0]") == ipaddress.ip_address("fe80::1")


@pytest.mark.parametrize(
    ("text", "allowed"),
    [("127.0.0.1", True), ("192.168.1.1", True), ("::1", True), ("8.8.8.8", True),
     ("169.254.169.254", False), ("fe80::1", False), ("::ffff:169.254.169.254", False),
     ("2002:a9fe:a9fe::1", False), ("fd00:ec2::254", False), ("100.100.100.200", False)],
)  # fmt: skip
def test_where_clouds_keep_secrets_is_never_asked(text, allowed):
    address = ipaddress.ip_address(text)
    assert may_connect(address, allow_private=True) == allowed
    assert may_connect(address, allow_private=False) == is_public(address)
