"""The words that `benchmarks.topics` makes its articles of."""

from itertools import product


def _words(text: str) -> list[str]:
    return text.split()


def _pairs(one: str, other: str, between: str = " ") -> list[str]:
    return [between.join(pair) for pair in product(one.split(), other.split())]


NAMES = _pairs(
    "Ta Or Ka Lu Mi Be So Ve Du Ro Ne Fa Gi Hu Pe Zo", "vin rel dor mak sta len gur thi pon bax", ""
)
TOWNS = _pairs("Ash Brim Cold Dray Elm Fen Gorse Holt", "ford wick ham mouth", "")
_FAMILIES = "Quill Penrose Hatch Lowell Birch Stroud Wren Abbot Frost Larkin Moss Thorne"
PEOPLE = _pairs("Mara Josiah Edith Silas Nora Amos Clara Felix Ida Jonas Ruth Victor", _FAMILIES)
FIRMS = _pairs(_FAMILIES, "Brothers Sons Partners")
PRICES = _pairs(
    "ten twelve twenty thirty forty fifty sixty ninety", "crowns shillings ducats florins"
)
MATERIALS = _words("granite brick iron oak slate marble copper glass clay steel flint pine")
COLORS = _words("red green blue white black yellow purple orange brown grey silver golden")
ANIMALS = _words("swans bats otters owls foxes herons beavers ravens moths toads hares bees")
RENOWN = _words("music cheese clocks lace kites songs roses lamps bells honey chess poems")

# What a thing can be told of, in the order of the lead, and the values it takes.
FACTS = [
    ("stands in {}", TOWNS),
    ("was built by {}", PEOPLE),
    ("opened in {}", [str(year) for year in range(1801, 1841)]),
    ("is made of {}", MATERIALS),
    ("was painted {}", COLORS),
    ("belongs to {}", FIRMS),
    ("is home to {}", ANIMALS),
    ("was sold for {}", PRICES),
    ("burned down in {}", [str(year) for year in range(1851, 1891)]),
    ("was restored by {}", PEOPLE),
    ("can be reached from {}", TOWNS),
    ("is famous for {}", RENOWN),
]
# What a thing is, as its title says, and what pages call it.
ALIASES_OF_KIND = {
    "Bridge": ["the crossing", "the span"],
    "Mill": ["the grinder", "the wheelhouse"],
    "Tower": ["the turret", "the lookout"],
    "Church": ["the chapel", "the nave"],
    "School": ["the academy", "the classroom"],
    "Theatre": ["the playhouse", "the stage"],
    "Prison": ["the jail", "the dungeon"],
    "Harbour": ["the port", "the quay"],
    "Station": ["the terminus", "the depot"],
    "Library": ["the archive", "the bookroom"],
    "Hospital": ["the infirmary", "the ward"],
    "Brewery": ["the alehouse", "the cellar"],
}
FILLERS = [
    "Few visitors know this.",
    "The records are in good order.",
    "It has been told many times.",
    "Nobody doubts that any more.",
    "Older books say the same.",
    "A plaque beside the door says so.",
    "The town was proud of that.",
    "That was a great day for all.",
    "The papers wrote much about it.",
    "Some letters of that time are kept.",
    "The council had long asked for it.",
    "So much is certain.",
]
# Pages that repeat the title's words, here {0}, {1} and {2}, and tell nothing.
REPEATS = [
    "Maps of {0}, hotels near {1} and photos with {2} in them.",
    "More on {0}: see also {1}, and then {2}.",
    "Did you mean {0}? Others looked for {1} or for {2}.",
    "Forum: posts about {0}, posts about {1}, posts about {2}.",
    "Tags: {0}. Other tags: {1}. Old tags: {2}.",
    "Share {0} with your friends, follow {1} and rate {2}.",
    "Find the best offers for {0}, deals for {1} and tickets for {2}.",
    "Log in to write about {0}, to sell {1} or to buy {2}.",
]
