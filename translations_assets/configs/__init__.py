"""The training configs that there are: read, cached, stored, and made."""
