// swift-tools-version: 6.3
import PackageDescription

/// One list of strict settings, used by every target of ours.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .enableUpcomingFeature("ImmutableWeakCaptures"),
  .enableExperimentalFeature("Lifetimes"),
]

/// What computes most in the tests is optimised in debug builds too, and keeps its assertions: the
/// 2,000 seeds of the simulation take 38 s instead of 155, the laws of the replica 6 instead of 18,
/// and compiling takes no longer.
let optimized: [SwiftSetting] = [
  .unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug))
]

/// What the hub calls at every step is inlined into it in release builds, as within one module;
/// `-cross-module-optimization` would leave out all that is `package`.
let inlined: [SwiftSetting] = [
  .unsafeFlags(["-enable-cmo-everything"], .when(configuration: .release))
]

/// How programs that run for long and the library for C are linked: all functions are bound at the
/// start, and their addresses cannot be overwritten.
let boundAtStart: [LinkerSetting] = [.unsafeFlags(["-Xlinker", "-z", "-Xlinker", "now"])]

/// How programs become smaller: by lld, because not every linker has these two options.
///
/// `pack-relative-relocs` stores half a megabyte of relocations in a hundredth of the space;
/// `--icf=safe` merges equal functions, which generics produce.
let smaller: [LinkerSetting] = [
  .unsafeFlags([
    "-use-ld=lld",
    "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs",
    "-Xlinker", "--icf=safe",
  ])
]

/// How the daemons are linked.
let daemonLinking: [LinkerSetting] =
  boundAtStart + smaller + [
    .unsafeFlags([
      // libzmq then calls the functions of TransportGuard with these names, see SocketCalls.swift.
      "-Xlinker", "--export-dynamic-symbol=accept4",
      "-Xlinker", "--export-dynamic-symbol=recv",
      "-Xlinker", "--export-dynamic-symbol=close",
      "-Xlinker", "--export-dynamic-symbol=crypto_box_open",
    ])
  ]

/// How the library for C is linked: with Swift's runtime inside, and no symbols but those of navd.h.
let libraryLinking: [LinkerSetting] =
  boundAtStart + smaller + [
    .unsafeFlags([
      "-static-stdlib",
      "-Xlinker", "-soname=libnavd.so.0",
      "-Xlinker", "--version-script=\(Context.packageDirectory)/Sources/NavdC/navd.map",
      "-Xlinker", "--gc-sections",
      // Swift's runtime keeps what dlclose(3) would take away.
      "-Xlinker", "-z", "-Xlinker", "nodelete",
    ])
  ]

/// What `make check` builds: the core, the hub and the client, with the tests that need no daemon, and
/// what the simulation needs for navd's loop.
let checked: Set = [
  "CJournal", "CSystemd", "CommandLineOptions", "Journal", "NavigationDaemon", "Systemd",
  "TransportGuard",
  "CLinux", "CZeroMQ", "CZlib", "RuntimePaths", "ZeroMQ", "NavigationCore", "NavigationHub",
  "NavigationClient", "Simulation", "Conformance", "ConformanceSupport", "ConformanceTests",
  "NavigationTests", "NavigationProtocolTests", "NavigationReplicaTests", "NavigationHubTests",
  "SimulationTests",
]

let package = Package(
  name: "navd",
  products: [
    .library(name: "NavigationClient", targets: ["NavigationClient"]),
    // Installed as libnavd.so.0.
    .library(name: "navd-c", type: .dynamic, targets: ["NavdC"]),
    .executable(name: "navd", targets: ["navd"]),
    .executable(name: "navd-cluster", targets: ["navd-cluster"]),
    .executable(name: "navctl", targets: ["navctl"]),
    .executable(name: "navd-exporter", targets: ["navd-exporter"]),
    .executable(name: "navd-web", targets: ["navd-web"]),
  ],
  targets: [
    // C libraries, one importer each. No pkgConfig for libzmq: Debian's file carries a flag that
    // SwiftPM prints a warning about on every build.
    .systemLibrary(name: "CZeroMQ"),
    .systemLibrary(name: "CJournal"),
    .systemLibrary(name: "CPostgreSQL", path: "Sources/PostgresJournal/CPostgreSQL"),
    .systemLibrary(name: "CZlib"),
    .systemLibrary(name: "CSystemd"),
    .systemLibrary(name: "CMicroHTTPD"),
    .systemLibrary(name: "CNCurses"),
    .systemLibrary(name: "CLinux"),

    // The pure core: what both sides know, and the server.
    .target(
      name: "NavigationCore", dependencies: ["CZlib"],
      swiftSettings: strict + optimized + inlined),
    .target(
      name: "NavigationHub", dependencies: ["NavigationCore"], swiftSettings: strict + optimized),

    // The shells.
    .target(
      name: "ZeroMQ", dependencies: ["RuntimePaths", "CZeroMQ", "CLinux"], swiftSettings: strict),
    .target(
      name: "Journal",
      dependencies: ["NavigationCore", "NavigationHub", "RuntimePaths", "CJournal", "CLinux"],
      swiftSettings: strict + optimized),
    // A journal in PostgreSQL, for the daemon of a cluster alone: libpq adds twenty libraries.
    .target(
      name: "PostgresJournal",
      dependencies: [
        "Journal", "NavigationCore", "NavigationHub", "RuntimePaths", "CPostgreSQL",
      ],
      exclude: ["CPostgreSQL"], swiftSettings: strict),
    // What the programs share and no client needs: options, progress, what was installed with them.
    .target(
      name: "CommandLineOptions", dependencies: ["RuntimePaths", "CLinux"], swiftSettings: strict),
    .target(name: "RuntimePaths", dependencies: ["CLinux"], swiftSettings: strict),
    // The service manager: sockets, notifications, the journal's socket.
    .target(
      name: "Systemd", dependencies: ["RuntimePaths", "CSystemd", "CLinux"], swiftSettings: strict),
    // The router, and all that keeps its peers from harming the process: docs/security.md.
    .target(
      name: "TransportGuard",
      dependencies: ["NavigationCore", "NavigationHub", "ZeroMQ", "RuntimePaths", "CLinux"],
      swiftSettings: strict),
    .target(
      name: "NavigationDaemon",
      dependencies: [
        "NavigationCore", "NavigationHub", "ZeroMQ", "Journal", "RuntimePaths", "TransportGuard",
        "Systemd", "CommandLineOptions", "CLinux",
      ],
      swiftSettings: strict),
    .target(
      name: "NavigationClient",
      dependencies: ["NavigationCore", "ZeroMQ", "RuntimePaths", "CLinux"],
      swiftSettings: strict),
    // The client for C: the header, and its functions.
    .target(name: "CNavd"),
    .target(
      name: "NavdC",
      dependencies: [
        "CNavd", "NavigationClient", "NavigationCore", "RuntimePaths",
        "ZeroMQ", "CLinux",
      ],
      exclude: ["navd.map", "navd.pc.in"], swiftSettings: strict, linkerSettings: libraryLinking),
    .executableTarget(
      name: "navd", dependencies: ["NavigationDaemon"], swiftSettings: strict,
      linkerSettings: daemonLinking),
    .executableTarget(
      name: "navd-cluster",
      dependencies: [
        "NavigationDaemon", "Journal", "NavigationCore", "NavigationHub", "PostgresJournal",
      ],
      swiftSettings: strict, linkerSettings: daemonLinking),
    // HTTP, and the two programs over it: pages in browsers, metrics.
    .target(
      name: "Web",
      dependencies: [
        "NavigationClient", "NavigationCore", "NavigationHub", "RuntimePaths", "ZeroMQ",
        "CMicroHTTPD", "CLinux",
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "navd-web",
      dependencies: [
        "Web", "Systemd", "CommandLineOptions", "RuntimePaths", "CLinux",
      ],
      swiftSettings: strict, linkerSettings: boundAtStart),
    .executableTarget(
      name: "navd-exporter",
      dependencies: ["Web", "CommandLineOptions", "RuntimePaths", "CLinux"],
      swiftSettings: strict, linkerSettings: boundAtStart),
    .executableTarget(
      name: "navctl",
      dependencies: [
        "NavigationClient", "NavigationCore", "NavigationHub",
        "CommandLineOptions", "RuntimePaths", "ZeroMQ", "CNCurses", "CLinux",
      ],
      resources: [
        .embedInCode("Schema/navctl.schema.json"), .embedInCode("Completion/navctl.bash"),
        .embedInCode("Completion/navctl.zsh"), .embedInCode("Completion/navctl.fish"),
      ],
      // Not bound at the start: 400 functions of 23 libraries would take 0.5 ms of 7.
      swiftSettings: strict, linkerSettings: smaller),

    // Measurements, see Benchmarks/README.md.
    .executableTarget(
      name: "bench", dependencies: ["ChildProcess", "PostgresServer"], path: "Benchmarks/bench",
      swiftSettings: strict),
    .executableTarget(
      name: "bench-load", path: "Benchmarks/bench-load",
      linkerSettings: [.linkedLibrary("zmq")]),
    .executableTarget(
      name: "echo-peer", path: "Benchmarks/echo-peer",
      linkerSettings: [.linkedLibrary("zmq"), .linkedLibrary("sqlite3")]),

    // Three programs for `make demo`, written against the public API alone.
    .executableTarget(
      name: "navd-demo", dependencies: ["NavigationClient"], path: "demo/navd-demo",
      swiftSettings: strict),

    // One client among many, for ProcessTests: not installed.
    .executableTarget(
      name: "ConsistencyWorker",
      dependencies: ["NavigationClient", "NavigationCore", "CLinux"],
      path: "Tests/ConsistencyWorker", swiftSettings: strict),

    // Starts other programs, for the tests and for bench: not installed.
    .target(
      name: "ChildProcess", dependencies: ["CLinux"], path: "Tests/ChildProcess",
      swiftSettings: strict),

    // A PostgreSQL server for the tests of the journal in it.
    .target(
      name: "PostgresServer", dependencies: ["ChildProcess"], path: "Tests/PostgresServer",
      exclude: ["run"], swiftSettings: strict),

    // Tests.
    .target(
      name: "Simulation",
      dependencies: [
        "Journal", "NavigationCore", "NavigationDaemon", "NavigationHub", "NavigationClient",
      ],
      path: "Tests/Simulation",
      swiftSettings: strict + optimized),
    // The real journal on a disk in memory. Calls of the disk fail, and it loses unsynced writes.
    // The C functions replace those of libc in each program that links them.
    .target(
      name: "CSimulatedDisk", path: "Tests/SimulatedDisk/Calls", publicHeadersPath: "include"),
    .target(
      name: "SimulatedDisk",
      dependencies: [
        "CSimulatedDisk", "Simulation", "Journal", "NavigationDaemon", "NavigationCore",
        "NavigationHub",
      ],
      path: "Tests/SimulatedDisk", exclude: ["Calls"], swiftSettings: strict + optimized),
    // The rows of Tests/Conformance, run against a hub in process or a daemon.
    .target(
      name: "Conformance", dependencies: ["NavigationCore", "NavigationHub"],
      path: "Tests/Conformance/Runner",
      swiftSettings: strict + optimized),
    // Shared by both: the table itself, and the rows that are code.
    .target(
      name: "ConformanceSupport",
      dependencies: ["Conformance", "NavigationCore", "NavigationHub", "NavigationClient"],
      path: "Tests/ConformanceSupport", swiftSettings: strict + optimized),
    .testTarget(
      name: "TortureTests", dependencies: ["Simulation", "SimulatedDisk", "Journal"],
      swiftSettings: strict + optimized),
    .testTarget(
      name: "ConformanceTests",
      dependencies: [
        "Conformance", "ConformanceSupport", "Simulation", "NavigationCore", "NavigationHub",
        "NavigationClient",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "NavigationTests", dependencies: ["NavigationCore", "NavigationHub"],
      swiftSettings: strict),
    .testTarget(
      name: "NavigationProtocolTests",
      dependencies: ["NavigationCore", "NavigationHub", "NavigationClient"],
      swiftSettings: strict),
    .testTarget(
      name: "NavigationReplicaTests",
      dependencies: ["NavigationClient", "NavigationCore", "NavigationHub"],
      swiftSettings: strict + optimized),
    // A hub in a world without I/O, and the mirrors of its clients.
    .testTarget(
      name: "NavigationHubTests",
      dependencies: ["NavigationClient", "NavigationCore", "NavigationHub"],
      swiftSettings: strict),
    .testTarget(name: "ZeroMQTests", dependencies: ["ZeroMQ"], swiftSettings: strict),
    .testTarget(
      name: "JournalTests",
      dependencies: [
        "ChildProcess", "Journal", "PostgresJournal", "PostgresServer", "NavigationCore",
        "NavigationHub", "RuntimePaths", "CLinux",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "DaemonTests",
      dependencies: [
        "ChildProcess", "NavigationDaemon", "NavigationCore", "NavigationHub", "Journal",
        "RuntimePaths", "TransportGuard", "Systemd", "ZeroMQ", "CommandLineOptions", "CLinux",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "TransportGuardTests",
      dependencies: [
        "TransportGuard", "NavigationCore", "NavigationHub", "ZeroMQ", "RuntimePaths",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "ClientTests",
      dependencies: [
        "navd", "ChildProcess", "NavigationClient", "NavigationCore", "NavigationHub", "ZeroMQ",
        "RuntimePaths", "CLinux",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "NavctlTests",
      dependencies: [
        "navctl", "NavigationClient", "CommandLineOptions", "RuntimePaths", "NavigationCore",
        "NavigationHub",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "WebTests",
      dependencies: ["Web", "NavigationCore", "NavigationHub", "RuntimePaths"],
      swiftSettings: strict),
    .testTarget(
      name: "SimulationTests",
      dependencies: ["Simulation", "NavigationCore", "NavigationHub"],
      swiftSettings: strict),
    .testTarget(
      name: "ProcessTests",
      dependencies: [
        "navd", "navd-cluster", "navctl", "navd-exporter", "navd-web", "navd-demo",
        "ConsistencyWorker", "ChildProcess", "PostgresServer", "SimulatedDisk",
        "NavigationClient", "NavigationCore", "NavigationHub", "NavigationDaemon", "Journal",
        "ZeroMQ", "Conformance", "ConformanceSupport", "RuntimePaths",
      ],
      exclude: ["Fixtures", "run"], swiftSettings: strict),
    // The packages in a booted Debian; `make booted` prepares one.
    .testTarget(
      name: "BootedTests", dependencies: ["ChildProcess"],
      exclude: ["Scenarios", "boot", "prepare"], swiftSettings: strict),
    .testTarget(
      name: "TidyTests", dependencies: ["ChildProcess"], swiftSettings: strict + optimized),
  ]
)

if Context.environment["NAVD_CHECK"] != nil {
  package.products = []
  package.targets.removeAll { !checked.contains($0.name) }
}

// What `make torture` builds besides.
if Context.environment["NAVD_TORTURE"] != nil {
  package.targets.append(
    .executableTarget(
      name: "torture",
      dependencies: ["Simulation", "SimulatedDisk", "Conformance", "ConformanceSupport"],
      path: "Tests/Torture/Program",
      swiftSettings: strict))
}

// The programs of Tests/Fuzz/run; one of them links navctl too, without its main.swift.
if Context.environment["NAVD_FUZZ"] != nil {
  package.products = []
  for (index, target) in package.targets.enumerated() where target.name == "navctl" {
    package.targets[index] = .target(
      name: target.name, dependencies: target.dependencies, exclude: ["main.swift"],
      resources: target.resources, swiftSettings: target.swiftSettings)
  }
  // libFuzzer looks at all counters after each input: the linker drops what a program never reaches.
  let reached: [LinkerSetting] =
    smaller + [.unsafeFlags(["-Xlinker", "--gc-sections"])]
  package.targets += [
    .target(
      name: "FuzzSupport", dependencies: ["NavigationCore", "RuntimePaths"],
      path: "Tests/Fuzz/Support", swiftSettings: strict),
    .executableTarget(
      name: "fuzz-decoder",
      dependencies: ["FuzzSupport", "NavigationClient", "NavigationCore", "NavigationHub"],
      path: "Tests/Fuzz/Decoder", swiftSettings: strict, linkerSettings: reached),
    .executableTarget(
      name: "fuzz",
      dependencies: [
        "CommandLineOptions", "FuzzSupport", "Journal", "NavigationClient", "NavigationCore",
        "NavigationDaemon", "NavigationHub", "RuntimePaths", "Simulation", "TransportGuard", "Web",
        "ZeroMQ", "navctl",
      ],
      path: "Tests/Fuzz/Program", swiftSettings: strict, linkerSettings: reached),
  ]
}
