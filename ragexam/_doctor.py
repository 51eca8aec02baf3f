"""What this machine has, and what a run would miss on it."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

PACKAGES = [
    "torch",
    "transformers",
    "sentence-transformers",
    "bm25s",
    "faiss-cpu",
    "ir_measures",
    "datasets",
    "numpy",
    "scipy",
    "pandas",
    "jax",
    "numpyro",
    "pymc",
    "arviz",
    "matplotlib",
]
MEMORY_GB = 6.0
"""The 1.5-billion-parameter writer takes 3 GB in bfloat16, its loading as much again."""
DISK_GB = 5.0


def examine() -> dict[str, Any]:
    """Versions, processors, memory (GB), free disk (GB), models at hand, and what is wrong."""
    import psutil

    from rag import fast_bfloat16

    packages = {name: version(name) for name in PACKAGES}
    memory = psutil.virtual_memory().available / 1e9
    disk = shutil.disk_usage(Path.cwd()).free / 1e9
    problems = [f"{name} is not installed; run make setup" for name, found in packages.items() if found is None]
    if memory < MEMORY_GB:
        problems.append(f"{memory:.1f} GB of memory available; the quickstart wants {MEMORY_GB:.0f}")
    if disk < DISK_GB:
        problems.append(f"{disk:.1f} GB of disk free; the quickstart wants {DISK_GB:.0f}")
    return {
        "healthy": not problems,
        "problems": problems,
        "python": platform.python_version(),
        "ragexam": version("ragexam"),
        "packages": packages,
        "processors": len(os.sched_getaffinity(0)),
        "bfloat16": fast_bfloat16(),
        "cuda": cuda_devices(),
        "memory_gb": round(memory, 1),
        "disk_gb": round(disk, 1),
        "models": models_at_hand(),
    }


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


def in_words(found: Mapping[str, Any]) -> str:
    """The findings as lines for a reader."""
    lines = [
        f"ragexam {found['ragexam']}, Python {found['python']}",
        f"{found['processors']} processors, bfloat16 {'fast' if found['bfloat16'] else 'slow'}; "
        f"{', '.join(found['cuda']) or 'no CUDA device'}",
        f"{found['memory_gb']} GB of memory available, {found['disk_gb']} GB of disk free",
        "packages: " + ", ".join(f"{name} {number or 'missing'}" for name, number in found["packages"].items()),
        *(f"model {name}: {place}" for name, place in found["models"].items()),
        *(f"problem: {problem}" for problem in found["problems"]),
    ]
    return "\n".join([*lines, "healthy" if found["healthy"] else "not ready"])
