"""What plugins import: what systems of your own are made of. See docs/your-own.md."""

from core.errors import PluginError
from core.systems.system import Document, Draft, System

__all__ = ["Document", "Draft", "PluginError", "System"]
