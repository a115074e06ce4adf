// Replays the vectors: each table gives the same report, bit for bit, after as many bytes, and refuses what is no input; the
// same envelope for the same nonce.
import Foundation
import XCTest

/// Random bytes of a vector.
final class Stream {
    let bytes: [UInt8]
    var used = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }
}

func nextBytes(_ state: UnsafeMutableRawPointer?, _ bytes: UnsafeMutablePointer<UInt8>?, _ count: Int) -> Int32 {
    guard let state = state, let bytes = bytes else { return -1 }
    let stream = Unmanaged<Stream>.fromOpaque(state).takeUnretainedValue()
    guard stream.used + count <= stream.bytes.count else { return -1 }
    for i in 0..<count {
        bytes[i] = stream.bytes[stream.used + i]
    }
    stream.used += count
    return 0
}

func bytes(of text: Substring) -> [UInt8] {
    let digits = Array(text.utf8).map { $0 <= 57 ? $0 - 48 : $0 - 87 }
    return text == "-" ? [] : stride(from: 0, to: digits.count, by: 2).map { 16 * digits[$0] + digits[$0 + 1] }
}

func digits(_ bytes: [UInt8]) -> String {
    return bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

func digits(_ report: Report) -> String {
    if !report.bytes.isEmpty {
        return digits(report.bytes)
    }
    let text = String(report.number.bitPattern, radix: 16)
    return String(repeating: "0", count: 16 - text.count) + text
}

/// An input of a vector: an item in decimal, or the bits of a number.
func input(_ text: Substring) -> Double {
    return text.utf8.count < 16 ? Double(text) ?? -1 : Double(bitPattern: UInt64(text, radix: 16) ?? 0)
}

func lines(_ name: String) throws -> [[Substring]] {
    let url = try XCTUnwrap(Bundle.module.url(forResource: name, withExtension: "txt", subdirectory: "Vectors"))
    let text = try String(contentsOf: url, encoding: .ascii)
    return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { $0.split(separator: " ") }
}

final class VectorsTests: XCTestCase {
    func testTablesReproduceTheirVectors() throws {
        for (name, table) in testedTables {
            for (number, fields) in try lines("\(name)_vectors").enumerated() {
                let stream = Stream(bytes(of: fields[1]))
                let place = Unmanaged.passUnretained(stream).toOpaque()
                var report = mdp_report()
                let outcome = mdp_draw(table.pointer, input(fields[0]), nextBytes, place, &report)
                if fields[3] == "error" {
                    XCTAssertEqual(outcome, 1, "\(name) \(number)")
                } else {
                    XCTAssertEqual(outcome, 0, "\(name) \(number)")
                    XCTAssertEqual(digits(Report(report)), String(fields[3]), "\(name) \(number)")
                    XCTAssertEqual(stream.used, Int(fields[2]), "\(name) \(number)")
                }
            }
        }
        XCTAssertGreaterThan(testedTables.count, 0)
    }

    func testEnvelopesHaveTheirBytesButForTheNonceAndRefuseWhatIsNoReport() throws {
        for (name, table) in testedTables {
            for fields in try lines("\(name)_envelopes") {
                let isLabelled = mdp_output_count(table.pointer) > 0
                let said = bytes(of: fields[0])
                let isOfItems = try table.sampleCode(input(try lines("\(name)_vectors")[0][0])).bytes.count > 0
                let report = Report(
                    number: isLabelled || isOfItems ? 0 : input(fields[0]),
                    label: isLabelled ? String(decoding: said, as: UTF8.self) : nil,
                    bytes: isOfItems ? said : [])
                guard let day = UInt32(fields[1]) else { return XCTFail(name) }
                if fields[3] == "error" {
                    XCTAssertThrowsError(try table.envelope(report, lastDay: day), name)
                } else {
                    let made = try table.envelope(report, lastDay: day)
                    let expected = bytes(of: fields[3])
                    XCTAssertEqual(Array(made[..<44]), Array(expected[..<44]), name)
                    XCTAssertEqual(Array(made[60...]), Array(expected[60...]), name)
                    XCTAssertNotEqual(made, try table.envelope(report, lastDay: day), name)
                }
            }
        }
    }

    func testWithoutRandomnessThereIsAnErrorAndNoReport() throws {
        for (name, table) in testedTables {
            var report = mdp_report()
            report.number = 7
            let x = input(try lines("\(name)_vectors")[0][0])
            XCTAssertEqual(mdp_draw(table.pointer, x, { _, _, _ in -1 }, nil, &report), 2, name)
            XCTAssertEqual(report.number, 7, name)
        }
    }
}
