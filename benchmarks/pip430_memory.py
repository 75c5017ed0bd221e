"""pip430 (c): how many bytes of buffers a cache holds on to, for each byte that it accounts for.

Publishes arrive in receive buffers of the proposal's sizes.  Without copying, a cached entry is a slice, and its whole
buffer stays while one slice of it does.  All entries but a share then leave by a time pass: the oldest first, as it is
where nothing is expected to be read (neighbours leave together); or all but those of some topics whose entries are
still expected to be read (neighbours are parted).
"""

from __future__ import annotations

from random import Random

from brokerlaw.reference.entry_cache import Parts
from brokerlaw.reference.entry_cache.broker import Buffers
from brokerlaw.reference.entry_cache.switches import Switches
from brokerlaw.spec.entry_cache.words import Config

from .measure import number, table

SEED = 430
KIB = 1024
BUFFERS = (16 * KIB, 64 * KIB, 256 * KIB, 1024 * KIB)
SHARES = (0.01, 0.1, 0.5)
TOPICS = 100
ENTRY_BYTES = (200, 2_000)
ENTRIES, QUICK_ENTRIES = 20_000, 300


def amplification(buffer_bytes: int, copies: bool, share: float, parted: bool, entries: int) -> float:
    """Bytes of the buffers that are held, for each byte of the entries that are left."""
    manager = Parts().manager(Parts(), Switches())
    manager.configure(Config(max_size_bytes=2**50, ttl_ms=0, max_extensions=1, extend_accessed=False))
    random, buffers, (low, high) = Random(SEED), Buffers(buffer_bytes), ENTRY_BYTES
    kept_topics = max(1, round(TOPICS * share))
    kept_from = round(entries * (1 - share))
    for each in range(entries):
        topic = int(random.random() * TOPICS)
        size_bytes = low + int(random.random() * (high - low))
        buffer = buffers.fresh(size_bytes) if copies else buffers.slice_of_receive(size_bytes)
        reads = int(parted and topic < kept_topics)
        at_ms = 2 if not parted and each >= kept_from else 0
        manager.insert(f"t{topic}", (0, each), size_bytes, reads, buffer, at_ms)
    manager.time_pass(now_ms=1)
    left = [node.value for node in manager.queue.nodes if node.value is not None]
    held = {entry.buffer: entry.buffer_bytes for entry in left}
    return sum(held.values()) / manager.total_bytes


def report(quick: bool) -> str:
    """Prints the table; returns this part of the figure."""
    entries = QUICK_ENTRIES if quick else ENTRIES
    columns = [(share, parted) for parted in (False, True) for share in SHARES]
    rows = []
    for buffer_bytes in BUFFERS:
        held = [amplification(buffer_bytes, False, share, parted, entries) for share, parted in columns]
        rows.append((f"slices of {buffer_bytes // KIB} KiB", *map(number, held)))
    copied = [amplification(BUFFERS[-1], True, share, parted, entries) for share, parted in columns]
    rows.append(("copied", *map(number, copied)))
    print(
        f"(c) bytes held for each byte accounted, {entries:,} publishes of {ENTRY_BYTES[0]} to {ENTRY_BYTES[1]} bytes"
    )
    head = [f"{share:.0%} left, {'parted' if parted else 'oldest first'}" for share, parted in columns]
    print(table(("payloads", *head), rows), end="\n\n")
    return f"1 MiB buffers hold up to {max(held):.0f}x the bytes accounted, copies {max(copied):.0f}x"
