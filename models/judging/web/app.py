"""The web application of a study: one link per judge, plain forms, answers saved at once.

Routes, below a judge's token: `/` the overview, `/3` the third screen, and the style and script of
the pages. Whatever else is requested, or with another token, gets the same empty 404. Pages work
without JavaScript; the script adds keys and saves each answer when it is given.
"""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from wikisum.models.judging.fields import Field, faults, fitting
from wikisum.models.judging.store import Judge
from wikisum.models.judging.study import Study
from wikisum.models.judging.text import clean
from wikisum.models.judging.web.screens import Progress
from wikisum.ranker.runs.html import environment

FOLDER = Path(__file__).parent
MAX_BODY_BYTES = 1 << 18
AUTOSAVE = "x-autosave"  # the script sends it with a single answer, and wants no page
ASSETS = {"page.css": "text/css", "page.js": "text/javascript"}
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; "
    "connect-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",  # an address holds a token
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex, nofollow",
    "Cache-Control": "no-store",
}
Page = Callable[[Judge, Request, Mapping[str, str]], Response]


def judging_app(study: Study) -> Starlette:
    """Return the application that serves a study to its judges."""
    pages = _Pages(study)
    routes = [
        Route("/{token}/", _endpoint(study, pages.overview)),
        Route("/{token}/{position:int}", _endpoint(study, pages.screen)),
        Route("/{token}/{position:int}", _endpoint(study, pages.save), methods=["POST"]),
        Route("/{token}/{name}", _endpoint(study, pages.asset)),
    ]
    app = Starlette(routes=routes, exception_handlers={HTTPException: _not_found})
    app.router.redirect_slashes = False
    return app


def _not_found(request: Request, error: Exception) -> Response:
    """The same answer to every request that is not a judge's own."""
    return PlainTextResponse("Not found", 404, HEADERS)


def _endpoint(study: Study, page: Page) -> Callable[[Request], Awaitable[Response]]:
    """Check the token and read the form, then make the page in a thread."""

    async def respond(request: Request) -> Response:
        judge = await run_in_threadpool(study.store.judge, request.path_params["token"])
        if judge is None:
            raise HTTPException(404)
        form = await _form(request) if request.method == "POST" else {}
        response = await run_in_threadpool(page, judge, request, form)
        response.headers.update(HEADERS)
        return response

    return respond


async def _form(request: Request) -> dict[str, str]:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise HTTPException(404)
    pairs = parse_qsl(body.decode("ascii", "replace"), keep_blank_values=True, errors="replace")
    return {name: clean(value) for name, value in pairs}


class _Pages:
    """The pages of a study; each takes the judge, the request and the fields of its form."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._examples = study.store.examples()  # they never change
        templates = environment(FOLDER)
        self._overview = templates.get_template("overview.html")
        self._screen = templates.get_template("screen.html")

    def _progress(self, judge: Judge) -> Progress:
        return Progress(self._study, self._examples, judge)

    def overview(self, judge: Judge, request: Request, form: Mapping[str, str]) -> Response:
        """The instruction, the progress, and where to continue."""
        progress = self._progress(judge)
        return HTMLResponse(
            self._overview.render(
                progress=progress,
                protocol=self._study.protocol,
                done=progress.done(),
                next_open=progress.next_open(),
            )
        )

    def screen(self, judge: Judge, request: Request, form: Mapping[str, str]) -> Response:
        """One screen with its answers."""
        return self._rendered(self._progress(judge), _position(request), [])

    def save(self, judge: Judge, request: Request, form: Mapping[str, str]) -> Response:
        """Save answers; then show what is missing, or go to the next screen."""
        position = _position(request)
        progress = self._progress(judge)
        fields = _fields(progress, position)
        given = fitting(fields, form)
        if AUTOSAVE in request.headers:
            self._autosave(judge, position, given)
            return Response(status_code=204)
        self._study.store.save(judge.number, position, given)
        progress = self._progress(judge)
        if missing := faults(fields, progress.values(position)):
            return self._rendered(progress, position, missing)
        following = progress.next_open(position)
        return RedirectResponse("./" if following is None else str(following), 303)

    def _autosave(self, judge: Judge, position: int, given: Mapping[str, str]) -> None:
        for field, value in given.items():
            if value:
                self._study.store.save(judge.number, position, {field: value})
            else:  # an emptied text is no answer until the form is sent
                self._study.store.delete(judge.number, position, field)

    def _rendered(self, progress: Progress, position: int, missing: list[str]) -> Response:
        _fields(progress, position)
        page = self._screen.render(
            view=progress.view(position),
            position=position,
            total=len(progress.screens),
            done=sum(progress.done()),
            instruction=progress.instruction,
            missing=missing,
        )
        return HTMLResponse(page, 422 if missing else 200)

    def asset(self, judge: Judge, request: Request, form: Mapping[str, str]) -> Response:
        """The style or the script of the pages."""
        name = request.path_params["name"]
        if name not in ASSETS:
            raise HTTPException(404)
        return Response((FOLDER / name).read_bytes(), media_type=ASSETS[name])


def _position(request: Request) -> int:
    return int(request.path_params["position"])


def _fields(progress: Progress, position: int) -> list[Field]:
    if not 1 <= position <= len(progress.screens):
        raise HTTPException(404)
    return progress.fields(position)
