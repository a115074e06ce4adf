"""Programs, solutions and solvers. Knows nothing of privacy."""
