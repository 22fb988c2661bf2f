"""The deployment on one machine, without a cluster: to try what differs from SQLite and a folder."""
