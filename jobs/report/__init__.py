"""What a run found, for people: tables, plots and files."""

from jobs.report.sweep.numbers import Numbers, RunSummary, analyse, report_json
from jobs.report.sweep.report import ReportFiles, write_report

__all__ = ["Numbers", "ReportFiles", "RunSummary", "analyse", "report_json", "write_report"]
