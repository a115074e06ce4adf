// Replays the vectors of envelopes: each writer gives the same bytes for the same nonce, and refuses what cannot be.
import C@package@
import Foundation
import XCTest
import @package@

private func fixed(_ state: UnsafeMutableRawPointer?, _ bytes: UnsafeMutablePointer<UInt8>?, _ count: Int) -> Int32 {
    guard let state = state, let bytes = bytes else { return -1 }
    memcpy(bytes, state, count)
    return 0
}

private func bytes(_ digits: Substring) -> [UInt8] {
    let halves = digits.utf8.map { $0 <= 57 ? $0 - 48 : $0 - 87 }
    return stride(from: 0, to: halves.count, by: 2).map { 16 * halves[$0] + halves[$0 + 1] }
}

private func label(_ digits: Substring) -> String {
    return String(decoding: bytes(digits), as: UTF8.self)
}

private func number(_ digits: Substring) -> Double {
    return Double(bitPattern: UInt64(digits, radix: 16) ?? 0)
}

final class EnvelopesTests: XCTestCase {
@tests@
    private func replayAll(
        _ name: String, _ write: (Substring, UInt32, UnsafeMutableRawPointer) -> (outcome: Int32, envelope: [UInt8])
    ) throws {
        let url = try XCTUnwrap(Bundle.module.url(forResource: "\(name)_envelopes", withExtension: "txt", subdirectory: "Vectors"))
        let text = try String(contentsOf: url, encoding: .ascii)
        var cases = 0
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            cases += 1
            let fields = line.split(separator: " ")
            var nonce = bytes(fields[2])
            let found = try nonce.withUnsafeMutableBytes { place in
                write(fields[0], UInt32(fields[1]) ?? 0, try XCTUnwrap(place.baseAddress))
            }
            if fields[3] == "error" {
                XCTAssertEqual(found.outcome, 1, "case \(cases)")
            } else {
                XCTAssertEqual(found.outcome, 0, "case \(cases)")
                XCTAssertEqual(found.envelope, bytes(fields[3]), "case \(cases)")
            }
        }
        XCTAssertGreaterThan(cases, 1)
    }
}
