// Devices that remember, in the types of their labels. The machine is in C: see mechdesign_device.h.
import Foundation

/// Why there is no report, or no new state: but for `storage`, nothing was stored. What a storage of your own throws is
/// thrown in place of `storage`.
public enum DeviceError: Int32, Error {
    case badInput = 1
    case noRandomness, missing, damaged, other, rolledBack, past, exhausted, present, busy, storage, badNumber, ahead
    case badFile, noMemory
}

/// Where the state is kept: `load` gives the bytes stored last, `store` returns once they are there to stay. No two
/// processes, and no two devices of one, may use one storage at a time.
public protocol DeviceStorage: AnyObject {
    func load() throws -> [UInt8]?
    func store(_ content: [UInt8]) throws
}

/// A device file, and the tables it draws from: once for a value, and then in every report, where there is a second one.
public protocol DeviceFile {
    associatedtype Once: Sampler
    associatedtype Reporting: Sampler
    static var json: (UnsafePointer<CChar>?, Int) { get }
    static var drawsAgain: Bool { get }
}

/// A memory of what was drawn for each value, and a ledger of the reports of a period. Threads may share it: they take
/// turns.
public final class Device<File: DeviceFile> {
    private let storage: DeviceStorage
    private let outcome: Int32
    private let device: mdp_device
    private let turn = NSLock()

    public init(_ storage: DeviceStorage) {
        self.storage = storage
        let (text, length) = File.json
        let again = File.drawsAgain ? File.Reporting.table.pointer : nil
        var device = mdp_device()
        outcome = mdp_device_read(text, length, File.Once.table.pointer, again, &device)
        self.device = device
    }

    /// Begins without memory where there is no state to keep, with `allowance` reports left in the period: what the
    /// server grants, and 0 without its word, as nobody knows what was reported before a state was lost. `least` is
    /// the last serial known from elsewhere. A state that is there keeps its memory, and goes on to a period that is too
    /// far ahead for a report: on the word of another clock than the device's.
    public func create(period: Int32, allowance: Int32 = 0, least: Int32 = 0) throws {
        try withStorage { mdp_device_create($0, $1, period, allowance, least) }
    }

    /// One report for the value held now, returned only after the state that counts it was stored.
    public func report(_ x: File.Once.Input, period: Int32, least: Int32 = 0) throws -> File.Reporting.Output {
        var report = mdp_report()
        switch File.Once.input(x) {
        case .number(let number):
            try withStorage { mdp_device_report($0, $1, number, period, least, &report) }
        case .label(let label):
            try withStorage { mdp_device_report_label($0, $1, label, period, least, &report) }
        }
        guard let said = File.Reporting.output(Report(report)) else { throw DeviceError.damaged }
        return said
    }

    /// How many states were stored so far: keep it outside the storage, and give it as `least` next time.
    public func serial(least: Int32 = 0) throws -> Int32 {
        var serial: Int32 = 0
        try withStorage { mdp_device_serial($0, $1, least, &serial) }
        return serial
    }

    private func withStorage(_ call: (UnsafePointer<mdp_device>, UnsafePointer<mdp_storage>) -> Int32) throws {
        turn.lock()
        defer { turn.unlock() }
        let box = StorageBox(storage)
        var device = self.device
        var functions = mdp_storage(
            load: { context, content, room, length in
                let box = Unmanaged<StorageBox>.fromOpaque(context!).takeUnretainedValue()
                guard let bytes = box.said({ try box.storage.load() ?? [] }) else { return -1 }
                length!.pointee = bytes.count
                for (place, byte) in bytes.prefix(room).enumerated() {
                    content![place] = byte
                }
                return 0
            },
            store: { context, content, length in
                let box = Unmanaged<StorageBox>.fromOpaque(context!).takeUnretainedValue()
                let bytes = Array(UnsafeBufferPointer(start: content, count: length))
                return box.said({ try box.storage.store(bytes) }) == nil ? -1 : 0
            },
            context: Unmanaged.passUnretained(box).toOpaque()
        )
        let said = outcome != 0 ? outcome : withExtendedLifetime(box) { call(&device, &functions) }
        if let failure = box.failure { throw failure }
        if said != 0 {
            throw DeviceError(rawValue: said) ?? DeviceError.storage
        }
    }
}

/// A storage behind a pointer: functions of C cannot know the types of a device, and no error leaves them.
private final class StorageBox {
    let storage: DeviceStorage
    private(set) var failure: Error?

    init(_ storage: DeviceStorage) {
        self.storage = storage
    }

    /// What a call gives; of one that fails the error is kept.
    func said<Answer>(_ call: () throws -> Answer) -> Answer? {
        do {
            return try call()
        } catch {
            failure = error
            return nil
        }
    }
}

/// A state in a file, locked through a file beside it until this object goes. Keep the file out of backups: an older
/// state that comes back is noticed only where `least` is kept elsewhere.
public final class FileStorage: DeviceStorage {
    private let file: UnsafeMutablePointer<mdp_file>
    private let place: UnsafeMutablePointer<CChar>
    private var functions: mdp_storage

    public init(path: String) throws {
        let letters = path.utf8CString
        let place = UnsafeMutablePointer<CChar>.allocate(capacity: letters.count)
        for (i, letter) in letters.enumerated() {
            place[i] = letter
        }
        let file = UnsafeMutablePointer<mdp_file>.allocate(capacity: 1)
        var functions = mdp_storage()
        let outcome = mdp_file_open(file, place, &functions)
        guard outcome == 0 else {
            file.deallocate()
            place.deallocate()
            throw DeviceError(rawValue: outcome) ?? DeviceError.storage
        }
        self.file = file
        self.place = place
        self.functions = functions
    }

    deinit {
        mdp_file_close(file)
        file.deallocate()
        place.deallocate()
    }

    public func load() throws -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 65597)  // one more than any state has
        var length = 0
        guard functions.load(functions.context, &bytes, bytes.count, &length) == 0 else { throw DeviceError.storage }
        return length == 0 ? nil : Array(bytes.prefix(length))
    }

    public func store(_ content: [UInt8]) throws {
        guard functions.store(functions.context, content, content.count) == 0 else { throw DeviceError.storage }
    }
}
