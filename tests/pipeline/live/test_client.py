"""Requests that must be refused; how wrong answers end. Nothing leaves this machine."""

import asyncio
import gzip
import ssl
from pathlib import Path

import httpcore2
import pytest

from tests.servers import NOT_FOUND, Answer, Names, Network, Server, page
from wikisum.crawl.errors import BadUrl
from wikisum.crawl.web.targets import target_of
from wikisum.pipeline.live import client as web_client
from wikisum.pipeline.live.client import Exchange, NotFetched, WebClient
from wikisum.pipeline.live.settings import LiveSettings

PUBLIC = "93.184.216.34"


def get(url: str, names: Names, context: ssl.SSLContext | None = None, **settings) -> Exchange:
    async def ask() -> Exchange:
        client = WebClient(LiveSettings(**settings), names, context)
        try:
            return await client.get(target_of(url))
        finally:
            await client.aclose()

    return asyncio.run(ask())


def refusal(url: str, names: Names, **settings) -> str:
    with pytest.raises(NotFetched) as caught:
        get(url, names, **settings)
    return caught.value.reason


@pytest.fixture
def server():
    def answers(path: str) -> Answer:
        return page() if path.startswith("/page") else NOT_FOUND

    with Server(answers).running() as running:
        yield running


@pytest.fixture
def network(server, monkeypatch):
    """Every public address leads to the server; private ones must not get that far."""
    network = Network(server.port)
    monkeypatch.setattr(web_client.httpcore2, "AnyIOBackend", lambda: network)
    return network


def test_a_public_address_is_connected_to_by_number(network, server):
    names = Names(good_example=[[PUBLIC]])
    answer = get("http://good.example/page?q=1", names)
    assert answer.status == 200
    assert network.connected == [(PUBLIC, 80)]  # not the name, which may change its mind
    assert names.asked == ["good.example"]
    assert [(r.path, r.host) for r in server.requests] == [("/page?q=1", "good.example")]


@pytest.mark.slow
@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "10.1.2.3", "192.168.0.1", "172.16.0.1", "169.254.169.254", "0.0.0.0",
        "127.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "017700000001",
        "127.0.0.1.", "1２7.0.0.1", "127。0。0。1", "[::1]", "[::]", "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]", "[::ffff:169.254.169.254]", "[2002:7f00:1::]", "[2002:c0a8:1::1]",
        "[64:ff9b::7f00:1]", "[64:ff9b::10.0.0.1]", "[2001:0:a00:1::1]", "[fe80::1]",
        "[fe80::1%25lo]", "[fc00::1]", "[fd00:ec2::254]", "[::127.0.0.1]", "[fec0::1]", "[ff02::1]",
        "user@127.0.0.1", "public.example@127.0.0.1",
    ],
)  # fmt: skip
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_private_addresses_are_refused_in_every_spelling(scheme, host, network, server):
    assert refusal(f"{scheme}://{host}/page", Names()) == "private_address"
    assert network.connected == []
    assert server.requests == []


@pytest.mark.parametrize(
    "found",
    [["127.0.0.1"], ["10.0.0.1"], ["169.254.169.254"], ["::1"], ["::ffff:10.0.0.1"],
     ["2002:7f00:1::"], ["64:ff9b::7f00:1"], ["fd00::1"], [PUBLIC, "10.0.0.1"],
     ["192.168.0.1", PUBLIC], ["0.0.0.0"], ["224.0.1.1"], ["100.64.0.1"]],
)  # fmt: skip
def test_names_that_lead_to_private_addresses_are_refused(found, network, server):
    assert refusal("http://trap.example/page", Names(trap_example=[found])) == "private_address"
    assert network.connected == []


def test_a_name_that_changes_its_mind_is_looked_at_each_time(network, server):
    names = Names(rebind_example=[[PUBLIC], ["127.0.0.1"]])

    async def ask_twice() -> str:
        settings = LiveSettings()
        first = WebClient(settings, names)
        answer = await first.get(target_of("http://rebind.example/page"))
        await first.aclose()  # so that the second has to connect anew
        second = WebClient(settings, names)
        try:
            await second.get(target_of("http://rebind.example/page"))
        except NotFetched as error:
            return f"{answer.status} {error.reason}"
        finally:
            await second.aclose()
        return "fetched twice"

    assert asyncio.run(ask_twice()) == "200 private_address"
    assert network.connected == [(PUBLIC, 80)]


@pytest.mark.parametrize("port", [22, 25, 110, 1023, 6379, 8080, 65535])
def test_ports_other_than_those_of_the_web_are_refused(port, network):
    assert refusal(f"http://good.example:{port}/", Names(good_example=[[PUBLIC]])) == "port_refused"
    assert network.connected == []


def test_other_ports_are_allowed_on_request(network):
    names = Names(good_example=[[PUBLIC]])
    assert get("http://good.example:8080/page", names, any_port=True).status == 200
    assert network.connected == [(PUBLIC, 8080)]


@pytest.mark.parametrize(
    "url", ["ftp://good.example/", "file:///etc/passwd", "gopher://127.0.0.1/"]
)
def test_other_schemes_are_no_targets(url):
    with pytest.raises(BadUrl):
        target_of(url)


def test_private_addresses_are_asked_if_one_says_so(server):
    answer = get(f"{server.url}/page", Names(), allow_private=True)
    assert (answer.status, answer.address) == (200, "127.0.0.1")


def test_link_local_addresses_are_never_asked(network):
    for host in ("169.254.169.254", "[fe80::1]", "[::ffff:169.254.169.254]", "link.example"):
        names = Names(link_example=[["169.254.169.254"]])
        assert refusal(f"http://{host}/", names, allow_private=True) == "private_address"
    assert network.connected == []


def test_the_next_address_is_tried_where_one_is_silent(server, monkeypatch):
    network = Network(server.port)
    connect = network.connect_tcp

    async def some_fail(host: str, *others: object) -> httpcore2.AsyncNetworkStream:
        if host == "8.8.4.4":
            raise httpcore2.ConnectError("refused")
        return await connect(host, *others)

    monkeypatch.setattr(network, "connect_tcp", some_fail)
    monkeypatch.setattr(web_client.httpcore2, "AnyIOBackend", lambda: network)
    names = Names(two_example=[["8.8.4.4", PUBLIC]], none_example=[["8.8.4.4"]])
    assert get("http://two.example/page", names).status == 200
    assert network.connected == [(PUBLIC, 80)]
    assert refusal("http://none.example/page", names) == "connect_failed"
    assert refusal("http://nowhere.example/page", names) == "dns_failed"


def test_a_secure_host_is_asked_for_by_its_name(tmp_path, monkeypatch):
    """The server's name goes into the handshake and the request, though a number is connected."""
    names_in_handshake: list[str] = []
    context = _server_context(tmp_path)
    context.sni_callback = lambda _socket, name, _context: names_in_handshake.append(name)
    with Server(lambda path: page(), context).running() as server:
        network = Network(server.port)
        monkeypatch.setattr(web_client.httpcore2, "AnyIOBackend", lambda: network)
        trusting = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
        names = Names(good_example=[[PUBLIC]], other_example=[[PUBLIC]])
        assert get("https://good.example/page", names, trusting).status == 200
        assert names_in_handshake == ["good.example"]
        assert server.requests[0].host == "good.example"
        with pytest.raises(NotFetched) as caught:  # the certificate is of another name
            get("https://other.example/page", names, trusting)
        assert caught.value.reason == "tls_failed"
        assert caught.value.is_unreached
        assert len(server.requests) == 1


def _server_context(folder: Path) -> ssl.SSLContext:
    from datetime import UTC, datetime, timedelta

    x509 = pytest.importorskip("cryptography.x509")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "good.example")])
    now = datetime.now(UTC)
    cert = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("good.example")]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    plain = serialization.PrivateFormat.PKCS8
    (folder / "cert.pem").write_bytes(cert.public_bytes(pem))
    (folder / "key.pem").write_bytes(key.private_bytes(pem, plain, serialization.NoEncryption()))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
WRONG = {
    "/short": (Answer(raw=HEAD + b"Content-Length: 100\r\n\r\nonly this"), "broken_answer"),
    "/nothing": (Answer(raw=b""), "broken_answer"),
    "/no-http": (Answer(raw=b"220 mail.example ESMTP\r\n"), "broken_answer"),
    "/endless-head": (Answer(raw=b"HTTP/1.1 200 OK\r\nX: " + b"x" * (1 << 20)), "broken_answer"),
    "/chunks": (Answer(raw=HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"), "broken_answer"),
    "/silent": (page()._replace(wait_seconds=20), "timeout"),
    "/pdf": (Answer(200, b"%PDF-1.7", {"Content-Type": "application/pdf"}), "not_html"),
    "/large": (page("x" * 5000), "page_too_large"),
    "/unbounded": (Answer(raw=HEAD + b"\r\n" + b"x" * 5000), "page_too_large"),
}


@pytest.fixture(scope="module")
def wrong_server():
    with Server(lambda path: WRONG[path][0]).running() as running:
        yield running


@pytest.mark.parametrize("path", WRONG)
def test_wrong_answers_end_with_their_reason(path, wrong_server):
    _, reason = WRONG[path]
    seconds = 0.5 if reason == "timeout" else 15.0  # a busy machine answers late
    limits = {"allow_private": True, "timeout_seconds": seconds, "max_page_bytes": 4000}
    assert refusal(wrong_server.url + path, Names(), **limits) == reason


def test_answers_are_kept_as_they_were_sent():
    packed = gzip.compress(b"<p>packed</p>", mtime=0)
    chunked = b"%x\r\n" % len(packed) + packed + b"\r\n0\r\n\r\n"
    head = HEAD + b"Content-Encoding: gzip\r\nX-Odd: caf\xe9\r\nTransfer-Encoding: chunked\r\n\r\n"
    with Server(lambda path: Answer(raw=head + chunked)).running() as server:
        answer = get(f"{server.url}/x", Names(), allow_private=True, contact="me@example.org")
    assert answer.body == packed
    assert (b"X-Odd", b"caf\xe9") in answer.headers
    assert answer.header("content-encoding") == "gzip"
    assert (answer.version, answer.reason_phrase, answer.is_cut) == ("HTTP/1.1", "OK", False)
    assert server.requests[0].agent.startswith("wikisum/")
    assert server.requests[0].agent.endswith(" (+me@example.org)")


def test_of_an_error_page_the_beginning_is_kept():
    with Server(lambda path: Answer(500, b"x" * 100_000)).running() as server:
        answer = get(f"{server.url}/", Names(), allow_private=True)
    assert (answer.status, len(answer.body), answer.is_cut) == (500, 64 << 10, True)
