// swift-tools-version: 6.3
import PackageDescription

// The client library for programs outside this repository, as libnavigationclient-dev installs it.
// The targets are those of the repository's manifest; a newer compiler's warning is no error here.
let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .strictMemorySafety(),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .enableUpcomingFeature("ImmutableWeakCaptures"),
  .enableExperimentalFeature("Lifetimes"),
]

let package = Package(
  name: "NavigationClient",
  products: [.library(name: "NavigationClient", targets: ["NavigationClient"])],
  targets: [
    .systemLibrary(name: "CZeroMQ"),
    .systemLibrary(name: "CZlib"),
    .systemLibrary(name: "CLinux"),
    .target(name: "NavigationCore", dependencies: ["CZlib"], swiftSettings: settings),
    .target(
      name: "ZeroMQ", dependencies: ["RuntimePaths", "CZeroMQ", "CLinux"], swiftSettings: settings),
    .target(name: "RuntimePaths", dependencies: ["CLinux"], swiftSettings: settings),
    .target(
      name: "NavigationClient",
      dependencies: ["NavigationCore", "ZeroMQ", "RuntimePaths", "CLinux"],
      swiftSettings: settings),
  ]
)
