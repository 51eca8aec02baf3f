"""Run folders that all tests of the report share: written, fitted and reported once in a session; never changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragexam.report import RunFindings, analyse_run, write_report
from tests.ragexam.report.fitted_run import write_fitted
from tests.ragexam.report.run_folder import write_run


@pytest.fixture(scope="session")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was sat but neither fitted nor pruned, with its page."""
    run = write_run(tmp_path_factory.mktemp("bare"))
    write_report(analyse_run(run))
    return run


@pytest.fixture(scope="session")
def findings(tmp_path_factory: pytest.TempPathFactory) -> RunFindings:
    """What is found in the fitted run."""
    return analyse_run(write_fitted(tmp_path_factory.mktemp("fitted")))


@pytest.fixture(scope="session")
def fitted(findings: RunFindings) -> Path:
    """A run that was fitted and pruned, with its page."""
    write_report(findings)
    return findings.evidence.folder.path
