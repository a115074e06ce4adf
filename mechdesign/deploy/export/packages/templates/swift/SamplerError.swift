/// Why there is no report.
public enum SamplerError: Error, Equatable {
    /// The input is not in the domain.
    case badInput
    /// The operating system gave no randomness.
    case noRandomness
}
