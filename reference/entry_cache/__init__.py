"""The reference implementation of entry_cache (PIP-430)."""

from .manager import CacheManager, Parts
from .subject import EntryCache

__all__ = ["CacheManager", "EntryCache", "Parts"]
