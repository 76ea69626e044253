"""Which internet addresses are public: whom a fetcher of strangers' URLs may connect to.

A page can name, redirect to, or have its name resolve to an address inside the fetcher's own
network, in many spellings. So the address that is about to be connected to is checked, whatever
the URL said.
"""

import re
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address

_NUMBER = re.compile(r"0[xX][0-9a-fA-F]*|[0-9]+")
# The IANA special-purpose address registries, as of November 2025, without what is public. A table
# of our own, because `ipaddress.is_global` differs between patch releases of Python. Where the
# registry has a public exception within a block (192.0.0.9, 2001:4:112::/48), no web server uses
# it, and the whole block is refused.
# https://www.iana.org/assignments/iana-ipv4-special-registry
_SPECIAL_IPV4 = tuple(map(IPv4Network, (
    "0.0.0.0/8",  # this network (RFC 791)
    "10.0.0.0/8",  # private use (RFC 1918)
    "100.64.0.0/10",  # shared by carriers (RFC 6598)
    "127.0.0.0/8",  # loopback (RFC 1122)
    "169.254.0.0/16",  # link local (RFC 3927)
    "172.16.0.0/12",  # private use (RFC 1918)
    "192.0.0.0/24",  # IETF protocol assignments (RFC 6890)
    "192.0.2.0/24",  # documentation (RFC 5737)
    "192.88.99.0/24",  # relays to 6to4, deprecated (RFC 7526)
    "192.168.0.0/16",  # private use (RFC 1918)
    "198.18.0.0/15",  # benchmarking (RFC 2544)
    "198.51.100.0/24",  # documentation (RFC 5737)
    "203.0.113.0/24",  # documentation (RFC 5737)
    "224.0.0.0/4",  # multicast (RFC 5771)
    "240.0.0.0/4",  # reserved, and limited broadcast (RFC 1112, 8190)
)))  # fmt: skip
# https://www.iana.org/assignments/iana-ipv6-special-registry
_GLOBAL_UNICAST = IPv6Network("2000::/3")  # all else is special or not assigned (RFC 4291)
_SPECIAL_IPV6 = tuple(map(IPv6Network, (
    "2001::/23",  # IETF protocol assignments: Teredo, benchmarking, ORCHID (RFC 2928)
    "2001:db8::/32",  # documentation (RFC 3849)
    "2002::/16",  # 6to4 (RFC 3056)
    "3fff::/20",  # documentation (RFC 9637)
)))  # fmt: skip
_NAT64 = IPv6Network("64:ff9b::/96")
_LOW_32_BITS = (1 << 32) - 1
# Where clouds hand out secrets to their machines; link-local addresses are the usual place.
_CLOUD_SERVICES = frozenset(map(ip_address, (
    "168.63.129.16", "100.100.100.200", "192.0.0.192", "fd00:ec2::254",
)))  # fmt: skip


def literal_address(host: str) -> Address | None:
    """Return the address that a URL's host spells, or None if the host is a name.

    IPv6 may stand in brackets. IPv4 may have one to four numbers, decimal, octal (`0177`) or
    hexadecimal (`0x7f`); the last one fills the rest, as in the URL standard.
    """
    text = host.strip("[]").rstrip(".").partition("%")[0]
    if ":" in text:
        try:
            return ip_address(text)
        except ValueError:
            return None
    parts = text.split(".")
    if len(parts) > 4 or not all(_NUMBER.fullmatch(part) for part in parts):
        return None
    try:
        *first, last = (_number(part) for part in parts)
    except ValueError:  # 08, or more digits than Python converts
        return None
    if any(number > 255 for number in first) or last >= 256 ** (4 - len(first)):
        return None
    shift = 24
    for number in first:
        last += number << shift
        shift -= 8
    return IPv4Address(last)


def _number(text: str) -> int:
    if text[:2] in ("0x", "0X"):
        return int(text[2:] or "0", 16)
    return int(text, 8) if len(text) > 1 and text[0] == "0" else int(text)


def may_connect(address: Address, allow_private: bool) -> bool:
    """Whether a fetcher may connect: to public addresses, or to private and loopback ones too.

    Link-local addresses and others where a cloud gives secrets to its machines are always refused:
    no cited page is there, and what they answer must not land in a public file.
    """
    met = [address, *(_embedded_addresses(address) if address.version == 6 else [])]
    if any(a.is_link_local or a in _CLOUD_SERVICES for a in met):
        return False
    return allow_private or is_public(address)


def is_public(address: Address) -> bool:
    """Whether the address may belong to any machine on the internet.

    Private, loopback, link-local, shared, multicast, documentation and reserved addresses are not
    public, nor are IPv6 addresses that embed such an IPv4 address (mapped, 6to4, Teredo, NAT64).
    """
    if address in _CLOUD_SERVICES:
        return False
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _SPECIAL_IPV4)
    if embedded := _embedded_addresses(address):
        return all(map(is_public, embedded))
    is_special = any(address in network for network in _SPECIAL_IPV6)
    return address in _GLOBAL_UNICAST and not is_special


def _embedded_addresses(address: IPv6Address) -> list[IPv4Address]:
    """The IPv4 addresses to which a packet for this IPv6 address may go."""
    if address.ipv4_mapped:
        return [address.ipv4_mapped]
    if address.sixtofour:
        return [address.sixtofour]
    if address.teredo:
        return list(address.teredo)
    if address in _NAT64:
        return [IPv4Address(int(address) & _LOW_32_BITS)]
    return []
