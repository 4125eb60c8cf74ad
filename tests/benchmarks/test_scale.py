"""The model of scale: the page is what it computes, its settings hold what they are for, and its limits break where they must."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from benchmarks import scale
from benchmarks.bars import WRITE_UNITS
from benchmarks.scale import Quotas, Settings, Work, quotas_for, settings_for, simulate, sustained

ROOT = Path(__file__).parents[2]
WORK = Work()


def test_the_page_is_what_the_model_computes() -> None:
    text = (ROOT / "docs/understand/measurements/scale.md").read_text("utf-8")
    anew = ".venv/bin/python -m benchmarks.scale > docs/understand/measurements/scale.md"
    assert text == "\n".join([*scale.page(), ""]), f"make it anew: {anew}"


def test_the_units_of_the_model_are_those_that_are_counted() -> None:
    assert WORK.table_units + 2 * WORK.index_units == WRITE_UNITS["chain of 10"]


@pytest.mark.parametrize("starts", [*scale.SIZES, 300, 3_000])
@pytest.mark.parametrize("work", [WORK, Work(3, 1_000), Work(1, 20)])
def test_the_settings_for_a_size_sustain_it(starts: int, work: Work) -> None:
    settings = settings_for(starts, work)
    quotas = quotas_for(starts, work, settings)
    assert min(sustained(settings, quotas, work).values()) > starts
    outcome = simulate(starts, settings, quotas, work)
    assert outcome.refused == 0 and outcome.calm_s is not None


@pytest.mark.parametrize("starts", scale.SIZES)
def test_the_sweep_sends_no_fewer_hints_than_the_stack_executes_beside_its_starts(starts: int) -> None:
    settings = settings_for(starts, WORK)
    spare = min(sustained(settings, quotas_for(starts, WORK, settings), WORK).values()) - starts
    assert 60 * spare <= settings.sweep_rate <= scale.revived_per_minute(settings.shards)


def test_what_no_parameter_sustains_is_not_promised(capsys: pytest.CaptureFixture[str]) -> None:
    parameters = yaml.load((ROOT / "template.yaml").read_text("utf-8"), Loader=yaml.BaseLoader)["Parameters"]
    settings = settings_for(100_000, WORK)
    assert settings.shards == int(parameters["IndexShards"]["MaxValue"])
    assert settings.max_pollers == int(parameters["RunnerMaxPollers"]["MaxValue"])
    assert scale.main(["--starts", "100000"]) == 0
    said = capsys.readouterr().out
    assert "         200  IndexShards" in said
    assert said[said.index("for hours") :].splitlines()[2] == "      70,000  IndexShards"


@pytest.mark.parametrize("given", ["0", "-5", "many"])
def test_what_is_not_a_rate_is_refused(given: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        scale.main([f"--starts={given}"])
    assert f"{given} is not a number from 1 to 1000000" in capsys.readouterr().err


@pytest.mark.parametrize(("change", "limit"), [
    ({"api_rate": 500}, "`ApiRate`"),
    ({"shards": 1}, "`IndexShards`"),
    ({"batch": 1, "pollers": 0}, "the ramp of the event source mapping"),
])  # fmt: skip
def test_what_is_set_too_small_is_what_breaks_first(change: dict[str, int], limit: str) -> None:
    settings = settings_for(2_000, WORK)
    quotas = replace(quotas_for(2_000, WORK, settings), lambda_concurrency=10_000)
    outcome = simulate(2_000, replace(settings, **change), quotas, WORK)
    assert limit in outcome.held_back
    assert outcome.refused > 0 or outcome.calm_s is None


def test_a_smaller_quota_breaks_first() -> None:
    settings = settings_for(1_000, WORK)
    quotas = quotas_for(1_000, WORK, settings)
    assert next(iter(sustained(settings, replace(quotas, lambda_concurrency=100), WORK))) == "the account's concurrent executions"
    assert next(iter(sustained(settings, replace(quotas, table_writes=1_000), WORK))) == "the table's write units per second"
    cold = simulate(1_000, settings, replace(quotas, warm_writes=1_000), WORK)
    assert "the table's warm throughput" in cold.held_back and cold.calm_s is None


def test_the_mapping_adds_three_hundred_invocations_a_minute_and_stops_at_its_most() -> None:
    """A second at each instant: slots divided by the time of a session."""
    endless = Quotas(10**6, 10**6, 10**8, 10**8)
    work = Work(1, 1_000, 0)

    def slots(second: int, settings: Settings) -> float:
        return scale._limits(second, 0, settings, endless, work, scale.random.Random(0))["the ramp of the event source mapping"]

    assert [slots(second, Settings()) for second in (0, 60, 600)] == [5, 305, 1_250]
    assert [slots(second, Settings(pollers=20, max_pollers=150)) for second in (0, 60, 600)] == [200, 1_200, 1_500]
    assert slots(0, Settings(batch=10)) == 50


def test_the_same_seed_gives_the_same_outcome() -> None:
    assert simulate(500, Settings(), Quotas(), WORK, seed=3) == simulate(500, Settings(), Quotas(), WORK, seed=3)
