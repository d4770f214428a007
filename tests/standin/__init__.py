"""GitHub as far as this project uses it: a real HTTP server with state, that refuses and fails as GitHub does."""

from tests.standin.clock import Pretended
from tests.standin.faults import Fault
from tests.standin.server import Standin
from tests.standin.state import Grant

__all__ = ["Fault", "Grant", "Pretended", "Standin"]
