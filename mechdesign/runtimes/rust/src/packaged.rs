/// Tables that are read when they are first used, the list of them, and the device that draws from them.
macro_rules! tables {
    (
        $($name:ident = $content:expr $(=> $of:ident($($said:literal),*))?;)*
        $(@$device:ident = $file:expr => $once:ident, $again:expr;)?
    ) => {
        $(
            pub static $name: std::sync::LazyLock<super::Table> = std::sync::LazyLock::new(|| {
                let table = super::Table::read($content).expect("a table that was checked before it was exported");
                $(let table = table.of(super::Subject::$of($($said),*).expect("its hash"));)?
                table
            });
        )*

        $(
            pub static $device: std::sync::LazyLock<super::Device<'static>> = std::sync::LazyLock::new(|| {
                super::Device::read($file, &$once, $again).expect("a device that was checked before it was exported")
            });
        )?

        /// All tables, by name.
        pub static ALL: &[(&str, fn() -> &'static super::Table)] = &[$((stringify!($name), || &$name)),*];
    };
}
