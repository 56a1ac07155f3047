import Testing
import ZeroMQ

@Suite
struct CurveTests {
  @Test func `key pairs differ and the public key follows from the secret one`() throws {
    let first = try CurveKeyPair.generate()
    let second = try CurveKeyPair.generate()
    #expect(first != second)
    #expect(try first.secretKey.publicKey() == first.publicKey)
    #expect(CurvePublicKey(z85: first.publicKey.description) == first.publicKey)
    #expect(CurveSecretKey(z85: first.secretKey.z85) == first.secretKey)
  }

  @Test func `a secret key does not show itself`() throws {
    let key = try CurveKeyPair.generate().secretKey
    #expect(!"\(key) \(String(reflecting: key))".contains(key.z85))
    #expect(!"\(key)".contains("["))
  }

  @Test func `Z85 agrees with RFC 32`() {
    let raw: [UInt8] = [0x86, 0x4F, 0xD2, 0x6F, 0xB5, 0x59, 0xF7, 0x5B]
    #expect(Z85.encode(raw) == "HelloWorld")
    #expect(Z85.decode("HelloWorld") == raw)
    #expect(Z85.encode([]) == "")
    #expect(Z85.decode("") == [])
  }

  @Test(arguments: ["Hell", "Hello Worl", "Hello\"orld", "#####", "Hell\0", "Hellö", "\u{7F}ello"])
  func `what is not Z85 is refused`(text: String) {
    #expect(Z85.decode(text) == nil)
  }

  @Test func `lengths that do not divide are refused`() {
    #expect(Z85.encode([1, 2, 3]) == nil)
    #expect(CurvePublicKey(bytes: [1]) == nil)
    #expect(CurvePublicKey(z85: "HelloWorld") == nil)
    #expect(CurveSecretKey(bytes: []) == nil)
    #expect(CurveSecretKey(z85: "") == nil)
  }
}
