"""What every place of sources and sinks promises: a folder, and S3 (`ports/objects.py`)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from aws_services import moto, or_skip

from stepless.adapters.aws.effects.objects import S3Objects
from stepless.adapters.folder_objects import FolderObjects
from stepless.ports import ObjectChanged, ObjectRefused, Objects

Data = Callable[[str, bytes], None]


class Place(NamedTuple):
    objects: Objects
    bucket: str
    write: Data
    name: str


@pytest.fixture(params=["folder", "s3"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    if request.param == "folder":
        (tmp_path / "in").mkdir()
        objects = FolderObjects(tmp_path)
        yield Place(objects, "", lambda name, data: _write(tmp_path / name, data), "folder")
        return
    for service in or_skip(moto):
        client = service("s3")
        client.create_bucket(Bucket="rows")
        yield Place(S3Objects(client), "rows", partial(_put, client), "s3")


def _put(client: Any, name: str, data: bytes) -> None:
    client.put_object(Bucket="rows", Key=name, Body=data)


def _write(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def test_a_range_of_an_object_is_read_in_pieces(place: Place) -> None:
    data = bytes(range(256)) * 10_000
    place.write("in/a", data)
    seen = place.objects.look(place.bucket, "in/a")
    assert seen is not None and (seen.name, seen.size) == ("in/a", len(data))
    for first, end in ((0, len(data)), (3, 2_000_005), (7, 7), (len(data) - 1, len(data))):
        assert b"".join(place.objects.read(place.bucket, seen, first, end)) == data[first:end]


def test_what_is_missing_is_none(place: Place) -> None:
    assert place.objects.look(place.bucket, "in/none") is None
    assert place.objects.get(place.bucket, "in/none/deeper", 9) is None
    place.objects.remove(place.bucket, "in/none")


@pytest.mark.parametrize("other", [b"another", b"same size", None])
def test_a_changed_object_is_not_read(place: Place, other: bytes | None) -> None:
    place.write("in/a", b"some size")
    seen = place.objects.look(place.bucket, "in/a")
    assert seen is not None
    if other is None:
        place.objects.remove(place.bucket, "in/a")
    else:
        place.objects.put(place.bucket, "in/a", other, only_new=False)
    with pytest.raises(ObjectChanged):
        list(place.objects.read(place.bucket, seen, 0, 4))


def test_only_one_of_several_writers_is_the_first(place: Place) -> None:
    def write(number: int) -> bool:
        return place.objects.put(place.bucket, "out/new/manifest.json", b"%d" % number, only_new=True)

    with ThreadPoolExecutor(8) as threads:
        first = [number for number, was in enumerate(threads.map(write, range(8))) if was]
    assert len(first) == 1
    assert place.objects.get(place.bucket, "out/new/manifest.json", 99) == b"%d" % first[0]
    assert not write(9)


def test_a_part_is_replaced_as_a_whole(place: Place) -> None:
    for data in (b"long" * 100, b"short"):
        assert place.objects.put(place.bucket, "out/part", data, only_new=False)
    assert place.objects.get(place.bucket, "out/part", 99) == b"short"
    assert place.objects.get(place.bucket, "out/part", 2) == b"sh"


# -- S3 ----------------------------------------------------------------------------------------------------------------


def test_objects_are_listed_by_name() -> None:
    for service in or_skip(moto):
        client = service("s3")
        client.create_bucket(Bucket="rows")
        for number in range(1_005):
            client.put_object(Bucket="rows", Key=f"in/{number:05}", Body=b"x" * (number % 3))
        client.put_object(Bucket="rows", Key="other", Body=b"")
        objects, after, found = S3Objects(client), "", []
        while some := objects.names("rows", "in/", after):
            found += some
            after = some[-1].name
        assert [seen.name for seen in found] == [f"in/{number:05}" for number in range(1_005)]
        assert [seen.size for seen in found[:4]] == [0, 1, 2, 0] and found[0].etag


def test_a_missing_bucket_is_told() -> None:
    for service in or_skip(moto):
        objects = S3Objects(service("s3"))
        with pytest.raises(ObjectRefused, match="there is no such bucket"):
            objects.names("none", "", "")
        with pytest.raises(ObjectRefused, match="there is no such bucket"):
            objects.put("none", "a", b"", only_new=True)


# -- a folder ----------------------------------------------------------------------------------------------------------

OUTSIDE = [
    "/etc/passwd", "../secret", "in/../../secret", "", ".", "in/..", ".env", "in/.hidden/a", "a\0b", "link/secret", "linked",
]  # fmt: skip


@pytest.mark.parametrize("name", OUTSIDE)
def test_nothing_outside_of_the_folder_is_reached(name: str, tmp_path: Path) -> None:
    served = tmp_path / "served"
    (served / "in").mkdir(parents=True)
    (tmp_path / "secret").write_text("s")
    (served / ".env").write_text("s")
    (served / "link").symlink_to(tmp_path)
    (served / "linked").symlink_to(tmp_path / "secret")
    objects = FolderObjects(served)
    tries: list[Callable[[], Any]] = [partial(reach, "", name) for reach in (objects.look, objects.remove)]
    tries += [partial(objects.get, "", name, 9), *(partial(objects.put, "", name, b"x", only_new=only) for only in (True, False))]
    for reach in tries:
        with pytest.raises(ObjectRefused):
            reach()
    assert (tmp_path / "secret").read_text() == "s" and (served / ".env").read_text() == "s"
    assert sorted(path.name for path in served.iterdir()) == [".env", "in", "link", "linked"]


def test_a_link_that_stays_inside_is_followed(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a").write_bytes(b"rows")
    (tmp_path / "today").symlink_to("data")
    assert FolderObjects(tmp_path).get("", "today/a", 9) == b"rows"


class Relinked(FolderObjects):
    """Another program puts a link in the path, after it was resolved and before it is opened."""

    def _steps(self, name: str) -> tuple[str, tuple[str, ...]]:
        found = super()._steps(name)
        inside = Path(self.folder) / "in"
        inside.rmdir()
        inside.symlink_to("..")
        return found


def test_a_link_that_is_put_in_between_is_not_followed(tmp_path: Path) -> None:
    served = tmp_path / "served"
    (served / "in").mkdir(parents=True)
    (tmp_path / "a").write_bytes(b"secret")
    with pytest.raises(ObjectRefused):
        Relinked(served).get("", "in/a", 9)


def test_only_files_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(ObjectRefused):
            FolderObjects(tmp_path).get("", name, 9)


def test_a_folder_without_the_right_to_write_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(ObjectRefused):
        FolderObjects(tmp_path).put("", "file/part", b"", only_new=True)


def test_a_write_leaves_nothing_beside(tmp_path: Path) -> None:
    objects = FolderObjects(tmp_path)
    assert objects.put("", "out/a", b"1", only_new=True) and not objects.put("", "out/a", b"2", only_new=True)
    assert objects.put("", "out/b", b"3", only_new=False)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["a", "b"]
