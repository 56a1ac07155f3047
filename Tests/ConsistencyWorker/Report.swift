import NavigationCore
import NavigationClient

/// What a worker did and saw.
struct Report {
  /// One operation and its answer.
  struct Answer {
    var id: UInt64
    var nav: String
    /// `ok`, or the code of the error.
    var code: String
    var revision: UInt64
    var changed: Bool
  }

  var answers: [Answer] = []
  /// What must not happen, in words.
  var violations: [String] = []
  /// How often a mirror was replaced after the first time, by reason.
  var snapshots: [String: Int] = [:]
  var resumes = 0
  var diffs = 0
  var losses = 0
  /// Operations that were unanswered when the connection was lost.
  var inFlightAtLoss = 0
  /// The mirrors as they were now and then, and at the end.
  var samples: [(nav: String, mirror: Mirror)] = []

  /// The report as one JSON object.
  func json() -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("answers")
    writer.beginArray()
    for answer in answers {
      writer.beginObject()
      writer.name("id")
      writer.integer(answer.id)
      writer.name("nav")
      writer.string(answer.nav)
      writer.name("code")
      writer.string(answer.code)
      writer.name("rev")
      writer.integer(answer.revision)
      writer.name("changed")
      writer.bool(answer.changed)
      writer.endObject()
    }
    writer.endArray()
    writer.name("violations")
    writer.beginArray()
    for violation in violations { writer.string(violation) }
    writer.endArray()
    writer.name("snapshots")
    writer.beginObject()
    for (why, count) in snapshots.sorted(by: { $0.key < $1.key }) {
      writer.dynamicName(why)
      writer.integer(UInt64(count))
    }
    writer.endObject()
    for (name, count) in [
      ("resumes", resumes), ("diffs", diffs), ("losses", losses),
      ("inFlightAtLoss", inFlightAtLoss),
    ] {
      writer.dynamicName(name)
      writer.integer(UInt64(count))
    }
    writer.name("samples")
    writer.beginArray()
    for sample in samples { write(sample.nav, sample.mirror, &writer) }
    writer.endArray()
    writer.endObject()
    return writer.bytes
  }

  /// A mirror with the members of a complete snapshot.
  private func write(_ nav: String, _ mirror: Mirror, _ writer: inout JSONWriter) {
    writer.beginObject()
    writer.name("nav")
    writer.string(nav)
    writer.name("kind")
    writer.string(mirror.kind)
    writer.name("epoch")
    writer.string(mirror.epoch.text)
    writer.name("rev")
    writer.integer(mirror.revision.number)
    writer.name("screens")
    writer.beginArray()
    for screen in mirror.screens { writer.raw(screen.json.bytes) }
    writer.endArray()
    for part in mirror.parts {
      writer.dynamicName(part.id)
      writer.raw(part.json.bytes)
    }
    if let resolved = mirror.resolved {
      writer.name("resolved")
      writer.raw(resolved.bytes)
    }
    writer.name("dig")
    writer.string(mirror.digest.text)
    writer.endObject()
  }
}
