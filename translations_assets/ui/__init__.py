"""Web pages of one's own machine: Dagster's UI, guarded from other pages in the browser; the playground."""
