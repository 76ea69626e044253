"""Template expansion as MediaWiki does it, for templates that need no Lua (Help:Templates).

Parameters and their defaults, nested templates, redirects of templates, `#if`, `#ifeq`, `#ifexpr`,
`#iferror`, `#ifexist`, `#switch`, `#expr` and the simple string functions. What cannot be expanded,
such as `#invoke`, is reported, so that the caller can use its table of templates instead.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from wikisum.crawl.wikipedia.parser_functions import (
    BadExpression,
    call_function,
    evaluate,
    is_equal,
)

MAX_DEPTH = 20
MAX_STEPS = 20_000  # nodes that are evaluated for one page
MAX_CALL_CHARS = 100_000
MAX_REDIRECTS = 3
_TOKEN = re.compile(r"\{{2,}|\}{2,}|\[\[|\]\]|\||=")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_ONLYINCLUDE = re.compile(r"<onlyinclude\s*>(.*?)</onlyinclude\s*>", re.DOTALL | re.IGNORECASE)
_NOINCLUDE = re.compile(r"<noinclude\s*>.*?(?:</noinclude\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_INCLUDEONLY = re.compile(r"</?(?:includeonly|noinclude|onlyinclude)\s*/?>", re.IGNORECASE)
_REDIRECT = re.compile(r"\s*#\s*\w+\s*:?\s*\[\[[^\[\]|:]*:\s*([^\[\]|#]+)")
_PREFIX = re.compile(r"\s*(?:(?:safesubst|subst|msgnw|msg|raw)\s*:|template\s*:)\s*", re.IGNORECASE)
_CUT_OFF = re.compile(
    r"(?:^|\n)[ \t:*]*\{\||#invoke|#tag|<(?:div|table|gallery|references?|ref|math)\b", re.I
)
_BOX = re.compile(r"\{\{\s*(?:navbox|infobox|sidebar|ambox|asbox|documentation|mbox|fix)", re.I)
MAX_BODY_CHARS = 8_000


class Unexpandable(Exception):
    """A template that needs what only a wiki has, or more than the limits allow."""


class Parameter(NamedTuple):
    """`{{{name|default}}}`."""

    name: "Nodes"
    default: "Nodes | None"


class Template(NamedTuple):
    """`{{name|argument|...}}`."""

    parts: list["Nodes"]


class Equals(NamedTuple):
    """An equals sign that may separate the name of an argument from its value."""


Node = str | Parameter | Template | Equals
Nodes = list[Node]


def template_key(name: str) -> str:
    """Return a template's name in the form of page titles: `as_of` -> `As of`."""
    name = " ".join(_COMMENT.sub("", name).replace("_", " ").split())
    return name[:1].upper() + name[1:]


def simple_body(text: str) -> str | None:
    """Return what a template's page includes elsewhere, or None if it is no text for a sentence.

    Redirects are kept as they are. Boxes, tables and Lua are no text for a sentence.
    """
    if _REDIRECT.match(text):
        return text
    body = _COMMENT.sub("", text)
    if only := _ONLYINCLUDE.findall(body):
        body = "".join(only)
    body = _INCLUDEONLY.sub("", _NOINCLUDE.sub("", body))
    if len(body) > MAX_BODY_CHARS or _CUT_OFF.search(body) or _BOX.search(body):
        return None
    return body


def parse(text: str) -> Nodes:
    """Return markup as literal text, parameters and templates; unmatched braces are literal.

    One pass with a stack. Runs of braces are matched as MediaWiki matches them: of an opening run
    and the closing run that meets it, three braces each make a parameter where both have three,
    else two make a template; what is left of the opening run stays open around it.
    """
    stack = [_Piece("", 0)]
    index = 0
    for match in _TOKEN.finditer(text):
        if match.start() < index:
            continue
        stack[-1].add(text[index : match.start()])
        token, index = match[0], match.end()
        if token[0] == "{":
            stack.append(_Piece("{", len(token)))
        elif token == "[[":
            stack.append(_Piece("[", 2))
        elif token == "]]" and stack[-1].kind == "[":
            link = stack.pop()
            stack[-1].extend([*link.literal(), "]]"])
        elif token[0] == "}" and stack[-1].kind == "{":
            index = match.start() + _close(stack, len(token))
        elif token == "|" and stack[-1].kind == "{":
            stack[-1].parts.append([])
        elif token == "=" and stack[-1].kind == "{":
            stack[-1].parts[-1].append(Equals())
        else:
            stack[-1].add(token)
    stack[-1].add(text[index:])
    for unclosed in stack[1:]:  # each stands at the end of the one before it
        stack[0].extend(unclosed.literal())
    return stack[0].parts[0]


class _Piece:
    """An open run of braces or brackets and what came after it so far."""

    def __init__(self, kind: str, count: int) -> None:
        self.kind = kind
        self.count = count
        self.parts: list[Nodes] = [[]]

    def add(self, text: str) -> None:
        if text:
            self.parts[-1].append(text)

    def extend(self, nodes: Nodes) -> None:
        self.parts[-1].extend(nodes)

    def literal(self) -> Nodes:
        """The piece as text, where its braces turn out to be unmatched."""
        nodes: Nodes = [self.kind * self.count]
        for number, part in enumerate(self.parts):
            nodes += ["|"] if number else []
            nodes += ["=" if isinstance(node, Equals) else node for node in part]
        return nodes


def _close(stack: list[_Piece], count: int) -> int:
    """Close pieces with a run of `count` closing braces, two or more; return how many it took."""
    used = 0
    while count - used >= 2 and stack[-1].kind == "{":
        piece = stack.pop()
        width = 3 if piece.count >= 3 and count - used >= 3 else 2
        node = _parameter(piece.parts) if width == 3 else Template(piece.parts)
        used += width
        rest = piece.count - width
        if rest >= 2:
            stack.append(_Piece("{", rest))
        elif rest:
            stack[-1].add("{")
        stack[-1].parts[-1].append(node)
    return used


def _parameter(parts: list[Nodes]) -> Parameter:
    return Parameter(parts[0], parts[1] if len(parts) > 1 else None)


class _Frame(NamedTuple):
    """The arguments of the template whose body is evaluated, and the templates around it."""

    arguments: Mapping[str, str]
    active: frozenset[str]


_TOP = _Frame({}, frozenset())


class Expander:
    """Expands the templates of one page with the bodies of `templates`, by `template_key`."""

    def __init__(self, templates: Mapping[str, str], title: str = "", language: str = "en") -> None:
        self._templates = templates
        self._title = title
        self._language = language
        self._steps = 0
        self._parsed: dict[str, Nodes] = {}
        self.is_active = bool(templates)

    def resolve(self, name: str) -> str:
        """Return the name that a template's redirects lead to, or its own."""
        key = template_key(name)
        for _ in range(MAX_REDIRECTS):
            match = _REDIRECT.match(self._templates.get(key, ""))
            if match is None:
                break
            key = template_key(match[1])
        return key

    def has(self, name: str) -> bool:
        """Whether the body of a template is known, after redirects."""
        return self.is_active and self.resolve(name) in self._templates

    def expand(self, text: str) -> str:
        """Return markup with the known templates expanded and the others left as they stand.

        Raises Unexpandable if a known one needs Lua or exceeds a limit.
        """
        return self._evaluate(parse(text), _TOP)

    def _evaluate(self, nodes: Nodes, frame: _Frame) -> str:
        self._steps += len(nodes)
        if self._steps > MAX_STEPS:
            raise Unexpandable(f"more than {MAX_STEPS} steps")
        out = []
        for node in nodes:
            if isinstance(node, str):
                out.append(node)
            elif isinstance(node, Parameter):
                out.append(self._parameter(node, frame))
            elif isinstance(node, Template):
                out.append(self._template(node, frame))
            else:
                out.append("=")
        text = "".join(out)
        if len(text) > MAX_CALL_CHARS:
            raise Unexpandable(f"more than {MAX_CALL_CHARS} characters")
        return text

    def _parameter(self, node: Parameter, frame: _Frame) -> str:
        value = frame.arguments.get(self._evaluate(node.name, frame).strip())
        if value is not None:
            return value
        return self._evaluate(node.default, frame) if node.default is not None else ""

    def _template(self, node: Template, frame: _Frame) -> str:
        head = self._evaluate(node.parts[0], frame)
        while match := _PREFIX.match(head):
            head = head[match.end() :]
        if ":" in head:
            function = self._function(head, node.parts[1:], frame)
            if function is not None:
                return function
        key = self.resolve(head)
        body = self._templates.get(key)
        if body is None:
            parts = [head, *(self._evaluate(part, frame) for part in node.parts[1:])]
            return "{{" + "|".join(parts) + "}}"
        if key in frame.active or len(frame.active) >= MAX_DEPTH:
            return ""  # MediaWiki shows an error message for a loop
        arguments = self._arguments(node.parts[1:], frame)
        if key not in self._parsed:
            self._parsed[key] = parse(body)
        return self._evaluate(self._parsed[key], _Frame(arguments, frame.active | {key}))

    def _arguments(self, parts: list[Nodes], frame: _Frame) -> dict[str, str]:
        """The arguments by name or number; only the values of named ones lose outer blanks."""
        arguments: dict[str, str] = {}
        number = 0
        for part in parts:
            name, value = split_argument(part)
            if name is None:
                number += 1
                arguments[str(number)] = self._evaluate(value, frame)
            else:
                key = self._evaluate(name, frame).strip()
                arguments[key] = self._evaluate(value, frame).strip()
        return arguments

    def _function(self, head: str, parts: list[Nodes], frame: _Frame) -> str | None:
        """What a parser function shows; only the branch that is chosen is evaluated."""
        name, _, value = head.partition(":")
        name, value = name.strip().lower(), value.strip()
        if name == "#switch":
            return self._switch(value, parts, frame)
        if name in ("#if", "#ifexist", "#ifexpr", "#iferror", "#ifeq"):
            return self._branch(name, value, parts, frame)
        if name.startswith("#") and name != "#expr":
            raise Unexpandable(f"{name} needs a wiki")
        more = [self._evaluate(part, frame) for part in parts]
        return call_function(head, more, self._title, self._language)

    def _branch(self, name: str, value: str, parts: list[Nodes], frame: _Frame) -> str:
        if name == "#ifeq":
            other = self._evaluate(parts[0], frame).strip() if parts else ""
            is_true, parts = is_equal(value, other), parts[1:]
        elif name == "#ifexpr":
            try:
                is_true = evaluate(value) not in ("", "0")
            except BadExpression:
                return ""
        elif name == "#iferror":
            is_true = 'class="error"' in value
            if not is_true and len(parts) < 2:
                return value
        else:  # `#ifexist` names a page, which is taken to exist
            is_true = bool(value)
        chosen = 0 if is_true else 1
        return self._evaluate(parts[chosen], frame).strip() if chosen < len(parts) else ""

    def _switch(self, value: str, parts: list[Nodes], frame: _Frame) -> str:
        """The result of the first matching case; a case without one shares that of the next."""
        has_matched = False
        default: Nodes = []
        for index, part in enumerate(parts):
            case, result = split_argument(part)
            if case is None:
                if index == len(parts) - 1:
                    return self._evaluate(result, frame).strip()
                label = self._evaluate(result, frame).strip()
                has_matched = has_matched or is_equal(label, value) or label == "#default"
                continue
            label = self._evaluate(case, frame).strip()
            if has_matched or is_equal(label, value):
                return self._evaluate(result, frame).strip()
            if label == "#default":
                default = result
        return self._evaluate(default, frame).strip()


def split_argument(part: Nodes) -> tuple[Nodes | None, Nodes]:
    """Return the name and the value of an argument; the name of a positional one is None."""
    for index, node in enumerate(part):
        if isinstance(node, Equals):
            return part[:index], part[index + 1 :]
    return None, part


def expand(text: str, templates: Mapping[str, str], title: str = "") -> str:
    """Return markup with the templates in `templates` (body by name) expanded.

    >>> expand("{{hi|you}}", {"Hi": "Hello, {{{1|all}}}!"})
    'Hello, you!'
    """
    bodies = {template_key(name): simple_body(body) or "" for name, body in templates.items()}
    return Expander(bodies, title).expand(text)
