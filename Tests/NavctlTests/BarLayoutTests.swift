import NavigationCore
import Testing

@testable import navctl

/// The bar and the toolbar on random buttons and titles, against a layout on a row of cells.
@Suite struct BarLayoutTests {
  private struct Sample {
    var left: [String]
    var title: String
    var right: [String]

    init(_ texts: inout SampleTexts) {
      left = (0..<texts.below(3)).map { _ in texts.text(atMost: 7) }
      title = texts.text(atMost: 12)
      right = (0..<texts.below(3)).map { _ in texts.text(atMost: 7) }
    }

    var json: String {
      let buttons = { (titles: [String]) in
        titles.map { #"{"button":"b","title":\#(quoted($0))}"# }.joined(separator: ",")
      }
      return
        #"{"left":[\#(buttons(left))],"middle":{"title":\#(quoted(title))},"right":[\#(buttons(right))]}"#
    }

    /// The bar as its documentation says, cell by cell.
    func twin(_ columns: Int) -> String {
      let half = columns / 2 - 2
      let lefts = SampleTexts.cut(left.map { "[\($0)]" }.joined(separator: "  "), to: half)
      let rights = SampleTexts.cut(
        right.reversed().map { "[\($0)]" }.joined(separator: "  "), to: half)
      // Two columns stay free between the buttons and the title.
      let first = lefts.isEmpty ? 0 : SampleTexts.columns(lefts) + 2
      let end = columns - (rights.isEmpty ? 0 : SampleTexts.columns(rights) + 2)
      let middle = SampleTexts.cut(title, to: end - first)
      let width = SampleTexts.columns(middle)
      var start = (columns - width) / 2
      while start < first { start += 1 }
      while start + width > end { start -= 1 }
      var row = lefts
      row += String(repeating: " ", count: start - SampleTexts.columns(row)) + middle
      let place = columns - SampleTexts.columns(rights)
      row += String(repeating: " ", count: place - SampleTexts.columns(row)) + rights
      while row.last == " " { row.removeLast() }
      return row
    }
  }

  @Test(arguments: [20, 27, 40, 80])
  func `a bar stands as its cells do, whatever the texts are`(columns: Int) throws {
    var texts = SampleTexts(seed: UInt64(columns))
    for _ in 0..<80 {
      let sample = Sample(&texts)
      let line = BarDrawing(columns: columns).line(try value(sample.json))
      #expect(line.plain == sample.twin(columns), "\(sample.json)")
      #expect(line.width == columns)
    }
  }

  @Test(arguments: [-5, 0, 19]) func `widths below 20 columns count as 20`(columns: Int) throws {
    #expect(BarDrawing(columns: columns).columns == 20)
    #expect(StateDrawing(columns: columns).columns == 20)
  }

  /// What the toolbar's documentation says of flexible spaces, by adding one column at a time.
  private func twin(_ items: [String?], _ columns: Int) -> String {
    var cells = items.map { $0 ?? "" }
    let isFlexible = items.map { $0 == nil }
    for index in cells.indices.dropFirst() where !isFlexible[index] && !isFlexible[index - 1] {
      cells[index] = "  " + cells[index]
    }
    let places = isFlexible.indices.filter { isFlexible[$0] }
    var free = columns - SampleTexts.columns(cells.joined())
    while free > 0, !places.isEmpty {
      for place in places where free > 0 {
        cells[place] += " "
        free -= 1
      }
    }
    var row = SampleTexts.cut(cells.joined(), to: columns)
    while row.last == " " { row.removeLast() }
    return row
  }

  @Test(arguments: [20, 33, 80])
  func `flexible spaces share what the buttons leave, the first ones the rest`(columns: Int) throws
  {
    var texts = SampleTexts(seed: UInt64(columns) + 7)
    for _ in 0..<80 {
      var items: [String?] = []
      var json: [String] = []
      for _ in 0..<texts.below(6) {
        if texts.below(3) == 0 {
          items.append(nil)
          json.append(#"{"button":"f","systemItem":"flexibleSpace"}"#)
        } else {
          let title = texts.text(atMost: 6)
          items.append("[\(title)]")
          json.append(#"{"button":"b","title":\#(quoted(title))}"#)
        }
      }
      let list = try value("[\(json.joined(separator: ","))]").elements
      let line = BarDrawing(columns: columns).toolbar(list)
      #expect(line.plain == twin(items, columns), "\(json)")
      #expect(line.width <= columns)
    }
  }

  @Test(arguments: [
    (#"{"customView":{"view":"clock","height":3},"title":"T"}"#, "[(clock)]"),
    (#"{"customView":{"kind":"map"}}"#, #"[({"kind":"map"})]"#),
    (#"{"customView":7}"#, "[(7)]"), (#"{"image":"a.png","title":"T"}"#, "[T]"),
    (#"{"image":{"ref":"b.png","empty":true}}"#, "[<b.png>]"),
    (#"{"title":"T","systemItem":"add","button":"x"}"#, "[T]"), (#"{"title":""}"#, "[]"),
    (#"{"systemItem":"add","button":"x"}"#, "[add]"), (#"{"id":"y"}"#, "[y]"), ("{}", "[]"),
    (#"{"title":"a\u001bb"}"#, "[a\u{FFFD}b]"), (#"{"title":null,"button":"x"}"#, "[x]"),
    (#"{"image":"gear","accessibilityLabel":"Settings"}"#, #"[<gear> "Settings"]"#),
    (#"{"title":"T","accessibilityLabel":"T","isSelected":true,"isEnabled":true}"#, "[T ✓]"),
    (#"{"title":"In","badge":3,"menu":[{"id":"a","title":"A"}]}"#, "[In •3 ▾]"),
    (#"{"title":"In","badge":"a\u001bb"}"#, "[In •a\u{FFFD}b]"),
    (#"{"title":"In","badge":true}"#, "[In •]"),
    (#"{"title":"","accessibilityLabel":"a\u001bb","isEnabled":false}"#, "[\"a\u{FFFD}b\" ⊘]"),
  ])
  func `a button shows its view, else its title, image or name`(json: String, text: String) throws {
    #expect(BarDrawing().buttonText(try value(json)) == text)
  }

  @Test func `spaces take no room in a bar, and two columns in a toolbar`() throws {
    let space = #"{"button":"s","systemItem":"fixedSpace"}"#
    let items = #"[{"title":"A"},\#(space),{"title":"B"}]"#
    let drawing = BarDrawing(columns: 20)
    #expect(drawing.line(try value(#"{"left":\#(items)}"#)).plain == "[A]  [B]")
    #expect(drawing.toolbar(try value(items).elements).plain == "[A]      [B]")
    // A custom view that has the name of a space is a button all the same.
    let view = try value(#"[{"systemItem":"flexibleSpace","customView":"v"}]"#)
    #expect(drawing.toolbar(view.elements).plain == "[(v)]")
    #expect(drawing.toolbar([]).plain == "")
  }

  @Test(
    arguments: [
      (#"{"title":"T","placement":"inline"}"#, nil), (#"{"title":"T","placement":"large"}"#, "T"),
      (#"{"title":"T","placement":"large","large":{"title":"Q","subtitle":"S"}}"#, "Q · S"),
      (#"{"title":"T","subtitle":"S","menu":[]}"#, nil),
      (#"{"customView":"v","placement":"large"}"#, "(v)"), (#"{"titleView":{"view":"w"}}"#, nil),
    ] as [(String, String?)])
  func `only a large title has a line of its own, and then not in the bar`(
    middle: String, large: String?
  ) throws {
    let resolved = try value(#"{"middle":\#(middle)}"#)
    let drawing = BarDrawing(columns: 20)
    #expect(drawing.largeTitle(resolved)?.plain == large)
    #expect((drawing.line(resolved).plain == "") == (large != nil))
  }
}
