/// What a program does while it shows progress, such as a backup: its names, and the unit counted.
package struct ProgressSubject: Hashable, Sendable {
  /// One unit of the work.
  package enum Unit: Hashable, Sendable {
    /// A unit is this many bytes: 4096 for a page.
    case bytes(perUnit: UInt64)
    /// A unit is a thing with this plural, such as `rows`.
    case items(String)
  }

  /// The name in JSON, such as `backup`.
  package let name: String
  /// The words on a terminal, such as `backing up`.
  package let phrase: String
  package let unit: Unit

  /// A backup; navd counts each page of 4096 bytes when it writes it, and when it reads it back.
  package static let backup = Self(
    name: "backup", phrase: "backing up", unit: .bytes(perUnit: 4096))
  /// A restoration; navd counts each byte when it writes it, and when it reads it back.
  package static let restore = Self(name: "restore", phrase: "restoring", unit: .bytes(perUnit: 1))
  package static let journalReplay = Self(
    name: "start", phrase: "replaying the journal", unit: .items("rows"))
  package static let verify = Self(name: "verify", phrase: "checking", unit: .items("navs"))
  package static let record = Self(name: "record", phrase: "recording", unit: .items("revisions"))
  /// The verification of a recording; navctl counts the bytes that it reads.
  package static let recordingProof = Self(
    name: "proof", phrase: "proving", unit: .bytes(perUnit: 1))
  package static let prune = Self(
    name: "prune", phrase: "pruning the history", unit: .items("rows"))
}

extension ProgressEstimate {
  /// The figures in words, such as `backing up: 37 %, 95.2 MB/s, 12 s left`.
  package func text(_ subject: ProgressSubject) -> String {
    ([subject.phrase + ": \(percent) %"] + rateAndRemaining(subject)).joined(separator: ", ")
  }

  /// The figures with a bar, such as `backing up [####      ]  37 %  95.2 MB/s  12 s left`.
  ///
  /// The text is ASCII, and shorter than `columns`. If that is little, it lacks the bar or figures.
  package func line(_ subject: ProgressSubject, columns: Int) -> String {
    let share = String(repeating: " ", count: percent < 10 ? 2 : percent < 100 ? 1 : 0)
    var parts = ["\(share)\(percent) %"] + rateAndRemaining(subject)
    func width() -> Int { subject.phrase.utf8.count + parts.reduce(0) { $0 + $1.utf8.count + 2 } }
    while parts.count > 1, width() >= columns { parts.removeLast() }
    // The places of the figures are kept free, so that the bar keeps its width.
    let bar = min(30, columns - subject.phrase.utf8.count - 4 - Self.figureColumns)
    var line = subject.phrase
    if bar >= 8 {
      let full = Int(fraction * Double(bar))
      line += " [" + String(repeating: "#", count: full)
      line += String(repeating: " ", count: bar - full) + "]"
    }
    line = ([line] + parts).joined(separator: "  ")
    return String(line.prefix(max(0, columns - 1)))
  }

  /// The width of the widest figures: `  100 %  999,999,999 rows/s  23 h 59 min left`, about.
  private static let figureColumns = 45

  /// The figures as JSON members, without braces; `rate` and `remaining` only if they are known.
  package func jsonMembers(_ subject: ProgressSubject) -> String {
    let unit =
      switch subject.unit {
      case .bytes(perUnit: 1): "bytes"
      case .bytes: "pages"
      case .items(let name): name
      }
    var text = #""work":"\#(subject.name)","done":\#(done),"total":\#(total),"unit":"\#(unit)""#
    text += #","percent":\#(percent)"#
    if let unitsPerSecond { text += #","rate":\#(UInt64(unitsPerSecond.rounded()))"# }
    if let remainingMilliseconds { text += #","remaining":\#(remainingMilliseconds)"# }
    return text
  }

  private func rateAndRemaining(_ subject: ProgressSubject) -> [String] {
    guard let unitsPerSecond, !isComplete else { return [] }
    var figures: [String]
    switch subject.unit {
    case .bytes(let size): figures = [NumberText.bytes(unitsPerSecond * Double(size)) + "/s"]
    case .items(let name):
      figures = ["\(NumberText.grouped(UInt64(unitsPerSecond.rounded()))) \(name)/s"]
    }
    if let remainingMilliseconds { figures.append(Self.time(remainingMilliseconds) + " left") }
    return figures
  }

  /// A time in its two largest units, such as `3 h 12 min`, rounded up to seconds.
  private static func time(_ milliseconds: UInt64) -> String {
    let seconds = (milliseconds + 999) / 1000
    switch seconds {
    case ..<60: return "\(seconds) s"
    case ..<3600: return "\(seconds / 60) min \(seconds % 60) s"
    case ..<86_400: return "\(seconds / 3600) h \(seconds / 60 % 60) min"
    default: return "\(seconds / 86_400) d \(seconds / 3600 % 24) h"
    }
  }
}

/// Decides when progress is shown, and as what; the caller writes the text.
///
/// The first report is shown at once. On a terminal, at most ten reports a second follow; as JSON, at
/// most one a second, and the last.
package struct ProgressDisplay: Sendable {
  /// How progress is shown.
  package enum Form: String, CaseIterable, Sendable {
    /// One line of a terminal, which each report replaces.
    case line
    case json
    case none

    /// The form for a value of `--progress`; nil for an unknown value.
    ///
    /// Without a value, or with `auto`, it is `line` if stderr is a terminal, else `none`.
    package init?(word: String?, isTerminal: Bool) {
      switch word {
      case "auto", nil: self = isTerminal ? .line : .none
      case "json": self = .json
      case "none": self = .none
      default: return nil
      }
    }

    /// The values of the option `--progress`.
    package static let words = ["auto", "json", "none"]
  }

  package let form: Form
  package private(set) var estimate: ProgressEstimate
  private let subject: ProgressSubject
  private var shownAt: UInt64?
  private var lastShown: ProgressEstimate?

  /// Begins with nothing shown; times are in milliseconds.
  package init(_ subject: ProgressSubject, as form: Form, at now: UInt64) {
    (self.subject, self.form) = (subject, form)
    estimate = ProgressEstimate(at: now)
  }

  package var isShown: Bool { lastShown != nil }

  private var interval: UInt64 { form == .json ? 1000 : 100 }

  /// Records how much is done; returns the text to write, nil if none is due.
  package mutating func update(
    _ done: UInt64, of total: UInt64, at now: UInt64, columns: Int = 80
  ) -> String? {
    guard form != .none else { return nil }
    estimate.update(done, of: total, at: now)
    if let shownAt, now < shownAt + interval { return nil }
    return show(at: now, columns)
  }

  /// Ends the display, also of incomplete work; returns the text to write, nil for none.
  ///
  /// On a terminal, the text erases the line. In JSON, it is the last report unless that was shown.
  package mutating func end() -> String? {
    switch form {
    case .none: return nil
    case .line: return lastShown == nil ? nil : "\r\u{1B}[K"
    case .json:
      return estimate.total == 0 || lastShown?.done == estimate.done ? nil : show(at: 0, 0)
    }
  }

  private mutating func show(at now: UInt64, _ columns: Int) -> String {
    (shownAt, lastShown) = (now, estimate)
    guard form == .json else { return "\r\(estimate.line(subject, columns: columns))\u{1B}[K" }
    return #"{"type":"work",\#(estimate.jsonMembers(subject))}"# + "\n"
  }
}
