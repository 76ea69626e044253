import contextlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wikisum.crawl.errors import BadUrl
from wikisum.crawl.index.surt import surt_key
from wikisum.crawl.urls import canonical_url

# Lines of CommonCrawl indexes, and examples of those who defined the key (long values cut short,
# `host` made `host.com`).
RECORDED = """
0,100,59,139)/                                     https://139.59.100.0/
0,123,172,167)/index.php/legales                   https://167.172.123.0/index.php/legales/
0,146,201,84)/en/projects/aleksandr-solzhenitsyn-conference https://84.201.146.0/en/projects/aleksandr-solzhenitsyn-conference
0,100,22,165)/robots.txt                           http://165.22.100.0/robots.txt
ar,com,fusionbikes)/producto/luz-knog-blinder-mini-niner https://fusionbikes.com.ar/producto/luz-knog-blinder-mini-niner/
ar,com,futbolinterior)/component/mailto?link=b2449d&template=shaper_helix3&tmpl=component http://futbolinterior.com.ar/component/mailto/?tmpl=component&template=shaper_helix3&link=b2449d
app,web,hurmaninvesterarimli)/89132/31224.html     https://hurmaninvesterarimli.web.app/89132/31224.html
com,hk01,2016legcoelection)/candidate/tag/205/54   http://2016legcoelection.hk01.com/candidate/tag/205/54
org,commoncrawl)/get-started                       https://www.commoncrawl.org/get-started
org,un)/                                           http://www.un.org
org,iana)/_css/2013.1/fonts/opensans-bold.ttf      http://www.iana.org/_css/2013.1/fonts/OpenSans-Bold.ttf
org,archive)/goo                                   http://archive.org/goo/?
org,archive)/goo?a&b                               http://archive.org/goo/?b&a
org,archive)/goo?a=1&a=2&b                         http://archive.org/goo/?a=2&b&a=1
org,archive)/                                      http://archive.org:/
192,211,203,34)/robots.txt                         https://34.203.211.192/robots.txt
2600:1f18:200d:fb00:2b74:867c:ab0c:150a)/robots.txt https://[2600:1f18:200d:fb00:2b74:867c:ab0c:150a]/robots.txt
ua,1kr)/newslist.html?tag=%e4%ee%f8%ea%ee          http://1kr.ua/newslist.html?tag=%E4%EE%F8%EA%EE
com,aluroba)/tags/%c3%ce%ca%c7%d1%e5%c7.htm        http://www.aluroba.com/tags/%C3%CE%CA%C7%D1%E5%C7.htm
ac,insbase)/xoops2/modules/xpwiki?%a4%d5%a4%af     https://www.insbase.ac/xoops2/modules/xpwiki/?%A4%D5%A4%AF
com,host)/~a!b@c%23d$e%25f^00&11*22(33)44_55+      http://host.com/%257Ea%2521b%2540c%2523d%2524e%25f%255E00%252611%252A22%252833%252944_55%252B
com,host)/%25                                      http://host.com/%2525252525252525
com,host)/ab%23cd                                  http://host.com/ab%23cd
com,host)/twoslashes?more//slashes                 http://host.com//twoslashes?more//slashes
com,gotaport:1234)/                                http://www.gotaport.com:1234/
org,example)/%e2%9a%91                             http://example.org/\u2691
org,example)/blah?z%e2%99%9fz=z%e4%b8%80z          http://example.org/blah?z%E2%99%9Fz=z%E4%B8%80z
gov,nsf)/statistics/sed/2009/sed_2009.zip          http://www.nsf.gov/statistics/sed/2009/SED_2009.zip?CFID=14387305&CFTOKEN=72942008
"""


@pytest.mark.parametrize("line", RECORDED.strip().splitlines())
def test_keys_as_recorded(line):
    key, url = line.split(maxsplit=1)
    assert surt_key(url) == key


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://example.com/?B=1&a-b=2&a=1", "com,example)/?a=1&a-b=2&b=1"),
        ("http://example.com/a%2F..%2Fb", "com,example)/b"),
        ("http://example.com/?a=%26b%3D1", "com,example)/?a=&b=1"),
        ("http://example.com/É", "com,example)/%c3%89"),
        ("http://example.com/a?utm_source=x", "com,example)/a"),
        ("http://www.com/", "com)/"),
        ("http://www2.www2foo.com/", "com,www2foo)/"),
        ("http://www.google.com/foo\tbar\rbaz\n2", "com,google)/foobarbaz2"),
        ("http://a.mi/(S(4hqa0555fwsecu455xqckv45))/B.aspx?P=Q", "mi,a)/b.aspx?p=q"),
    ],
)
def test_keys_by_the_rules(url, key):
    assert surt_key(url) == key


URLS = st.tuples(
    st.sampled_from(["http://a.com", "https://www.a.com:443", "http://A.com:81", "http://1.2.3.4"]),
    st.text(st.sampled_from("aB/.%25&=?;+ é()#"), max_size=12),
).map("/".join)


@given(URLS)
@example("http://a.com/?%26a&B")
def test_one_canonical_url_has_one_key(url):
    key = surt_key(url)
    assert surt_key(canonical_url(url)) == key
    assert key == key.lower()
    assert key.isascii()
    assert " " not in key


@pytest.mark.slow
@given(st.text())
def test_total(text):
    with contextlib.suppress(BadUrl):
        assert ")/" in surt_key(text)
