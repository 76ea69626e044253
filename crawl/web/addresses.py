"""Which internet addresses are public: whom a fetcher of strangers' URLs may connect to.

A page can name, redirect to, or have its name resolve to an address inside one's own network, in
many spellings. Whatever was named, the address that is connected to is what must be looked at.
"""

import re
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address

_NUMBER = re.compile(r"0[xX][0-9a-fA-F]*|[0-9]+")
_RELAYS = ip_network("192.88.99.0/24")  # to 6to4, given up in RFC 7526
# Where clouds tell their own machines secrets; link-local addresses are the usual place.
_CLOUD_SERVICES = frozenset(map(ip_address, (
    "168.63.129.16", "100.100.100.200", "192.0.0.192", "fd00:ec2::254",
)))  # fmt: skip
_GLOBAL_UNICAST = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")
_LOW_32_BITS = (1 << 32) - 1


def literal_address(host: str) -> Address | None:
    """The address that a host of a URL is, in any spelling that resolvers take; None for a name.

    IPv6 may stand in brackets. IPv4 may have one to four numbers, decimal, octal (`0177`) or
    hexadecimal (`0x7f`), the last one filling the rest, as the URL standard reads it.
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
    except ValueError:  # 08
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

    Never to link-local ones and others where machines of a cloud are told their secrets: no page
    that was cited is there, and what they answer must not land in a public file.
    """
    met = [address, *(_carried_addresses(address) if address.version == 6 else [])]
    if any(a.is_link_local or a in _CLOUD_SERVICES for a in met):
        return False
    return allow_private or is_public(address)


def is_public(address: Address) -> bool:
    """Whether anyone on the internet may be meant by the address.

    Not so: private, loopback, link-local, shared, multicast, documentation and reserved ones, and
    IPv6 ones that carry such an IPv4 address (mapped, 6to4, Teredo, NAT64).
    """
    if isinstance(address, IPv6Address):
        carried = _carried_addresses(address)
        if carried:
            return all(map(is_public, carried))
        if address not in _GLOBAL_UNICAST:
            return False
    if address in _CLOUD_SERVICES or (address.version == 4 and address in _RELAYS):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def _carried_addresses(address: IPv6Address) -> list[IPv4Address]:
    """The IPv4 addresses to which a packet for this IPv6 one may go."""
    if address.ipv4_mapped:
        return [address.ipv4_mapped]
    if address.sixtofour:
        return [address.sixtofour]
    if address.teredo:
        return list(address.teredo)
    if address in _NAT64:
        return [IPv4Address(int(address) & _LOW_32_BITS)]
    return []
