import pytest

from stepless.model.work import CAUSES, NodeFailure


@pytest.mark.parametrize("cause", CAUSES)
def test_a_failure_has_one_of_the_causes(cause: str) -> None:
    failed = NodeFailure(cause, "busy", "come back later", retry_after_ms=5, mend="wait")
    assert (failed.cause, failed.code, failed.retry_after_ms, failed.retryable) == (cause, "busy", 5, True)
    assert str(failed) == "come back later (wait)"


def test_a_cause_that_is_none_is_refused_where_it_is_raised() -> None:
    with pytest.raises(ValueError, match="'bad_luck' is not a cause of failure; use one of timeout"):
        NodeFailure("bad_luck", "x", "y")
