"""Names become models, and what cannot be loaded says so in one line."""

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from rag import load_model
from rag._models import check_model
from rag.weights import _sources as hub


def test_missing_model_names_what_was_tried(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nothing\.gguf: no such GGUF file"):
        load_model(str(tmp_path / "nothing.gguf"))
    with pytest.raises(FileNotFoundError, match=r"no such folder; wanted a folder, a \.gguf file, a hub name"):
        load_model(str(tmp_path / "nothing"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match=r"holds no config\.json"):
        load_model(str(tmp_path / "empty"))


def test_offline_hub_name_fails_at_once_with_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    began = time.monotonic()
    with pytest.raises(
        OSError, match="nobody/no-such-model: is not in the local hub cache, and the hub is out of reach"
    ) as caught:
        load_model("nobody/no-such-model")
    assert "\n" not in str(caught.value)
    assert time.monotonic() - began < 30


def test_unreachable_hub_is_noticed_within_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    hub._answers.cache_clear()
    for variable in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(variable)
    assert hub.hub_offline("org/model")


def test_folder_is_always_read_locally(tmp_path: Path) -> None:
    assert hub.hub_offline(str(tmp_path))


def test_folder_without_tokenizer_is_refused(tiny_folder: Callable[..., Path], tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    for name in ("config.json", "model.safetensors"):
        shutil.copy(tiny_folder("llama") / name, bare / name)
    message = rf"^model {bare}: no tokenizer; the folder holds config.json, model.safetensors; wanted tokenizer.json or"
    with pytest.raises(ValueError, match=message) as caught:
        load_model(str(bare))
    assert str(caught.value).endswith("beside the weights")
    (bare / "tokenizer.json").write_text("{")
    with pytest.raises(ValueError, match=r"no tokenizer could be read \(JSONDecodeError: .*\); wanted .* the weights$"):
        load_model(str(bare))


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{% for m in messages %}{{ m['content'] | shuffled }}{% endfor %}", "No filter named 'shuffled'"),
        ("{{ raise_exception('Only a system turn may come first') }}", "Only a system turn may come first"),
        ("{% for m in messages %}", "Unexpected end of template"),
    ],
)
def test_chat_template_that_cannot_be_used_is_refused_in_one_line(
    tiny_folder: Callable[..., Path], tmp_path: Path, template: str, message: str
) -> None:
    shutil.copytree(tiny_folder("llama"), tmp_path / "odd")
    (tmp_path / "odd" / "chat_template.jinja").write_text(template)
    with pytest.raises(ValueError, match=rf"odd: its chat template fails: .*{message}.*; wanted one for") as error:
        load_model(str(tmp_path / "odd"))
    assert "\n" not in str(error.value)


def test_damaged_weights_are_refused_in_one_line(tiny_folder: Callable[..., Path], tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(tiny_folder("llama"), broken)
    (broken / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(OSError, match="broken: cannot be loaded") as caught:
        load_model(str(broken))
    assert "\n" not in str(caught.value)


def test_unknown_dtype_and_device_are_refused(tiny_folder: Callable[..., Path]) -> None:
    folder = str(tiny_folder("llama"))
    with pytest.raises(ValueError, match="dtype 'int3': unknown; wanted auto, float32"):
        load_model(folder, dtype="int3")
    with pytest.raises(ValueError, match="device 'toaster'"):
        load_model(folder, device="toaster")
    with pytest.raises(ValueError, match="dtype 'int3'"):
        check_model(folder, dtype="int3")
    assert check_model(folder, dtype="bfloat16", device="cpu") == []


def test_dtype_is_stored_with_the_settings(tiny_folder: Callable[..., Path]) -> None:
    model = load_model(str(tiny_folder("llama")), dtype="bfloat16", device="cpu")
    settings = getattr(model, "settings", {})
    assert settings["dtype"] == "bfloat16"
    assert settings["device"] == "cpu"
    assert settings["model"] == "tiny-llama"


def test_factory_makes_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_factory_module.py").write_text(
        "class Model:\n    name, context_tokens = 'mine', 64\n    def count_tokens(self): ...\n"
        "    def generate(self): ...\n    def log_likelihoods(self): ...\n"
        "def make():\n    return Model()\ndef wrong():\n    return 3\nNUMBER = 3\n"
        "class Half(Model):\n    count_tokens = None\nclass Named(Model):\n    name = 7\n"
        "class Endless(Model):\n    context_tokens = 'many'\n"
        "def broken():\n    raise RuntimeError('no weights\\nhere')\ndef leaves():\n    raise SystemExit(3)\n"
        "class Moody(Model):\n    @property\n    def context_tokens(self):\n        raise RuntimeError('no idea')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert load_model("python:my_factory_module:make").name == "mine"
    with pytest.raises(ValueError, match="int has no 'name'; wanted a LanguageModel"):
        load_model("python:my_factory_module:wrong")
    with pytest.raises(ValueError, match="wanted an importable factory"):
        load_model("python:my_factory_module:absent")
    with pytest.raises(ValueError, match=r"wanted python:package\.module:factory"):
        load_model("python:my_factory_module")
    (tmp_path / "my_broken_module.py").write_text("raise RuntimeError('no licence')\n")
    without = "; wanted a factory of a LanguageModel, without arguments"
    for place, message in {
        "os:system": rf"TypeError: system\(\) missing required argument 'command' \(pos 1\){without}",
        "my_factory_module:broken": f"RuntimeError: no weights{without}",
        "my_factory_module:leaves": f"SystemExit: 3{without}",
        "my_factory_module:Moody": f"RuntimeError: no idea{without}",
        "my_factory_module:NUMBER": "int; wanted a factory, called without arguments",
        "my_factory_module:Half": "Half has no 'count_tokens'; wanted a LanguageModel, with a method 'count_tokens'",
        "my_factory_module:Named": "Named has 'name' 7; wanted a LanguageModel, with a name",
        "my_factory_module:Endless": "Endless has 'context_tokens' 'many'; wanted a LanguageModel, with a number",
        "my_broken_module:make": "RuntimeError: no licence; wanted an importable factory",
        "..:make": "TypeError: the 'package' argument is required .*; wanted an importable factory",
        "nowhere.at.all:make": "No module named 'nowhere'; wanted an importable factory",
    }.items():
        with pytest.raises(ValueError, match=f"^model python:{place}: {message}") as caught:
            load_model(f"python:{place}")
        assert "\n" not in str(caught.value)
