// Tables, in the types of their labels. What is drawn is drawn in C: see mechdesign.h.

/// Why there is no report and no envelope.
public enum SamplerError: Int32, Error {
    /// The input is not in the domain.
    case badInput = 1
    /// The operating system gave no randomness.
    case noRandomness = 2
    /// The table is none that this version can draw from.
    case badTable = 14
    case noMemory = 15
}

/// What goes into a table: a number of its file, or a label.
public enum ReportInput {
    case number(Double)
    case label(String)
}

/// What comes out of a table: bytes, a number of its file, or a label beside its number.
public struct Report {
    public var number: Double
    public var label: String?
    public var bytes: [UInt8]

    public init(number: Double = 0, label: String? = nil, bytes: [UInt8] = []) {
        self.number = number
        self.label = label
        self.bytes = bytes
    }
}

/// Labels of inputs or outputs: their texts are those of the table.
public protocol ReportLabel: RawRepresentable, Hashable where RawValue == String {}

/// A table that was read. Threads may share it.
public final class ReportTable {
    /// The table in C; nil where the file is none that this version can draw from.
    public let pointer: OpaquePointer?
    private let outcome: Int32
    private let subject: mdp_subject

    /// Reads the canonical bytes of a table file; envelopes of its reports say that they are of the subject.
    public init(_ json: UnsafePointer<CChar>?, _ length: Int, of subject: mdp_subject? = nil) {
        var table: OpaquePointer?
        outcome = mdp_table_read(json, length, &table)
        pointer = table
        self.subject = subject ?? table.map { mdp_table_subject($0) } ?? mdp_subject()
    }

    deinit {
        mdp_table_free(pointer)
    }

    /// Whether this is a label of the inputs.
    public func takes(_ label: String) -> Bool {
        guard let table = pointer else { return false }
        return mdp_input_place(table, label) >= 0
    }

    /// One report for what is asked, with the system's randomness.
    public func sample(_ x: ReportInput) throws -> Report {
        let table = try opened()
        var report = mdp_report()
        switch x {
        case .number(let number): try require(mdp_sample(table, number, &report))
        case .label(let label): try require(mdp_sample_label(table, label, &report))
        }
        return Report(report)
    }

    /// One report for a number of the file, whether or not inputs have labels.
    public func sampleCode(_ x: Double) throws -> Report {
        var report = mdp_report()
        try require(mdp_sample_code(try opened(), x, &report))
        return Report(report)
    }

    /// The bytes that a collector reads. They count until the end (UTC) of the day `lastDay`, in days since 1970-01-01.
    public func envelope(_ report: Report, lastDay: UInt32) throws -> [UInt8] {
        let table = try opened()
        var content = [UInt8](repeating: 0, count: mdp_envelope_size(table))
        var subject = self.subject
        try report.withC { try require(mdp_envelope(table, &subject, $0, lastDay, &content)) }
        return content
    }

    private func opened() throws -> OpaquePointer {
        guard let table = pointer else { throw SamplerError(rawValue: outcome) ?? SamplerError.badTable }
        return table
    }

    private func require(_ outcome: Int32) throws {
        if outcome != 0 {
            throw SamplerError(rawValue: outcome) ?? SamplerError.badInput
        }
    }
}

extension Report {
    /// A report in C.
    public init(_ report: mdp_report) {
        let label = report.label.map { String(cString: $0) }
        let bytes = withUnsafeBytes(of: report.bytes) { Array($0.prefix(report.size)) }
        self.init(number: report.number, label: label, bytes: bytes)
    }

    /// Calls with the report in C.
    public func withC<Result>(_ call: (UnsafePointer<mdp_report>) throws -> Result) rethrows -> Result {
        var content = mdp_report()
        content.number = number
        content.size = bytes.count
        withUnsafeMutableBytes(of: &content.bytes) { $0.copyBytes(from: bytes.prefix($0.count)) }
        guard let label = label else { return try call(&content) }
        return try label.withCString { text in
            content.label = text
            return try call(&content)
        }
    }
}

/// A table in the types of its labels. Inputs are labels, numbers or items, which are numbers from 0; outputs are labels,
/// numbers or bytes.
public protocol Sampler {
    associatedtype Input
    associatedtype Output
    static var table: ReportTable { get }
    static func input(_ x: Input) -> ReportInput
    static func output(_ report: Report) -> Output?
    static func report(_ output: Output) -> Report
}

extension Sampler {
    /// A report for the input x, with the system's randomness.
    public static func sample(_ x: Input) throws -> Output {
        guard let report = output(try table.sample(input(x))) else { throw SamplerError.badTable }
        return report
    }

    /// The bytes that a collector reads, of a report that `sample` gave. It counts until the end (UTC) of the day
    /// `lastDay`, in days since 1970-01-01.
    public static func envelope(_ report: Output, lastDay: UInt32) throws -> [UInt8] {
        return try table.envelope(self.report(report), lastDay: lastDay)
    }
}

extension Sampler where Input: ReportLabel {
    public static func input(_ x: Input) -> ReportInput { return .label(x.rawValue) }
}

extension Sampler where Input == Double {
    public static func input(_ x: Double) -> ReportInput { return .number(x) }
}

extension Sampler where Input == Int {
    public static func input(_ x: Int) -> ReportInput { return .number(Double(x)) }
}

extension Sampler where Output: ReportLabel {
    public static func output(_ report: Report) -> Output? { return report.label.flatMap { Output(rawValue: $0) } }
    public static func report(_ output: Output) -> Report { return Report(label: output.rawValue) }
}

extension Sampler where Output == Double {
    public static func output(_ report: Report) -> Double? { return report.number }
    public static func report(_ output: Double) -> Report { return Report(number: output) }
}

extension Sampler where Output == [UInt8] {
    public static func output(_ report: Report) -> [UInt8]? { return report.bytes }
    public static func report(_ output: [UInt8]) -> Report { return Report(bytes: output) }
}
