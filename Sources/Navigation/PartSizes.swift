// The bytes of parts, roughly as encoded; members of bounded size are not counted.

extension Bar {
  var byteCount: Int { look.byteCount + appearance.byteCount }
}

extension Settings {
  var byteCount: Int {
    var count = (container?.bytes.count ?? 0) + (simultaneous?.bytes.count ?? 0)
    count += (routes?.bytes.count ?? 0) + (restorationID?.utf8.count ?? 0)
    return proxy.reduce(count) { $0 + $1.key.utf8.count + $1.value.byteCount }
  }
}

extension BarLook {
  var byteCount: Int {
    var count = titleTextAttributes.byteCount
    for offset in titleOffsets.values { count += 16 + offset.bytes.count }
    for image in backgroundImages.values { count += 64 + image.ref.utf8.count }
    for image in [shadowImage, backIndicatorImage, backIndicatorMask] {
      count += image?.ref.utf8.count ?? 0
    }
    return count
  }
}

extension TitleTextAttributes {
  var byteCount: Int {
    (font?.bytes.count ?? 0) + (shadowColor?.bytes.count ?? 0) + (shadowOffset?.bytes.count ?? 0)
  }
}

extension AppearanceSet {
  var byteCount: Int {
    AppearanceSlot.allCases.reduce(0) { $0 + (self[$1]?.bytes.count ?? 0) }
  }
}
