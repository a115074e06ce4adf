// The device: a state in a file is created, spent, counted and used by one. What the machine does with states that are lost,
// cut, edited, foreign and rolled back is tested in C.
import Foundation
import XCTest

/// A state in memory, slow enough that two threads meet, which fails as it is told.
final class MemoryStorage: DeviceStorage {
    enum Failure: Error {
        case load, store
    }

    var content: [UInt8]?
    var failure: Failure?

    func load() throws -> [UInt8]? {
        if failure == .load { throw Failure.load }
        Thread.sleep(forTimeInterval: 0.01)
        return content
    }

    func store(_ content: [UInt8]) throws {
        if failure == .store { throw Failure.store }
        self.content = content
    }
}

final class DeviceTests: XCTestCase {
    func testThreadsThatShareADeviceSpendNoMoreThanThePeriodHas() throws {
        let device = TestedDevice(MemoryStorage())
        try device.create(period: 20, allowance: 1)
        let counted = NSLock()
        var reports = 0
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            guard (try? device.report(testedInput, period: 20)) != nil else { return }
            counted.lock()
            reports += 1
            counted.unlock()
        }
        XCTAssertEqual(reports, 1)
    }

    func testWhatAStorageThrowsIsThrown() throws {
        let storage = MemoryStorage()
        let device = TestedDevice(storage)
        try device.create(period: 20, allowance: 1)
        for failure in [MemoryStorage.Failure.load, .store] {
            storage.failure = failure
            XCTAssertThrowsError(try device.report(testedInput, period: 20)) {
                XCTAssertEqual($0 as? MemoryStorage.Failure, failure)
            }
        }
        storage.failure = nil
        _ = try device.report(testedInput, period: 20)
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
