// swift-tools-version:5.5
import PackageDescription

let package = Package(
    name: "@package@",
    products: [
        .library(name: "@package@", targets: ["@package@"])
    ],
    targets: [
        .target(name: "C@package@"),
        .target(name: "@package@", dependencies: ["C@package@"]),
        .testTarget(name: "@package@Tests", dependencies: ["@package@", "C@package@"], resources: [.copy("Vectors")]),
    ]
)
