"""A registry of the models in a store: a database and a static site, made anew from the store at any time."""
