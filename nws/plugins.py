"""What plugins import: what systems of your own are made of. See docs/your-own.md."""

from nws.core.errors import PluginError
from nws.core.systems.system import Document, Draft, System

__all__ = ["Document", "Draft", "PluginError", "System"]
