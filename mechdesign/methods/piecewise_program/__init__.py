"""The piecewise mechanism of least error by global bilinear optimisation: an independent check of the reduction."""
