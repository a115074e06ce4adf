"""The unbiased mechanism of least worst-case variance, among all."""
