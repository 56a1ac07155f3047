/// One call of a program that changed files or synced them, or a note of the test among the calls.
///
/// `Tests/ProcessTests/Fixtures/recorder.c` writes them, and `SimulatedDisk` makes them.
package struct RecordedCall: Sendable {
  package enum Kind: String, Sendable {
    case write = "w"
    case truncate = "t"
    case sync = "s"
    case create = "c"
    case unlink = "u"
    case rename = "r"
    case link = "l"
    case note = "n"
  }

  package var kind: Kind
  package var path: String
  package var second: String
  package var offset: Int
  package var bytes: ArraySlice<UInt8>

  /// Makes a call; only a rename or a link has a second path.
  package init(
    kind: Kind, path: String, second: String = "", offset: Int = 0, bytes: ArraySlice<UInt8> = []
  ) {
    (self.kind, self.path, self.second) = (kind, path, second)
    (self.offset, self.bytes) = (offset, bytes)
  }

  /// The same call below another directory.
  package func moved(from directory: String, to other: String) -> RecordedCall {
    var call = self
    call.path = path.replacing(directory, with: other)
    call.second = second.replacing(directory, with: other)
    return call
  }

  /// Reads a log of calls.
  package static func read(_ log: [UInt8]) throws -> [RecordedCall] {
    var calls: [RecordedCall] = []
    var rest = log[...]
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      let words = String(decoding: rest[..<end], as: UTF8.self)
        .split(separator: "\t", omittingEmptySubsequences: false)
      guard words.count == 5, let kind = Kind(rawValue: String(words[0])),
        let offset = Int(words[1]), let count = Int(words[2]), end + count < log.count
      else { throw UnknownCall(description: "call \(calls.count) cannot be read: \(words)") }
      calls.append(
        RecordedCall(
          kind: kind, path: String(words[3]), second: String(words[4]), offset: offset,
          bytes: log[end + 1..<end + 1 + count]))
      rest = log[(end + 1 + count)...]
    }
    return calls
  }
}

/// Why a call cannot be read or applied.
package struct UnknownCall: Error, CustomStringConvertible {
  package var description: String
}

/// A disk between the calls of programs: what is on it for certain, and what a power failure may take.
///
/// A sync of a file makes its contents durable, and a sync of a directory the names in it. Changes of
/// names keep their order, as in the journal of a file system; the contents have no order but for that
/// of a truncation.
package struct RecordedDisk: Sendable {
  /// What a power failure takes of all that is not synced.
  package enum Loss: CaseIterable, Sendable {
    case everything
    case nothing
    case some
    case one
    case allButOne
    case first
  }

  private enum Change: Sendable {
    case write(offset: Int, ArraySlice<UInt8>)
    case truncate(Int)
  }

  private struct File: Sendable {
    var durable: [UInt8] = []
    var pending: [Change] = []
  }

  private var files: [File] = []
  private var names: [String: Int] = [:]
  private var durableNames: [String: Int] = [:]
  /// Each step gives names to files, or takes them away.
  private var pendingNames: [[(name: String, file: Int?)]] = []

  /// Makes a disk with files of which everything is durable.
  package init(_ contents: [String: [UInt8]] = [:]) {
    for (name, bytes) in contents.sorted(by: { $0.key < $1.key }) {
      (names[name], durableNames[name]) = (files.count, files.count)
      files.append(File(durable: bytes))
    }
  }

  package mutating func apply(_ call: RecordedCall) throws {
    let file = names[call.path]
    switch call.kind {
    case .note: break
    case .create:
      files.append(File())
      rename([(call.path, files.count - 1)])
    case .write:
      let file = try found(file, call)
      files[file].pending.append(.write(offset: call.offset, call.bytes))
    case .truncate: files[try found(file, call)].pending.append(.truncate(call.offset))
    case .rename: rename([(call.second, try found(file, call)), (call.path, nil)])
    case .link: rename([(call.second, try found(file, call))])
    case .unlink: if file != nil { rename([(call.path, nil)]) }
    case .sync:
      guard let file else { return syncDirectory(call.path) }
      for change in files[file].pending { Self.apply(change, to: &files[file].durable) }
      files[file].pending = []
    }
  }

  private func found(_ file: Int?, _ call: RecordedCall) throws -> Int {
    guard let file else {
      throw UnknownCall(description: "\(call.kind) of \(call.path), which is not there")
    }
    return file
  }

  private mutating func rename(_ step: [(name: String, file: Int?)]) {
    for (name, file) in step { names[name] = file }
    pendingNames.append(step)
  }

  private mutating func syncDirectory(_ path: String) {
    let last = pendingNames.lastIndex { step in
      step.contains {
        $0.name.hasPrefix(path + "/") && !$0.name.dropFirst(path.count + 1).contains("/")
      }
    }
    guard let last else { return }
    for (name, file) in pendingNames[...last].joined() { durableNames[name] = file }
    pendingNames.removeSubrange(...last)
  }

  private static func apply(_ change: Change, to bytes: inout [UInt8]) {
    switch change {
    case .truncate(let length): bytes.removeSubrange(min(length, bytes.count)...)
    case .write(let offset, let data):
      let end = offset + data.count
      if bytes.count < end { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
      bytes.replaceSubrange(offset..<end, with: data)
    }
  }

  // Images.

  /// The files that a power failure leaves, by their paths; `unit` is what the disk writes as a whole.
  package func image(
    _ loss: Loss, unit: Int, _ random: inout some RandomNumberGenerator
  ) -> [String: [UInt8]] {
    var left = durableNames
    let count =
      switch loss {
      case .everything: 0
      case .nothing: pendingNames.count
      case .some, .one, .allButOne, .first: Int.random(in: 0...pendingNames.count, using: &random)
      }
    for (name, file) in pendingNames.prefix(count).joined() { left[name] = file }
    var contents: [Int: [UInt8]] = [:]
    for file in Set(left.values).sorted() {
      contents[file] = content(of: files[file], loss, unit, &random)
    }
    return left.mapValues { contents[$0] ?? [] }
  }

  private func content(
    of file: File, _ loss: Loss, _ unit: Int, _ random: inout some RandomNumberGenerator
  ) -> [UInt8] {
    var bytes = file.durable
    guard !file.pending.isEmpty, loss != .everything else { return bytes }
    let isCut = file.pending.contains { if case .truncate = $0 { true } else { false } }
    guard !isCut, loss != .nothing else {
      let count =
        loss == .nothing
        ? file.pending.count : Int.random(in: 0...file.pending.count, using: &random)
      for change in file.pending.prefix(count) { Self.apply(change, to: &bytes) }
      return bytes
    }
    let pieces = pieces(of: file, unit)
    let units = Set(pieces.map(\.unit)).sorted()
    let chosen = units.randomElement(using: &random)
    let kept: [Int] =
      switch loss {
      case .everything: []
      case .nothing: units
      case .some: units.filter { _ in Bool.random(using: &random) }
      case .one: units.filter { $0 != chosen }
      case .allButOne: units.filter { $0 == chosen }
      case .first: Array(units.dropFirst())
      }
    let isKept = Set(kept)
    for piece in pieces where isKept.contains(piece.unit) { Self.apply(piece.change, to: &bytes) }
    return bytes
  }

  /// The writes of a file, cut where a unit ends.
  private func pieces(of file: File, _ unit: Int) -> [(unit: Int, change: Change)] {
    var pieces: [(unit: Int, change: Change)] = []
    for case .write(let offset, let data) in file.pending {
      var rest = data
      while !rest.isEmpty {
        let place = offset + data.count - rest.count
        let piece = rest.prefix((place / unit + 1) * unit - place)
        pieces.append((place / unit, .write(offset: place, piece)))
        rest = rest.dropFirst(piece.count)
      }
    }
    return pieces
  }
}
