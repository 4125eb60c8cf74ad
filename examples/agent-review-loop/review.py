"""A function that the drafting model may call to look facts up. It replaces a search service, so the example needs no network."""

from __future__ import annotations

from stepless.nodes.function import FunctionCall, function

FACTS = {
    "dark mode": ["It is switched on in Settings.", "It can follow the sunset."],
    "export": ["Runs can be exported as JSON."],
}


@function("facts.find")
def find(topic: str, call: FunctionCall) -> list[str]:
    """Finds the known facts about a feature of the product."""
    call.log(f"looking up {topic}")
    return FACTS.get(topic.strip().lower(), [])
