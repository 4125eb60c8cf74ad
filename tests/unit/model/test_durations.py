import pytest

from stepless.model.texts.durations import parse_duration_ms


@pytest.mark.parametrize(("text", "duration_ms"), [
    ("500ms", 500), ("90s", 90_000), ("15m", 900_000), ("2h", 7_200_000), ("3d", 259_200_000), ("0s", 0),
    ("366d", 366 * 86_400_000), ("PT2H", 7_200_000), ("P1D", 86_400_000),
    ("P1W", 604_800_000), ("P1DT2H3M4S", 93_784_000), ("PT0.5S", 500),
    ("PT1.25S", 1_250), ("PT90M", 5_400_000),
])
def test_a_duration_is_read_in_milliseconds(text: str, duration_ms: int) -> None:
    assert parse_duration_ms(text) == duration_ms


@pytest.mark.parametrize("text", [
    "", "5", "1.5h", "-1s", "1 s", "1h30m", "s", "1y", "P", "PT", "P1DT", "P1M", "P1Y", "1D", "pt2h", "٣s", "90s\n",
    "9" * 5_000 + "s",
])
def test_what_is_no_duration_is_refused_with_the_mend(text: str) -> None:
    with pytest.raises(ValueError, match="write it like 500ms, 90s"):
        parse_duration_ms(text)


@pytest.mark.parametrize("text", ["367d", "P999999999D", "999999999999999ms"])
def test_a_duration_above_the_bound_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="longer than the longest duration, 366d"):
        parse_duration_ms(text)
