"""Models with aliases, computed and excluded fields, and defaults deep inside: the same as documents and in plain Python."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from comparing import differ, flow_of, plainly, runs
from program_steps import LOG
from pydantic import BaseModel, Field, computed_field

from stepless.flow import step


class Part(BaseModel):
    n: int = 3
    text: str = "d"


class Named(BaseModel):
    name: str = Field(alias="theName")
    parts: dict[str, Part] = {}


class Deep(BaseModel):
    by: dict[str, Part] = {}
    rows: list[list[Part]] = []
    pair: tuple[Part, int] | None = None
    either: Part | int = 1
    maybe: Part | None = None


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"
    bark: int = 1


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    meow: int = 2


class Pet(BaseModel):
    pet: Annotated[Dog | Cat, Field(discriminator="kind")]


class Sized(BaseModel):
    n: int = 1

    @computed_field  # type: ignore[prop-decorator]  # as pydantic documents it
    @property
    def double(self) -> int:
        return self.n * 2


class Hidden(BaseModel):
    n: int = 1
    secret: int = Field(default=5, exclude=True)


@step("models.named")
async def named(n: int) -> Named:
    return Named(theName=str(n), parts={"a": Part(n=n)})


@step("models.name_of")
async def name_of(given: Named) -> str:
    LOG.append(("name_of", given.name))
    return given.name


@step("models.sized")
async def sized(n: int) -> Sized:
    return Sized(n=n)


@step("models.hidden")
async def hidden(n: int) -> Hidden:
    return Hidden(n=n)


NAMES = {one.__name__: one for one in (Part, Named, Deep, Dog, Cat, Pet, Sized, Hidden)} | {
    "named": named, "name_of": name_of, "sized": sized, "hidden": hidden,
}  # fmt: skip
DEEP = {"by": {"k": {}}, "rows": [[{}]], "pair": [{}, 2], "either": {}, "maybe": {}}

PROGRAMS: dict[str, tuple[str, str, Any]] = {
    "the result of a step with an alias": ("n: int", "v = await named(n)\nreturn [v.name, v.parts['a'].n, await name_of(v), v.name.title()]", {"n": 4}),
    "a model with an alias is made": ("n: int", "v = Named(theName=str(n))\nreturn [v.name, await name_of(v)]", {"n": 4}),
    "a parameter with an alias": ("v: Named", "return [v.name, await name_of(v), v.name.title()]", {"v": {"theName": "x"}}),
    "a model with an alias is the result": ("n: int", "return await named(n)", {"n": 4}),
    "defaults below keys": ("d: Deep", "return d.by['k'].text", {"d": DEEP}),
    "defaults in lists": ("d: Deep", "return d.rows[0][0].text", {"d": DEEP}),
    "defaults in pairs": ("d: Deep", "return d.pair[0].text if d.pair else 0", {"d": DEEP}),
    "defaults in one of several": ("d: Deep", "return d.either.text if d.either != 1 else 0", {"d": DEEP}),
    "defaults beside null": ("d: Deep", "return d.maybe.text if d.maybe else 0", {"d": DEEP}),
    "defaults below keys of a parameter": ("ps: dict[str, Part]", "out = []\nfor p in ps.values():\n    out.append(p.text)\nreturn out", {"ps": {"k": {}}}),
    "defaults in lists of a parameter": ("ps: list[Part], n: int", "return [p.text for p in ps] + [ps[0].text]", {"ps": [{}], "n": 1}),
    "defaults of one of several classes": ("p: Pet", "if isinstance(p.pet, Dog):\n    return p.pet.bark\nreturn p.pet.meow", {"p": {"pet": {"kind": "dog"}}}),
    "a computed field": ("n: int", "v = await sized(n)\nreturn [v.n, v.double]", {"n": 4}),
    "a copy of a model": ("n: int", "v = (await sized(n)).model_copy(update={'n': 7})\nreturn [v.n, v.double]", {"n": 4}),
    "a model that refuses": ("n: int", "try:\n    v = Part(n='x')\nexcept ValueError:\n    return 'refused'\nreturn v.n", {"n": 4}),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_model_is_the_same_in_both(name: str) -> None:
    head, body, given = PROGRAMS[name]
    source = f"async def program({head}):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    flow = flow_of(source, f"models_{abs(hash(name))}", names=NAMES)
    document = flow.compile().document
    (entry, *_) = document["nodes"]
    plain, effects = plainly(flow, given)
    (ran,) = runs(document, [given if entry == "start" else next(iter(given.values()))])
    assert plain[0] == "ok"
    assert differ(plain, ran.outcome, effects, ran.effects) == ""


def test_a_field_that_is_not_put_out_fails_its_reader() -> None:
    flow = flow_of("async def program(n: int):\n    v = await hidden(n)\n    return v.secret\n", "models_hidden", names=NAMES)
    (ran,) = runs(flow.compile().document, [{"n": 4}])
    assert ran.outcome == ("error", "missing_value")
