"""Other people's software. What is not installed is skipped, and with CI=true a skipped test is a failure."""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import Any

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("CI", "").lower() == "true":
        reason: Any = report.longrepr
        report.outcome = "failed"
        report.longrepr = f"CI=true, and it was skipped: {reason[2] if isinstance(reason, tuple) else reason}"
    return report
