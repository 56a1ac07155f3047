import Testing

@testable import NavigationDaemon

@Suite struct UserNamespaceTests {
  @Test(
    arguments: [
      ("         0          0 4294967295\n", "65534\n", nil),
      ("0 0 1000\n1000 1000 1\n1001 1001 4294966294\n", "65534", nil),
      ("         0       1500          1\n", "65534\n", 65534), ("", "65534\n", 65534),
      ("0 100000 65536\n", "99\n", 99), ("0 100000 65536\n", nil, 65534), (nil, "65534", nil),
    ] as [(String?, String?, UInt32?)])
  func `a user namespace that does not map all users shows the others as one`(
    map: String?, overflow: String?, expected: UInt32?
  ) {
    #expect(AccessControl.unmappedUser(map: map, overflow: overflow) == expected)
  }
}
