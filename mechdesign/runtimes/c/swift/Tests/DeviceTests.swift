// The device: a state in a file is created, spent, counted and used by one. What the machine does with states that are lost,
// cut, edited, foreign and rolled back is tested in C.
import Foundation
import XCTest

final class DeviceTests: XCTestCase {
    func testAStateInAFileIsCreatedSpentCountedAndUsedByOne() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("state").path
        let refused = { (reason: DeviceError, call: () throws -> Void) in
            XCTAssertThrowsError(try call()) { XCTAssertEqual($0 as? DeviceError, reason) }
        }
        do {
            let device = TestedDevice(try FileStorage(path: path))
            refused(.missing) { _ = try device.report(testedInput, period: 20) }
            try device.create(period: 20, allowance: 1)
            refused(.present) { try device.create(period: 20) }
            _ = try device.report(testedInput, period: 20)
            refused(.exhausted) { _ = try device.report(testedInput, period: 20) }
            refused(.busy) { _ = try FileStorage(path: path) }
        }
        let device = TestedDevice(try FileStorage(path: path))
        XCTAssertEqual(try device.serial(), 2)
        refused(.rolledBack) { _ = try device.serial(least: 3) }
    }
}
