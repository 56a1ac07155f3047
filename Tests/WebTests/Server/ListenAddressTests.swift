import Testing

@testable import Web

@Suite struct ListenAddressTests {
  @Test(arguments: [
    ("127.0.0.1:9719", ListenAddress.network(address: "127.0.0.1", port: 9719)),
    ("127.1.2.3:0", .network(address: "127.1.2.3", port: 0)),
    ("[::1]:80", .network(address: "::1", port: 80)),
    ("unix:/run/x.sock", .local(path: "/run/x.sock")),
  ])
  func `an address of this machine is taken`(text: String, address: ListenAddress) throws {
    #expect(try ListenAddress(text, remoteRefusal: "no") == address)
    #expect(address.description == text)
  }

  @Test(arguments: ["0.0.0.0:9719", "[::]:9719", "192.0.2.1:1", "[2001:db8::1]:1"])
  func `an address that others reach must be allowed`(text: String) throws {
    #expect(throws: ListenError.self) { try ListenAddress(text, remoteRefusal: "no") }
    #expect(throws: Never.self) { try ListenAddress(text, remoteRefusal: nil) }
  }

  @Test(arguments: [
    "", "9719", "localhost:9719", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1",
    "unix:", "unix:x.sock", "[::1]", "127.0.0:80", ":80", "127.0.0.1\u{0}.9:80", "unix:/x\u{0}y",
    "unix:/" + String(repeating: "x", count: 107),
  ])
  func `anything else is refused`(text: String) {
    #expect(throws: ListenError.self) { try ListenAddress(text, remoteRefusal: nil) }
  }
}
