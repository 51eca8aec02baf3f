"""The settings that name a language model, checked by pydantic."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator

from rag.servers._options import ServerOptions, is_server, parse_address


class SettingsGroup(BaseModel):
    """A group of settings; unknown names are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ModelSettings(SettingsGroup):
    """The language model that `load_model` loads."""

    model: str
    dtype: str = "auto"
    device: str = "auto"
    server: ServerOptions | None = None

    @model_validator(mode="after")
    def _has_an_address(self) -> ModelSettings:
        if is_server(self.model):
            parse_address(self.model, self.server or ServerOptions())
        return self

    @property
    def identity(self) -> dict[str, Any]:
        """What the replies depend on. How a server is asked is left out: it may change between runs."""
        return self.model_dump(exclude={"server"})
