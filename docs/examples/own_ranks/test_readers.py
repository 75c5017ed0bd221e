from adapter import Ranks

from brokerlaw.testing import law_tests

TestReaders = law_tests("cursor_ranks", Ranks)
