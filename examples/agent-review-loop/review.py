"""What the drafting model may look up. Stands in for a search, so that the example runs without a network."""

from __future__ import annotations

from stepless.nodes.function import FunctionCall, function

FACTS = {
    "dark mode": ["It is switched on in Settings.", "It can follow the sunset."],
    "export": ["Runs can be exported as JSON."],
}


@function("facts.find")
def find(topic: str, call: FunctionCall) -> list[str]:
    """Finds what is known about a feature of the product."""
    call.log(f"looking up {topic}")
    return FACTS.get(topic.strip().lower(), [])
