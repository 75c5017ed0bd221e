from adapter import Cache

from brokerlaw.testing import assert_laws


def test_recent_messages_keep_the_laws() -> None:
    assert_laws("entry_cache", Cache, cases=300)
