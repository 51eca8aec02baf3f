from pathlib import Path

import pytest

from ragexam._config import Config
from ragexam._settings import read
from ragexam._template import begin

ROOT = Path(__file__).parent.parent.parent


def test_the_template_is_a_sound_configuration(tmp_path: Path) -> None:
    told = begin(tmp_path / "mine")
    settings = read(tmp_path / "mine" / "config.yaml", Config)
    assert settings.corpus.source == str(tmp_path / "mine" / "documents")
    assert settings.run == tmp_path / "mine" / "run"
    assert "ragexam run" in told


def test_the_settings_that_the_template_mentions_are_sound(tmp_path: Path) -> None:
    begin(tmp_path / "mine")
    path = tmp_path / "mine" / "config.yaml"
    text = path.read_text()
    for name in ("overlap", "completions", "thresholds", "server"):
        assert f"  # {name}: " in text
        text = text.replace(f"  # {name}: ", f"  {name}: ")
    path.write_text(text)
    settings = read(path, Config)
    assert settings.exam == Config.model_validate({**settings.model_dump(), "exam": {"questions": 60}}).exam
    assert settings.writer.server is not None


def test_an_existing_configuration_is_kept(tmp_path: Path) -> None:
    begin(tmp_path)
    (tmp_path / "config.yaml").write_text("mine")
    with pytest.raises(ValueError, match=r"config\.yaml: already there"):
        begin(tmp_path)
    assert (tmp_path / "config.yaml").read_text() == "mine"


@pytest.mark.parametrize(
    "path", sorted((ROOT / "experiments").glob("*/config.yaml")), ids=lambda path: path.parent.name
)
def test_the_configurations_of_the_experiments_are_sound(path: Path) -> None:
    assert len(read(path, Config).grid.grid.pipelines) >= 10
