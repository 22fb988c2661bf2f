"""The model of scale: what production runs of several sizes take, by simulation and by real runs at 1/N."""
