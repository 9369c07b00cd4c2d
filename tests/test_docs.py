"""The README says what is true: its settings and commands are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

from backend import cli
from backend.settings import SETTINGS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_settings_table_is_the_code_s() -> None:
    rows = re.findall(r"^\| `(ATTEST_\w+)` \| (.+?) \| (.+?) \|$", README, re.M)
    assert rows == [(setting.name, setting.default, setting.help) for setting in SETTINGS]


def test_every_command_is_in_the_readme() -> None:
    known = [command for command in cli.app.registered_commands if command.callback]
    commands = {command.name or command.callback.__name__ for command in known}
    assert commands == set(re.findall(r"^\| `attest (\w+)", README, re.M))


def test_every_picture_of_the_readme_is_there() -> None:
    pictures = re.findall(r"!\[.*?\]\((.+?)\)", README)
    assert pictures
    assert all((ROOT / picture).is_file() for picture in pictures)
