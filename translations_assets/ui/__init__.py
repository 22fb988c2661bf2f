"""Web pages of one's own machine: Dagster's UI, guarded from other pages in the browser; the playground."""

# A page of another host whose name is made to mean 127.0.0.1 (DNS rebinding) is of the server's own origin to
# a browser: only the name tells.
HOSTS = ("127.0.0.1", "localhost")
