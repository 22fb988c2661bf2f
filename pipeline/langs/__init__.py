"""Facts on languages, as data: names, scripts, and the codes that providers of datasets use."""
