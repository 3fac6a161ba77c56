"""`delassus view`: a model or a recording in a browser, or a recording as a page."""

from __future__ import annotations

import argparse
import webbrowser

from ..errors import SettingError, UnknownNameError
from ..model.model import Model
from ..simulation.told.recording import Recording, is_recording
from ..viewer import to_html, view
from .models import find_model


def add_to(commands) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "view",
        help="look at a model or a recording in a browser",
        description="Show a model with sliders for its joints, or play a recording.",
    )
    parser.add_argument(
        "what",
        metavar="FILE|ROBOT|RECORDING",
        help="a model's file, the name of a robot or figure, or a recording's file",
    )
    parser.add_argument(
        "--model",
        metavar="FILE|ROBOT",
        help="the model of a recording (default: the robot or figure that it names)",
    )
    parser.add_argument(
        "--html", metavar="FILE", help="write a recording as a page that plays anywhere, and end"
    )
    parser.add_argument("--host", default="127.0.0.1", help="0.0.0.0 lets everybody look")
    parser.add_argument("--port", type=int, default=8080, help="the first port to try")
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Show it until interrupted."""
    recording = Recording.load(options.what) if is_recording(options.what) else None
    name = options.what if recording is None else options.model or recording.name
    model = _model(name)
    if options.html is not None:
        if recording is None:
            raise SettingError("--html writes a recording, and this is a model")
        to_html(recording, options.html, model)
        print(f"written: {options.html}")
        return 0
    shown = view(model, recording=recording, host=options.host, port=options.port)
    for text in shown.scene.missing:
        print(f"not shown: {text}")
    print(f"{model.name}: {shown.url} (Ctrl-C ends it)")
    if not options.no_browser:
        webbrowser.open(shown.url)
    try:
        shown.wait()
    finally:
        shown.close()
    return 0


def _model(name: str) -> Model:
    """The model that is named."""
    try:
        return find_model(name)[0]
    except UnknownNameError as error:
        raise UnknownNameError(f"{error}; a recording's model is given by --model") from None
