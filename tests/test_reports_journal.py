"""A journal gives its report back, whole or marked incomplete, however it ended."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_reports_document import CLAUSES, GOOD, HEADER, case
from tffs_conformance.reports.document import load, validate
from tffs_conformance.reports.errors import (
    DuplicateCase,
    EmptyReport,
    NotAReport,
    ReportError,
    TruncatedReport,
    UnknownClause,
)
from tffs_conformance.reports.header import Header, SuiteFacts, TargetFacts
from tffs_conformance.reports.journal import KILLED, Journal, recover
