// Replays the vectors: each sampler returns the same double, bit for bit, after as many bytes, and refuses what is no input.
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

final class VectorsTests: XCTestCase {
@tests@
    private func replayAll(
        _ name: String, _ draw: (Double, UnsafeMutableRawPointer, UnsafeMutablePointer<Double>) -> Int32
    ) throws {
        let url = try XCTUnwrap(Bundle.module.url(forResource: "\(name)_vectors", withExtension: "txt", subdirectory: "Vectors"))
        let text = try String(contentsOf: url, encoding: .ascii)
        var cases = 0
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            cases += 1
            let fields = line.split(separator: " ")
            let x = Double(bitPattern: try XCTUnwrap(UInt64(fields[0], radix: 16)))
            let stream = Stream(fields[1])
            var y = 0.0
            let outcome = draw(x, Unmanaged.passUnretained(stream).toOpaque(), &y)
            if fields[3] == "error" {
                XCTAssertEqual(outcome, 1, "case \(cases)")
            } else {
                XCTAssertEqual(outcome, 0, "case \(cases)")
                XCTAssertEqual(y.bitPattern, UInt64(fields[3], radix: 16), "case \(cases)")
                XCTAssertEqual(stream.used, Int(fields[2]), "case \(cases)")
            }
        }
        XCTAssertGreaterThan(cases, 0)
    }
}
