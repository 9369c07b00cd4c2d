"""Opening a bundle: what it may be, what it may not be, and files that turn out to be cut off."""

from __future__ import annotations

import gzip
import io
import os
import random
import stat
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backend.errors import Malformed
from backend.loading.bundle import Bundle, open_bundle
from backend.loading.issues import Issues
from backend.loading.rows import DocumentRow, EntityRow, MentionRow

ENTITIES = b'{"id": "e1", "name": "Ada"}\n{"id": "e2", "name": "Bob"}\n'
NOISE = random.Random(1)  # so that it is still long when it is packed
MANY = b"".join(b'{"id": "e%d", "name": "%x"}\n' % (n, NOISE.getrandbits(160)) for n in range(2_000))


def pack(path: Path, entries: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return path


def folder(path: Path, files: dict[str, bytes]) -> Path:
    path.mkdir(exist_ok=True)
    for name, data in files.items():
        (path / name).write_bytes(data)
    return path


def names(bundle: Bundle) -> list[str]:
    return [row.name for row in bundle.rows(EntityRow, Issues())]


# --- what a bundle may be ---


def test_a_folder_is_a_bundle_named_like_it(tmp_path: Path) -> None:
    bundle = open_bundle(folder(tmp_path / "mine", {"entities.jsonl": ENTITIES, "README.md": b"text"}))
    assert (bundle.name, bundle.kinds, names(bundle)) == ("mine", ("entities",), ["Ada", "Bob"])


def test_the_current_folder_has_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder(tmp_path / "here", {"entities.jsonl": ENTITIES}))
    assert open_bundle(Path(".")).name == "here"


def test_a_name_that_is_no_text_becomes_text(tmp_path: Path) -> None:
    bundle = open_bundle(folder(tmp_path / os.fsdecode(b"caf\xe9"), {"entities.jsonl": ENTITIES}))
    assert bundle.name == "caf\ufffd"


@pytest.mark.parametrize("name", ["entities.jsonl.gz", "entities.ndjson.gz", "Entities.JSONL.GZ"])
def test_a_gzipped_file_is_read(tmp_path: Path, name: str) -> None:
    assert names(open_bundle(folder(tmp_path / "b", {name: gzip.compress(ENTITIES)}))) == ["Ada", "Bob"]


def test_a_gzipped_file_of_several_members_is_read_whole(tmp_path: Path) -> None:
    data = b"".join(gzip.compress(line) for line in ENTITIES.splitlines(keepends=True))
    assert names(open_bundle(folder(tmp_path / "b", {"entities.jsonl.gz": data}))) == ["Ada", "Bob"]


def test_a_linked_file_of_a_folder_is_read(tmp_path: Path) -> None:
    folder(tmp_path / "elsewhere", {"data": ENTITIES})
    folder(tmp_path / "b", {})
    (tmp_path / "b" / "entities.jsonl").symlink_to(tmp_path / "elsewhere" / "data")
    assert names(open_bundle(tmp_path / "b")) == ["Ada", "Bob"]


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_an_archive_is_a_bundle_named_like_it(tmp_path: Path, method: int) -> None:
    bundle = open_bundle(pack(tmp_path / "mine.zip", {"entities.jsonl": ENTITIES}, method))
    assert (bundle.name, names(bundle)) == ("mine", ["Ada", "Bob"])


@pytest.mark.parametrize("prefix", ["mine/", "./", "./mine/", "mine\\"])
def test_the_only_folder_of_an_archive_is_the_bundle(tmp_path: Path, prefix: str) -> None:
    others = {"__MACOSX/mine/._entities.jsonl": b"x", "mine/deeper/entities.jsonl": b"x", "README": b"x"}
    path = pack(tmp_path / "b.zip", {f"{prefix}entities.jsonl": ENTITIES, **others})
    assert names(open_bundle(path)) == ["Ada", "Bob"]


def test_an_archive_with_several_bundles_is_refused(tmp_path: Path) -> None:
    path = pack(tmp_path / "b.zip", {"one/entities.jsonl": ENTITIES, "two/entities.jsonl": ENTITIES})
    with pytest.raises(Malformed, match="'one', 'two'"):
        open_bundle(path)


def test_a_gzipped_file_in_an_archive_is_read(tmp_path: Path) -> None:
    path = pack(tmp_path / "b.zip", {"entities.jsonl.gz": gzip.compress(ENTITIES)})
    assert names(open_bundle(path)) == ["Ada", "Bob"]


@pytest.mark.parametrize("packed", [False, True])
def test_a_bundle_can_be_read_again(tmp_path: Path, packed: bool) -> None:
    path = folder(tmp_path / "b", {"entities.jsonl": ENTITIES})
    bundle = open_bundle(pack(tmp_path / "b.zip", {"entities.jsonl": ENTITIES}) if packed else path)
    assert names(bundle) == names(bundle) == ["Ada", "Bob"]


def test_reading_may_stop_early(tmp_path: Path) -> None:
    rows = iter(open_bundle(pack(tmp_path / "b.zip", {"entities.jsonl": MANY})).rows(EntityRow, Issues()))
    assert next(rows).id == "e0"
    rows.close()  # type: ignore[attr-defined]
    (tmp_path / "b.zip").unlink()


def test_a_kind_that_is_not_there_has_no_rows(tmp_path: Path) -> None:
    bundle = open_bundle(folder(tmp_path / "b", {"entities.jsonl": ENTITIES}))
    rows = bundle.rows(MentionRow, Issues())
    assert (list(rows), rows.size, rows.position, bundle.size("mentions")) == ([], 0, 0, 0)


@pytest.mark.parametrize("name", ["entities.jsonl", "entities.jsonl.gz"])
@pytest.mark.parametrize("packed", [False, True])
def test_the_position_grows_to_the_size(tmp_path: Path, name: str, packed: bool) -> None:
    data = gzip.compress(MANY) if name.endswith("gz") else MANY
    path = folder(tmp_path / "b", {name: data})
    bundle = open_bundle(pack(tmp_path / "b.zip", {name: data}) if packed else path)
    rows = bundle.rows(EntityRow, Issues())
    positions = [rows.position] + [rows.position for _ in rows] + [rows.position]
    assert positions == sorted(positions)
    assert (positions[0], positions[-1]) == (0, bundle.size("entities"))
    assert bundle.size("entities") == rows.size == len(data)


# --- kinds ---


@pytest.mark.parametrize("packed", [False, True])
def test_two_files_of_a_kind_are_refused_by_name(tmp_path: Path, packed: bool) -> None:
    files = {"entities.jsonl": ENTITIES, "entities.jsonl.gz": gzip.compress(ENTITIES)}
    path = pack(tmp_path / "b.zip", files) if packed else folder(tmp_path / "b", files)
    with pytest.raises(Malformed, match=r"both entities\.jsonl and entities\.jsonl\.gz"):
        open_bundle(path)


def test_questions_are_no_kind(tmp_path: Path) -> None:
    files = {"entities.jsonl": ENTITIES, "questions.jsonl": b"no JSON", "questions.jsonl.gz": b"no gzip"}
    assert open_bundle(folder(tmp_path / "b", files)).kinds == ("entities",)


# --- what is no bundle ---


def test_an_absent_path_is_malformed(tmp_path: Path) -> None:
    with pytest.raises(Malformed, match="does not exist") as caught:
        open_bundle(tmp_path / "nothing")
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("name", ["a\0b", "x" * 5_000, "file/below"])
def test_an_impossible_path_is_malformed(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(Malformed):
        open_bundle(tmp_path / name)


@pytest.mark.parametrize("files", [{}, {"questions.jsonl": b"{}\n"}, {"entities.json": b"[]"}])
@pytest.mark.parametrize("packed", [False, True])
def test_nothing_of_a_bundle_is_malformed(tmp_path: Path, files: dict[str, bytes], packed: bool) -> None:
    path = pack(tmp_path / "b.zip", files) if packed else folder(tmp_path / "b", files)
    with pytest.raises(Malformed, match="no file of a bundle"):
        open_bundle(path)


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", ENTITIES])
def test_a_file_that_is_no_archive_is_malformed(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "b.zip").write_bytes(data)
    with pytest.raises(Malformed, match=r"no \.zip archive"):
        open_bundle(tmp_path / "b.zip")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    folder(tmp_path / "b", {})
    os.mkfifo(tmp_path / "b" / "entities.jsonl")
    with pytest.raises(Malformed, match="not a regular file"):
        open_bundle(tmp_path / "b")
    with pytest.raises(Malformed, match="neither a folder nor a file"):
        open_bundle(tmp_path / "b" / "entities.jsonl")


def test_a_folder_in_place_of_a_file_is_malformed(tmp_path: Path) -> None:
    folder(tmp_path / "b", {})
    (tmp_path / "b" / "entities.jsonl").mkdir()
    with pytest.raises(Malformed, match="not a regular file"):
        open_bundle(tmp_path / "b")


def test_a_link_to_nothing_is_malformed(tmp_path: Path) -> None:
    folder(tmp_path / "b", {})
    (tmp_path / "b" / "entities.jsonl").symlink_to("nowhere")
    with pytest.raises(Malformed, match="cannot be read"):
        open_bundle(tmp_path / "b")


# --- archives that mean harm ---


@pytest.mark.parametrize(
    "name",
    ["/etc/passwd", "../x", "a/../../x", "..", "C:\\x", "c:x", "\\\\host\\x", "a\\..\\..\\x", "//host/x"],
)
def test_an_entry_that_points_outside_is_refused(tmp_path: Path, name: str) -> None:
    path = pack(tmp_path / "b.zip", {"entities.jsonl": ENTITIES, name: b"x"})
    with pytest.raises(Malformed, match="points outside"):
        open_bundle(path)


@pytest.mark.parametrize("file_type", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_an_entry_that_is_no_regular_file_is_refused(tmp_path: Path, file_type: int) -> None:
    entry = zipfile.ZipInfo("link")
    entry.external_attr = (file_type | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        archive.writestr("entities.jsonl", ENTITIES)
        archive.writestr(entry, "entities.jsonl")
    with pytest.raises(Malformed, match="not a regular file"):
        open_bundle(tmp_path / "b.zip")


def test_an_encrypted_entry_is_refused(tmp_path: Path) -> None:
    data = bytearray(pack(tmp_path / "b.zip", {"entities.jsonl": ENTITIES}).read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "b.zip").write_bytes(data)
    with pytest.raises(Malformed, match="encrypted"):
        open_bundle(tmp_path / "b.zip")


def test_an_unusual_packing_is_refused(tmp_path: Path) -> None:
    path = pack(tmp_path / "b.zip", {"entities.jsonl": ENTITIES}, zipfile.ZIP_BZIP2)
    with pytest.raises(Malformed, match="unusual way"):
        open_bundle(path)


# --- files that are cut off ---


@pytest.mark.parametrize("keep", [0, 1, 9, 10, 11, 0.3, 0.9, -9, -8, -4, -1])
@pytest.mark.parametrize("packed", [False, True])
def test_a_gzipped_file_that_is_cut_off_is_malformed(tmp_path: Path, keep: float, packed: bool) -> None:
    whole = gzip.compress(MANY)
    data = whole[: int(keep * len(whole)) if isinstance(keep, float) else keep]
    files = {"entities.jsonl.gz": data}
    path = pack(tmp_path / "b.zip", files) if packed else folder(tmp_path / "b", files)
    with pytest.raises(Malformed, match=r"entities\.jsonl\.gz is cut off"):
        names(open_bundle(path))


@pytest.mark.parametrize("place", [0, 20, 5_000, -8, -1])
def test_a_damaged_gzipped_file_is_malformed(tmp_path: Path, place: int) -> None:
    data = bytearray(gzip.compress(MANY))
    data[place] ^= 0xFF
    with pytest.raises(Malformed, match=r"entities\.jsonl\.gz is cut off or damaged"):
        names(open_bundle(folder(tmp_path / "b", {"entities.jsonl.gz": bytes(data)})))


def test_a_file_that_is_gzipped_in_name_only_is_malformed(tmp_path: Path) -> None:
    with pytest.raises(Malformed, match="cut off or damaged"):
        names(open_bundle(folder(tmp_path / "b", {"entities.jsonl.gz": ENTITIES})))


def test_an_empty_plain_file_has_no_rows(tmp_path: Path) -> None:
    assert names(open_bundle(folder(tmp_path / "b", {"entities.jsonl": b""}))) == []


@pytest.mark.parametrize("part", [0.2, 0.6, 0.99])
def test_an_archive_that_is_cut_off_is_malformed(tmp_path: Path, part: float) -> None:
    path = pack(tmp_path / "b.zip", {"entities.jsonl": MANY})
    path.write_bytes(path.read_bytes()[: int(part * path.stat().st_size)])
    with pytest.raises(Malformed, match="cut off"):
        open_bundle(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_an_archive_with_a_wrong_checksum_is_malformed(tmp_path: Path, method: int) -> None:
    path = pack(tmp_path / "b.zip", {"entities.jsonl": MANY}, method)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x01
    path.write_bytes(data)
    with pytest.raises(Malformed, match=r"entities\.jsonl is cut off or damaged"):
        names(open_bundle(path))


def test_a_file_that_is_gone_by_the_time_of_reading_is_malformed(tmp_path: Path) -> None:
    bundle = open_bundle(folder(tmp_path / "b", {"entities.jsonl": ENTITIES}))
    (tmp_path / "b" / "entities.jsonl").unlink()
    with pytest.raises(Malformed, match=r"entities\.jsonl"):
        names(bundle)


def small_archive() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("b/entities.jsonl", ENTITIES)
        archive.writestr("b/documents.jsonl.gz", gzip.compress(b'{"id": "d"}\n', mtime=0))
    return buffer.getvalue()


SMALL = small_archive()


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(st.tuples(st.integers(0, len(SMALL) - 1), st.integers(0, 255)), min_size=1, max_size=4))
def test_a_damaged_archive_is_read_or_malformed(tmp_path: Path, changes: list[tuple[int, int]]) -> None:
    data = bytearray(SMALL)
    for place, value in changes:
        data[place] = value
    (tmp_path / "b.zip").write_bytes(data)
    try:
        bundle = open_bundle(tmp_path / "b.zip")
        assert len(list(bundle.rows(DocumentRow, Issues()))) <= 1
        assert names(bundle) in ([], ["Ada", "Bob"])
    except Malformed:
        pass
