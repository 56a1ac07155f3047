import FuzzSupport
@testable import Journal
import NavigationCore
@testable import NavigationHub
import RuntimePaths
@testable import Simulation

/// Inputs for the target `rows`, made of what inputs of `operation` lead to.
///
/// After a change of a stored format the corpus of `rows` reaches little, and is made again:
/// `NAVD_FUZZ_SEEDS=FOLDER .build/fuzz/release/fuzz Tests/Fuzz/corpus/operation/*`.
enum Seeds {
  static func write(to folder: String, from files: [String]) {
    let target = OperationTarget()
    for (number, file) in files.enumerated() {
      do throws(SystemError) {
        let input = try readSmallFile(file)
        for (place, seed) in seeds(of: target.play(input)).enumerated() {
          try createFile("\(folder)/\(number)-\(place)", seed, mode: 0o644)
        }
      } catch {
        fail("\(file): \(error)")
      }
    }
  }

  private static func seeds(of stage: Stage) -> [[UInt8]] {
    var seeds: [[UInt8]] = []
    let rows = stage.journal.rows
    seeds.append(group(of: rows))
    for row in rows where row.kind == .changed {
      let top = row.top.map { Array($0.text.utf8) } ?? []
      if top.count > 15 { continue }
      seeds.append([UInt8(ascii: "c"), UInt8(row.depth & 15), UInt8(top.count)] + top + row.body)
    }
    for nav in ["a", "b"] {
      if let state = stage.states[nav] { seeds.append([UInt8(ascii: "s")] + state) }
      if let recording = recording(of: nav, stage) { seeds.append([UInt8(ascii: "r")] + recording) }
    }
    return seeds
  }

  private static func group(of rows: [JournalRow]) -> [UInt8] {
    var group = RowGroup()
    group.begin(1)
    for row in rows {
      if group.isFull(for: row.body.count) { break }
      _ = group.append(row.header, row.body.span)
    }
    let heads = group.heads.octets
    return [UInt8(ascii: "g"), UInt8(heads.count & 255), UInt8(heads.count >> 8)] + heads
      + group.bodies.octets
  }

  /// The recording of a nav from its creation on; nil if it has none.
  private static func recording(of nav: String, _ stage: Stage) -> [UInt8]? {
    guard let slot = stage.hub.navs.slot(of: nav) else { return nil }
    let number = stage.hub.navs[slot].number
    var reader = JournalBodyReader()
    var tape = JSONTape()
    guard
      let page = try? reader.page(
        of: stage.journal.rows.filter { $0.nav == number }, bytes: 1 << 20),
      (try? tape.read(page.list, maximumDepth: 48)) != nil
    else { return nil }
    var writer = RecordingWriter(
      RecordingHeader(
        nav: nav, serverVersion: "0", recordedMilliseconds: 1, from: Revision(1), to: Revision(9)))
    var file = writer.header.line + [0x0A]
    tape.forEachElement(of: tape.root) { element in
      if let line = try? writer.entryLine(tape.raw(element)) { file += line + [0x0A] }
    }
    return file + writer.endLine + [0x0A]
  }
}
