"""The pairs of least variance by global bilinear optimisation: an independent check of the closed form."""
