"""What plugins import: systems and metrics of your own, and tests that any of them must pass. See docs/your-own.md."""

from core.errors import PluginError
from core.systems.system import Document, Draft, System
from core.testing import check_metric, check_plugin, check_system

__all__ = ["Document", "Draft", "PluginError", "System", "check_metric", "check_plugin", "check_system"]
