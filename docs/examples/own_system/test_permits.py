from permits.reference import Dispatcher
from permits.spec import PERMITS

from brokerlaw.testing import law_tests

TestDispatcher = law_tests(PERMITS, Dispatcher)
