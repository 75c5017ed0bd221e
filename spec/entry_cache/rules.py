"""entry_cache, part 2: the arithmetic.

Plain functions on plain numbers.  The model runs them; the proofs run these very functions on symbolic integers.
"""

from __future__ import annotations

from .words import TRIGGER


def trigger_bytes(max_size_bytes: int) -> int:
    """A size pass runs when the total is larger than this.  The broker computes it in doubles, and so do we."""
    return int(max_size_bytes * TRIGGER)


def watermark_bytes(max_size_bytes: int, watermark_percent: int) -> int:
    """A size pass brings the total down to this, in doubles again: 0.29 of 100 is 28."""
    return int(max_size_bytes * (watermark_percent / 100))


def bytes_to_free(total_bytes: int, max_size_bytes: int, watermark_percent: int) -> int:
    """How much a size pass has to free; 0 where it has nothing to do."""
    if total_bytes <= trigger_bytes(max_size_bytes):
        return 0
    return max(0, total_bytes - watermark_bytes(max_size_bytes, watermark_percent))


def is_expired(ts_ms: int, now_ms: int, ttl_ms: int) -> bool:
    """Older than the ttl; exactly as old is not expired."""
    return ts_ms < now_ms - ttl_ms


def entitled_by_access(extend_accessed: bool, accessed: bool) -> bool:
    """An entry that was read since it was put or last requeued gets another round."""
    return extend_accessed and accessed


def entitled_by_reads(counting: bool, reads: int, extensions: int, max_extensions: int) -> bool:
    """An entry that somebody is still expected to read gets another round, so many times and no more."""
    return counting and reads >= 1 and extensions < max_extensions


def laps(
    extend_accessed: bool, accessed: bool, counting: bool, reads: int, extensions: int, max_extensions: int
) -> int:
    """How often a size pass that takes everything requeues an entry before it removes it."""
    by_access = 1 if entitled_by_access(extend_accessed, accessed) else 0
    by_reads = max(0, max_extensions - extensions - by_access) if counting and reads >= 1 else 0
    return by_access + by_reads


def continue_caching_ms(setting_ms: int | None, ttl_ms: int) -> int:
    """How long appended entries are still cached after the last active cursor left; 2 x ttl where nothing is set."""
    return 2 * ttl_ms if setting_ms is None else setting_ms


def append_is_cached(
    max_size_bytes: int, active_cursors: int, counting: bool, since_left_ms: int, continue_ms: int
) -> bool:
    """Whether an appended entry goes into the cache."""
    if max_size_bytes == 0:
        return False
    return active_cursors > 0 or (counting and since_left_ms < continue_ms)


def read_taken(reads: int) -> int:
    """Expected reads after one was done."""
    return max(0, reads - 1)


# ---- Lifetimes: how long an entry stays, at constant settings and without forced removal ----------------------------


def idle_bound_ms(ttl_ms: int, interval_ms: int) -> int:
    """No reads expected, no access, no size pass: gone by then, and not before ttl has passed."""
    return ttl_ms + interval_ms


def unaccessed_bound_ms(ttl_ms: int, interval_ms: int, max_extensions: int) -> int:
    """No access, whatever reads are expected: gone by then, size passes or not."""
    return (max_extensions + 1) * (ttl_ms + interval_ms)


def scheduled_bound_ms(ttl_ms: int, interval_ms: int, max_extensions: int) -> int:
    """The same, exactly, when checks come at a fixed interval: a requeued entry waits a whole number of intervals."""
    return ttl_ms + interval_ms + max_extensions * interval_ms * (ttl_ms // interval_ms + 1)


def expected_least_ms(ttl_ms: int, max_extensions: int) -> int:
    """Reads expected throughout and no size pass: it stays longer than this."""
    return (max_extensions + 1) * ttl_ms


def after_access_bound_ms(ttl_ms: int, interval_ms: int, max_extensions: int, extensions: int, expected: bool) -> int:
    """Accesses stop: gone this long after, given the extensions spent by then and whether reads are still expected."""
    rounds = max(1, max_extensions - extensions) if expected else 1
    return (1 + rounds) * (ttl_ms + interval_ms)
