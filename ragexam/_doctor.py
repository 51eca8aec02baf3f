"""What this machine has, and what a run would miss on it."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

PACKAGES = (
    *("torch", "transformers", "sentence-transformers", "bm25s", "faiss-cpu", "ir_measures", "datasets"),
    *("numpy", "scipy", "pandas", "jax", "numpyro", "pymc", "arviz", "matplotlib"),
)
"""What a run needs and its record names."""
LOCAL = "pip install 'ragexam[local]'"
MEMORY_GB = 6.0
"""Writing the quickstart peaked at 3.7 GB, at 3.9 with AVX2 alone (RESULTS.md); without 8-bit integers its writer alone
takes 3.3 to 7."""
DISK_GB = 5.0
"""The models of the quickstart take 3.3 GB, a run and its caches some hundred MB."""


@dataclass(frozen=True)
class MachineReport:
    """What this machine has, memory and free disk in GB; `problems` names what a run would miss on it."""

    problems: tuple[str, ...]
    python: str
    ragexam: str | None
    packages: Mapping[str, str | None]
    processors: int
    bfloat16: bool
    int8: bool
    cuda: tuple[str, ...]
    memory_gb: float
    disk_gb: float
    models: Mapping[str, str]

    @property
    def is_healthy(self) -> bool:
        """Whether nothing is missing."""
        return not self.problems

    def record(self) -> dict[str, Any]:
        """The report as JSON types."""
        return {"healthy": self.is_healthy, **asdict(self)}

    def lines(self) -> list[str]:
        """The report for a reader."""
        packages = ", ".join(f"{name} {number or 'missing'}" for name, number in self.packages.items())
        speed = "fast" if self.bfloat16 else "slow"
        large = "8-bit integers, the fastest here" if self.int8 else "bfloat16" if self.bfloat16 else "float32"
        return [
            f"ragexam {self.ragexam}, Python {self.python}",
            f"{self.processors} processors, bfloat16 {speed}; {', '.join(self.cuda) or 'no CUDA device'}",
            f"large GGUF models compute in {large}"
            + ("" if self.int8 else "; torch multiplies no 8-bit integers here"),
            f"{self.memory_gb} GB of memory available, {self.disk_gb} GB of disk free",
            f"packages: {packages}",
            *(f"model {name}: {place}" for name, place in self.models.items()),
            *(f"problem: {problem}" for problem in self.problems),
            "healthy" if self.is_healthy else "not ready",
        ]


def examine() -> MachineReport:
    """Look at packages, processors, memory, disk and models, and at what the quickstart needs of them."""
    import psutil

    from rag import computes_w8a8, fast_bfloat16

    packages = {name: version(name) for name in PACKAGES}
    memory = psutil.virtual_memory().available / 1e9
    disk = shutil.disk_usage(Path.cwd()).free / 1e9
    problems = [f"{name} is not installed; wanted {LOCAL}" for name, found in packages.items() if found is None]
    if memory < MEMORY_GB:
        problems.append(f"{memory:.1f} GB of memory available; the quickstart wants {MEMORY_GB:.0f}")
    if disk < DISK_GB:
        problems.append(f"{disk:.1f} GB of disk free; the quickstart wants {DISK_GB:.0f}")
    return MachineReport(
        problems=tuple(problems),
        python=platform.python_version(),
        ragexam=version("ragexam"),
        packages=packages,
        processors=len(os.sched_getaffinity(0)),
        bfloat16=fast_bfloat16(),
        int8=packages["torch"] is not None and computes_w8a8(),
        cuda=tuple(cuda_devices()),
        memory_gb=round(memory, 1),
        disk_gb=round(disk, 1),
        models=models_at_hand(),
    )


def version(package: str) -> str | None:
    """The installed version of a package, None without it."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def cuda_devices() -> list[str]:
    """Names of the CUDA devices torch sees."""
    if version("torch") is None:
        return []
    import torch

    return [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]


def models_at_hand() -> dict[str, str]:
    """Where each embedded model lies, or the size of its download."""
    from rag import weights

    return {
        name: str(found)
        if (found := weights.find_weights(name))
        else f"download of {weights.download_bytes(name) / 1e6:.0f} MB"
        for name in weights.EMBEDDED_MODELS
    }
