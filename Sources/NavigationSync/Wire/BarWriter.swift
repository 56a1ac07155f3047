import Navigation

// Bar, toolbar and environment as they stand on the wire and in the journal; defaults are left out.

extension JSONWriter {
  mutating func bar(_ bar: Bar) {
    if bar.className != "NavigationBar" { optional("class", bar.className) }
    flag("hidden", bar.isHidden)
  }

  mutating func toolbar(_ toolbar: Toolbar) {
    if toolbar.className != "Toolbar" { optional("class", toolbar.className) }
    if !toolbar.isHidden {
      name("hidden")
      bool(false)
    }
  }

  mutating func environment(_ environment: Environment) {}
}
