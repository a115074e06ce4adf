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
public enum Value {
    case number(Double)
    case label(String)
}

/// What comes out of a table: bytes, a number of its file, or a label beside its number.
public struct Report {
    public var number = 0.0
    public var label: String?
    public var bytes: [UInt8] = []
}

/// What a table takes.
public protocol TableInput {
    var value: Value { get }
}

/// What a table gives.
public protocol TableOutput {
    init?(_ report: Report)
    var report: Report { get }
}

/// Labels of inputs or outputs: their texts are those of the table.
public protocol Label: RawRepresentable, Hashable, TableInput, TableOutput where RawValue == String {}

extension Label {
    public var value: Value { return .label(rawValue) }
    public var report: Report { return Report(number: 0, label: rawValue, bytes: []) }

    public init?(_ report: Report) {
        guard let label = report.label else { return nil }
        self.init(rawValue: label)
    }
}

extension Double: TableInput, TableOutput {
    public var value: Value { return .number(self) }
    public var report: Report { return Report(number: self, label: nil, bytes: []) }

    public init?(_ report: Report) {
        self = report.number
    }
}

/// An item, from 0.
extension Int: TableInput {
    public var value: Value { return .number(Double(self)) }
}

extension Array: TableOutput where Element == UInt8 {
    public var report: Report { return Report(number: 0, label: nil, bytes: self) }

    public init?(_ report: Report) {
        self = report.bytes
    }
}

/// A table that was read. Threads may share it.
public final class Table {
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
    public func sample(_ x: Value) throws -> Report {
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
        number = report.number
        label = report.label.map { String(cString: $0) }
        bytes = withUnsafeBytes(of: report.bytes) { Array($0.prefix(report.size)) }
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

/// A table in the types of its labels.
public protocol Sampler {
    associatedtype Input: TableInput
    associatedtype Output: TableOutput
    static var table: Table { get }
}

extension Sampler {
    /// A report for the input x, with the system's randomness.
    public static func sample(_ x: Input) throws -> Output {
        guard let report = Output(try table.sample(x.value)) else { throw SamplerError.badTable }
        return report
    }

    /// The bytes that a collector reads, of a report that `sample` gave. It counts until the end (UTC) of the day
    /// `lastDay`, in days since 1970-01-01.
    public static func envelope(_ report: Output, lastDay: UInt32) throws -> [UInt8] {
        return try table.envelope(report.report, lastDay: lastDay)
    }
}
