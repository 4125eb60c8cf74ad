"""Writes contract/openapi.json: the OpenAPI document of the API with every route that it has anywhere.

    make contract

A test compares the file with what this script makes, so a change of the API is a reviewed diff. The types of the console
and of `stepless.client`, and the test that the command line has an option for every query parameter, are made from the file.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

FILE: Final = Path(__file__).with_name("openapi.json")


def document() -> dict[str, Any]:
    """The document that `stepless dev` serves: its folder, its sign-in and its routes for one machine included."""
    # Imported here, because who reads FILE needs no engine.
    from stepless.api.app import create_app
    from stepless.api.routes.console import Codes
    from stepless.cli.dev.draft_files import DraftFiles
    from stepless.runtime.access.sessions import Sessions
    from stepless.runtime.wiring.local import local

    engine = local(None)
    try:
        codes = Codes(Sessions(engine.service.signer, engine.world.store, engine.world.clock), engine.world.clock)
        app = create_app(engine.service, development=True, codes=codes, draft_files=DraftFiles(FILE.parent))
        return app.openapi()
    finally:
        engine.close()


def render() -> str:
    return json.dumps(document(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "engine"))
    FILE.write_text(render(), "utf-8")
