// The device: its vectors (states that are lost, cut, edited, foreign and rolled back among them), and a state in a file.
import @module@
import Foundation
import XCTest
import @package@

private func bytes(of text: Substring) -> [UInt8] {
    let digits = Array(text.utf8).map { $0 <= 57 ? $0 - 48 : $0 - 87 }
    return text == "-" ? [] : stride(from: 0, to: digits.count, by: 2).map { 16 * digits[$0] + digits[$0 + 1] }
}

private func digits(_ bytes: [UInt8]) -> String {
    return bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

/// What a vector loads, and what is then stored; the random bytes, and how many were used.
private final class Held {
    let content: [UInt8]
    let random: [UInt8]
    var stored = "-"
    var used = 0

    init(content: [UInt8], random: [UInt8]) {
        self.content = content
        self.random = random
    }
}

private func vector(_ context: UnsafeMutableRawPointer?) -> Held {
    return Unmanaged<Held>.fromOpaque(context!).takeUnretainedValue()
}

private func nextBytes(_ state: UnsafeMutableRawPointer?, _ bytes: UnsafeMutablePointer<UInt8>?, _ count: Int) -> Int32 {
    let held = vector(state)
    guard held.used + count <= held.random.count else { return -1 }
    for i in 0..<count {
        bytes![i] = held.random[held.used + i]
    }
    held.used += count
    return 0
}

final class DeviceTests: XCTestCase {
    private let words = [
        "done", "input", "no-randomness", "missing", "damaged", "other", "rolled-back", "past", "exhausted", "present",
        "busy", "storage", "number", "ahead",
    ]

    private func replay(_ line: Substring) -> Bool {
        let fields = line.split(separator: " ")
        let state = Held(content: bytes(of: fields[1]), random: bytes(of: fields[6]))
        var storage = @device@_storage(
            load: { context, content, room, length in
                let bytes = vector(context).content
                length!.pointee = bytes.count
                for (place, byte) in bytes.prefix(room).enumerated() {
                    content![place] = byte
                }
                return 0
            },
            store: { context, content, length in
                vector(context).stored = digits(Array(UnsafeBufferPointer(start: content, count: length)))
                return 0
            },
            context: Unmanaged.passUnretained(state).toOpaque()
        )
        let period = Int32(fields[2]) ?? -1
        let least = Int32(fields[3]) ?? -1
        var said: String
        if fields[0] == "create" {
            said = words[Int(@device@_create(&storage, period, Int32(fields[4]) ?? -1, least))]
        } else {
// @if items
            var y = [UInt8](repeating: 0, count: @drawn@)
            let x = Int64(fields[5]) ?? -1
// @else
            var y = 0.0
            let x = Double(bitPattern: UInt64(fields[5], radix: 16) ?? 0)
// @end
            let place = Unmanaged.passUnretained(state).toOpaque()
            let outcome = @core@_from(&storage, x, period, least, nextBytes, place, &y)
            said = words[Int(outcome)]
            if outcome == 0 {
// @if items
                said = digits(y)
// @else
                let text = String(y.bitPattern, radix: 16)
                said = String(repeating: "0", count: 16 - text.count) + text
// @end
                if state.used != Int(fields[7]) { return false }
            }
        }
        return withExtendedLifetime(state) { said == fields[8] && state.stored == fields[9] }
    }

    func testTheVectorsAreReproduced() throws {
        let url = try XCTUnwrap(
            Bundle.module.url(forResource: "@vectors@", withExtension: "txt", subdirectory: "Vectors"))
        let text = try String(contentsOf: url, encoding: .ascii)
        var cases = 0
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            cases += 1
            XCTAssertTrue(replay(line), "case \(cases)")
        }
        XCTAssertGreaterThan(cases, 0)
    }

    func testAStateInAFileIsCreatedSpentCountedAndUsedByOne() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("state").path
        let refused = { (reason: DeviceError, call: () throws -> Void) in
            XCTAssertThrowsError(try call()) { XCTAssertEqual($0 as? DeviceError, reason) }
        }
        do {
            let device = @name@(try @name@File(path: path))
            refused(.missing) { _ = try device.report(@example@, period: 20) }
            try device.create(period: 20, allowance: 1)
            refused(.present) { try device.create(period: 20) }
            _ = try device.report(@example@, period: 20)
            refused(.exhausted) { _ = try device.report(@example@, period: 20) }
            refused(.busy) { _ = try @name@File(path: path) }
        }
        let device = @name@(try @name@File(path: path))
        XCTAssertEqual(try device.serial(), 2)
        refused(.rolledBack) { _ = try device.serial(least: 3) }
    }
}
