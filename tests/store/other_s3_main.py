"""LocalStack, which answers one request at a time; run by the Python of its own environment.

It looks at a condition first and writes then: of writers at once, several would pass.
"""

from __future__ import annotations

from functools import partial

from localstack.runtime.main import main
from localstack.runtime.server import hypercorn

if __name__ == "__main__":
    hypercorn.AsgiGateway = partial(hypercorn.AsgiGateway, threads=1)
    main()
