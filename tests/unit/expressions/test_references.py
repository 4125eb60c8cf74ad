from __future__ import annotations

import pytest

from stepless.errors import ExpressionError
from stepless.expressions.references import find_references
from stepless.limits import MAX_REFERENCE_STEPS

KNOWN = {"s", "score", "a-b", "loop", "workflow", "input"}.__contains__


@pytest.mark.parametrize(
    ("text", "root", "path"),
    [
        ("<s>", "s", ()),
        ("<input>", "input", ()),
        ("<s.n>", "s", ("n",)),
        ("<s.items[0].name>", "s", ("items", 0, "name")),
        ("<s[-1]>", "s", (-1,)),
        ("<s.m[1][2]>", "s", ("m", 1, 2)),
        ("<s.0.x>", "s", ("0", "x")),
        ("<a-b.c>", "a-b", ("c",)),
        ("<s.headers.content-type>", "s", ("headers", "content-type")),
        ("<s.größe>", "s", ("größe",)),
    ],
)
def test_a_reference_has_a_root_and_a_path(text: str, root: str, path: tuple[str | int, ...]) -> None:
    (reference,) = find_references(f"ab {text}", KNOWN)
    assert (reference.root, reference.path, reference.text, reference.offset, reference.env) == (root, path, text, 3, False)


@pytest.mark.parametrize(
    "text",
    ["a < b and c > d", "<div>", "</div>", "x<y", "x<y>", "< s.n>", "<s.n >", "<s.>", "<s..n>", "<.n>", "<s[x]>", "<s[]>",
    "<1.n>",
     "<s.n", "<!-- s.n -->", "<john@example.com>", "$KEY", "${}", "${a.b}", "${1}", "$ {KEY}", "<é.n>", "<" + "s" * 65 + ".n>",
     ""],
)  # fmt: skip
def test_what_only_looks_like_a_reference_is_text(text: str) -> None:
    assert find_references(text, KNOWN) == ()


def test_references_are_found_in_order_with_their_offsets() -> None:
    found = find_references("<s.n><<score> ${KEY}<div>", KNOWN)
    assert [(reference.text, reference.offset, reference.env) for reference in found] == [
        ("<s.n>", 0, False), ("<score>", 6, False), ("${KEY}", 14, True),
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["<ghost.n>", "<ghost[0]>"])
def test_a_path_under_an_unknown_name_is_an_error_that_names_it(text: str) -> None:
    with pytest.raises(ExpressionError, match="ghost") as caught:
        find_references(f"hi {text}", KNOWN)
    assert (caught.value.code, caught.value.offset) == ("unknown_reference", 3)


@pytest.mark.parametrize("slip", ["scor", "scoore", "scroe", "acore", "Score", "SCORE"])
def test_a_slip_of_the_pen_is_answered_with_the_name_that_was_meant(slip: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        find_references(f"<{slip}.n>", KNOWN)
    assert "<score>" in caught.value.mend


def test_a_fault_in_a_long_text_shows_its_surroundings_only() -> None:
    with pytest.raises(ExpressionError) as caught:
        find_references("x" * 50_000 + "<ghost.n>" + "y" * 50_000, KNOWN)
    assert len(caught.value.source) < 1_000
    assert caught.value.source[caught.value.offset :].startswith("<ghost.n>")


def test_a_path_has_a_bounded_number_of_steps() -> None:
    assert len(find_references("<s" + ".a" * MAX_REFERENCE_STEPS + ">", KNOWN)[0].path) == MAX_REFERENCE_STEPS
    with pytest.raises(ExpressionError) as caught:
        find_references("<s" + ".a" * (MAX_REFERENCE_STEPS + 1) + ">", KNOWN)
    assert caught.value.code == "expression_too_large"
