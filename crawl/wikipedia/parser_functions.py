"""MediaWiki's parser functions and variables, as far as they need no wiki (Help:Magic words)."""

import re
from decimal import Decimal, DivisionByZero, InvalidOperation, Overflow, localcontext

from wikisum.crawl.wikipedia.templates.numbers import format_number

_MAX_EXPRESSION_CHARS = 200  # nested parentheses stay far from Python's recursion limit
_TOKEN = re.compile(
    r"\s*(?:(\d+(?:\.\d*)?(?:[eE][-+]?\d{1,3})?|\.\d+)|(<>|!=|<=|>=|[-+*/^()<>=]|[a-z]+))", re.I
)
_PRECEDENCE = {
    "or": 1, "and": 2, "=": 3, "<>": 3, "!=": 3, "<": 3, ">": 3, "<=": 3, ">=": 3, "round": 4,
    "+": 5, "-": 5, "*": 6, "/": 6, "div": 6, "mod": 6, "^": 7,
}  # fmt: skip
_PREFIX = {"-": 8, "+": 8, "not": 8, "abs": 8, "ceil": 8, "floor": 8, "trunc": 8}


class BadExpression(Exception):
    """An `#expr` that cannot be computed; the message says why."""


def call_function(head: str, more: list[str], title: str = "", language: str = "en") -> str | None:
    """Return what `{{head|more...}}` shows if it is a known function, else None.

    `head` is the text up to the first bar, such as `#if: x` or `lc:ABC`. All arguments are
    evaluated already.
    """
    name, _, value = head.partition(":")
    name, value = name.strip().lower(), value.strip()
    arguments = [argument.strip() for argument in more]
    if name == "formatnum":
        return format_number(value, language)
    if name in ("lc", "uc", "lcfirst", "ucfirst"):
        return _change_case(name, value)
    if name == "#expr":
        return evaluate_or_empty(value)
    if name == "plural":
        return (*arguments, "", "")[0 if value == "1" else min(1, max(0, len(arguments) - 1))]
    if name in ("padleft", "padright"):
        return _pad(name, value, arguments)
    if name == "#if":
        return (*arguments, "", "")[0 if value else 1]
    if name == "#ifeq":
        return (*arguments[1:], "", "")[0 if is_equal(value, (*arguments, "")[0]) else 1]
    if name in ("pagename", "fullpagename", "subpagename"):
        return title
    return None


def _change_case(name: str, value: str) -> str:
    if name == "lc":
        return value.lower()
    if name == "uc":
        return value.upper()
    return (value[:1].lower() if name == "lcfirst" else value[:1].upper()) + value[1:]


def _pad(name: str, value: str, arguments: list[str]) -> str:
    width, fill = (*arguments, "", "")[:2]
    size = min(int(width), 100) if width.isdecimal() else 0
    fill = fill[:1] or "0"
    return value.rjust(size, fill) if name == "padleft" else value.ljust(size, fill)


def is_equal(first: str, second: str) -> bool:
    """Whether two strings are equal for `#ifeq` and `#switch`: as numbers if both are."""
    if first == second:
        return True
    try:
        return Decimal(first) == Decimal(second)
    except InvalidOperation:
        return False


def evaluate_or_empty(expression: str) -> str:
    """Return the value of an `#expr`, or "" if it has none."""
    try:
        return evaluate(expression)
    except BadExpression:
        return ""


def evaluate(expression: str) -> str:
    """Return the value of an `#expr` as MediaWiki prints it (Help:Calculation).

    Raises BadExpression.
    """
    if len(expression) > _MAX_EXPRESSION_CHARS:
        raise BadExpression("the expression is too long")
    tokens = _tokens(expression)
    if not tokens:
        return ""
    with localcontext() as context:
        context.prec, context.Emax, context.Emin = 20, 400, -400
        try:
            value = _parse(tokens, 0)
        except (InvalidOperation, DivisionByZero, Overflow, ValueError) as error:
            raise BadExpression(f"{expression}: {error}") from error
    if tokens:
        raise BadExpression(f"unexpected {tokens[-1]}")
    return _printed(value)


def _tokens(expression: str) -> list[str]:
    """The tokens in reverse, so that the next one is popped from the end."""
    tokens, index = [], 0
    expression = expression.replace("−", "-").strip()
    while index < len(expression):
        match = _TOKEN.match(expression, index)
        if match is None:
            raise BadExpression(f"unexpected character {expression[index]!r}")
        tokens.append(match[0].strip().lower())
        index = match.end()
    return tokens[::-1]


def _parse(tokens: list[str], floor: int) -> Decimal:
    """Precedence climbing: reads an operand, then all operators that bind closer than `floor`."""
    left = _operand(tokens)
    while tokens and _PRECEDENCE.get(tokens[-1], 0) > floor:
        operator = tokens.pop()
        left = _apply(operator, left, _parse(tokens, _PRECEDENCE[operator]))
    return left


def _operand(tokens: list[str]) -> Decimal:
    if not tokens:
        raise BadExpression("an operand is missing")
    token = tokens.pop()
    if token == "(":
        value = _parse(tokens, 0)
        if not tokens or tokens.pop() != ")":
            raise BadExpression("a parenthesis is not closed")
        return value
    if token in _PREFIX:
        return _prefixed(token, _parse(tokens, _PREFIX[token]))
    if token == "pi":
        return Decimal("3.1415926535898")
    if token[0].isdigit() or token[0] == ".":
        return Decimal(token)
    raise BadExpression(f"unexpected {token}")


def _prefixed(operator: str, value: Decimal) -> Decimal:
    if operator == "not":
        return Decimal(value == 0)
    if operator in ("+", "-"):
        return value if operator == "+" else -value
    if operator == "abs":
        return abs(value)
    rounding = {"ceil": "ROUND_CEILING", "floor": "ROUND_FLOOR", "trunc": "ROUND_DOWN"}[operator]
    return value.to_integral_value(rounding)


def _apply(operator: str, left: Decimal, right: Decimal) -> Decimal:
    if operator in ("/", "div"):
        return left / right
    if operator == "mod":
        return Decimal(int(left) % int(right)) if int(right) else left / right
    if operator == "^":
        return left**right
    if operator == "round":
        places = max(-30, min(30, int(right)))
        return left.quantize(Decimal(1).scaleb(-places), "ROUND_HALF_UP")
    if operator in ("and", "or"):
        both = (left != 0, right != 0)
        return Decimal(all(both) if operator == "and" else any(both))
    results: dict[str, Decimal | bool] = {
        "+": left + right, "-": left - right, "*": left * right, "=": left == right,
        "<>": left != right, "!=": left != right, "<": left < right, ">": left > right,
        "<=": left <= right, ">=": left >= right,
    }  # fmt: skip
    return Decimal(results[operator])


def _printed(value: Decimal) -> str:
    """A number without trailing zeros, with at most 14 digits, as PHP prints it."""
    with localcontext() as context:
        context.prec = 14
        value = +value
    text = f"{value:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text
