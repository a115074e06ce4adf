"""Ways to the least noise of a workload, a module each: ``fits`` says whether one can be taken, ``answer`` takes it."""
