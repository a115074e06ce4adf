package mechdesign.runtime

/** A [Device] and its storage. Whatever is thrown, there is no report. */
public open class StoredDevice<X, Y>(private val device: Device<X, Y>, private val storage: Storage) {
    /**
     * Begins without memory where there is no state to keep, with [allowance] reports left in the period: what the server
     * grants, and 0 without its word. [least] is the last serial known from elsewhere. See [Device.create].
     */
    public fun create(period: Int, allowance: Int = 0, least: Int = 0) {
        device.create(storage, period, allowance, least)
    }

    /** One report for the value held now, returned only after the state that counts it was stored. */
    public fun report(x: X, period: Int, least: Int = 0): Y = device.report(storage, x, period, least)

    /** How many states were stored so far: keep it outside the storage, and give it as `least` next time. */
    public fun serial(least: Int = 0): Int = device.serial(storage, least)
}
