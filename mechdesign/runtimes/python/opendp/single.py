# Below all of that and measurement.py, where the sampler is to be a measurement of OpenDP.

EPSILON = epsilon_of(TABLE)


def make_measurement():
    """The measurement of this table: see `measurement_of`."""
    return measurement_of(TABLE)
