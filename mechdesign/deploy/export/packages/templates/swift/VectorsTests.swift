// Replays the vectors: each sampler returns the same report, bit for bit, after as many bytes, and refuses what is no input.
import C@package@
import Foundation
import XCTest
import @package@

/// Random bytes of a vector.
final class Stream {
    let bytes: [UInt8]
    var used = 0

    init(_ text: Substring) {
        let digits = Array(text.utf8).map { $0 <= 57 ? $0 - 48 : $0 - 87 }
        bytes = stride(from: 0, to: digits.count, by: 2).map { 16 * digits[$0] + digits[$0 + 1] }
    }
}

private func nextBytes(_ state: UnsafeMutableRawPointer?, _ bytes: UnsafeMutablePointer<UInt8>?, _ count: Int) -> Int32 {
    guard let state = state, let bytes = bytes else { return -1 }
    let stream = Unmanaged<Stream>.fromOpaque(state).takeUnretainedValue()
    guard stream.used + count <= stream.bytes.count else { return -1 }
    for i in 0..<count {
        bytes[i] = stream.bytes[stream.used + i]
    }
    stream.used += count
    return 0
}

private func number(_ input: Substring) -> Double {
    return Double(bitPattern: UInt64(input, radix: 16) ?? 0)
}

private func digits(_ y: Double) -> String {
    let text = String(y.bitPattern, radix: 16)
    return String(repeating: "0", count: 16 - text.count) + text
}

private func digits(_ y: [UInt8]) -> String {
    return y.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

final class VectorsTests: XCTestCase {
@tests@
    private func replayAll(
        _ name: String, _ draw: (Substring, UnsafeMutableRawPointer) -> (outcome: Int32, report: String)
    ) throws {
        let url = try XCTUnwrap(Bundle.module.url(forResource: "\(name)_vectors", withExtension: "txt", subdirectory: "Vectors"))
        let text = try String(contentsOf: url, encoding: .ascii)
        var cases = 0
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            cases += 1
            let fields = line.split(separator: " ")
            let stream = Stream(fields[1])
            let found = draw(fields[0], Unmanaged.passUnretained(stream).toOpaque())
            if fields[3] == "error" {
                XCTAssertEqual(found.outcome, 1, "case \(cases)")
            } else {
                XCTAssertEqual(found.outcome, 0, "case \(cases)")
                XCTAssertEqual(found.report, String(fields[3]), "case \(cases)")
                XCTAssertEqual(stream.used, Int(fields[2]), "case \(cases)")
            }
        }
        XCTAssertGreaterThan(cases, 0)
    }
}
