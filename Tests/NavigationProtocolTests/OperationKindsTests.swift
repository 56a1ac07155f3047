@testable import NavigationCore
@testable import NavigationHub
import Testing

@Suite struct OperationKindsTests {
  @Test func `kinds are ordinary if none of them is rare`() {
    let rare: Set<String> = [
      "nav.create", "nav.close", "revert", "open", "button.activate", "gesture.begin",
      "gesture.update", "gesture.finish", "gesture.cancel", "proxy.set", "ui.back",
      "ui.backTap",
    ]
    #expect(rare.isSubset(of: OperationKind.allCases.map(\.name)))
    for kind in OperationKind.allCases {
      #expect(kind.isOrdinary == !(rare.contains(kind.name) || kind.isForBarItems))
      for other in OperationKind.allCases {
        var kinds = OperationKinds()
        #expect(kinds.areOrdinary)
        kinds.append(kind)
        kinds.append(other)
        #expect(kinds.areOrdinary == (kind.isOrdinary && other.isOrdinary))
      }
    }
  }
}
