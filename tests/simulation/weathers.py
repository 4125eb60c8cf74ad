"""The weathers of worlds: the ones that most seeds draw, and the ones that find planted bugs."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from faults import CALL_FAULTS, Weather, draw_weather


def calm(random: Random) -> Weather:
    return Weather()


def poisoned(random: Random) -> Weather:
    """Some nodes kill their process at each attempt."""
    return Weather(until_ms=1e12, poison=random.choice([0.1, 0.3]), doubled=random.choice([0, 0.3]), lost=random.choice([0, 0.2]))


def plagued(random: Random) -> Weather:
    """Some nodes kill their process, and processes die at random as well."""
    weather = deadly(random)
    return replace(weather, poison=0.1, killed=random.choice([0.05, 0.2]), rate=random.choice([0, weather.rate]))


def frozen(random: Random) -> Weather:
    """Processes freeze for longer than their lease."""
    faults = [fault for fault in CALL_FAULTS if "frozen" in fault]
    return Weather(until_ms=200_000, rate=0.1, faults=faults, freeze_ms=(70_000, 140_000), latency=0.5)


def slow(random: Random) -> Weather:
    return Weather(until_ms=120_000, latency=0.8)


def deadly(random: Random) -> Weather:
    return Weather(until_ms=120_000, rate=0.08, faults=["crash after", "crash before"], latency=0.3, lost=0.3)


def mourning(random: Random) -> Weather:
    """Processes die now and then, and half of the hints are lost."""
    return Weather(until_ms=120_000, rate=0.04, faults=["crash after", "crash before"], latency=0.3, lost=0.5)


def dead_letters(random: Random) -> Weather:
    """Unacknowledged messages are not delivered again: only the sweep finds their runs."""
    return replace(deadly(random), abandoned=0.5)


def storm(random: Random) -> Weather:
    """Everything at once."""
    return Weather(until_ms=120_000, rate=0.08, latency=0.5, lost=0.3, doubled=0.3, delayed=0.3, early=0.5)


def lossy(random: Random) -> Weather:
    return Weather(until_ms=120_000, latency=0.8, lost=0.5)


def stepped(random: Random) -> Weather:
    """The clock of the host is set ahead by hours, before or while the run works, and back again."""
    ahead_at_ms = random.choice([0, 0, random.uniform(0, 20_000)])
    return replace(
        draw_weather(random), skew_ms=0, back_ms=0, ahead_ms=random.choice([8, 24, 72]) * 3_600_000, ahead_at_ms=ahead_at_ms,
        back_at_ms=ahead_at_ms + random.choice([100, 2_000, 20_000, 300_000]),
    )


ENDS = ("crash after", "crash before")


def lingering(random: Random) -> Weather:
    """Attempts hang, and their code goes on when they have ended. Processes die now and then."""
    return Weather(
        until_ms=200_000, rate=random.choice([0, 0.02]), faults=ENDS, latency=0.3, lost=random.choice([0, 0.3]), hangs=0.3,
        lingers=0.7,
    )  # fmt: skip


def with_lingering(weather: Weather, random: Random) -> Weather:
    """The same weather, in a fifth of the worlds with code that goes on. There only a death takes a process its lease."""
    if random.random() >= 0.2:
        return weather
    hangs, lingers = random.choice([0.05, 0.3]), random.choice([0.3, 1])
    return replace(weather, faults=ENDS, hangs=hangs, lingers=lingers, skew_ms=0, back_ms=0)


def draw_cloud_weather(random: Random) -> Weather:
    """The usual rates, per request, of which there are more; and the faults of a cloud."""
    weather = draw_weather(random)
    if weather.single is not None:
        return replace(weather, single=random.randrange(400))
    return replace(
        weather,
        lag=random.choice([0, 0.3, 0.8]),
        partial=random.choice([0, 0.5]),
        missing=random.choice([0, 0, 0.5]),
        abandoned=random.choice([0, 0, 0.2]),
        skew_ms=random.choice([0, 0, 2_000, 20_000]),
    )
