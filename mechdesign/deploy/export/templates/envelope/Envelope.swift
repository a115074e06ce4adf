// Envelopes for reports of the table with SHA-256
//
//     @sha@
//
// Their bytes are written by @stem@_envelope.c, in this package.
import C@package@

extension @Name@ {
    /// The bytes that a collector reads, of a report that `sample` gave. It counts until the end (UTC) of the day `lastDay`, in
    /// days since 1970-01-01.
    public static func envelope(_ report: @given@, lastDay: UInt32) throws -> [UInt8] {
// @if bytes
        guard report.count == @size@ else { throw SamplerError.badInput }
// @end
        var content = [UInt8](repeating: 0, count: 60 + @size@)
        switch @stem@_envelope(@report@, lastDay, &content) {
        case 0: return content
        case 2: throw SamplerError.noRandomness
        default: throw SamplerError.badInput
        }
    }
}
