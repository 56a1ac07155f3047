/// What the protocol says about each error.
enum Refusals {
  /// What the sender may do after an error of this code; nil if the code is not known.
  static func consequence(of code: String) -> (effect: String, retry: String)? {
    for (retry, codes) in retries where codes.split(separator: " ").contains(Substring(code)) {
      return ("none", retry)
    }
    return nil
  }

  private static let retries = [
    ("same", "no-session moved delegate-timeout"),
    ("resync", "lease-lost desync not-in-stack covered"),
    (
      "later",
      "busy frozen shutting-down storage transition-in-progress queue-full"
    ),
    (
      "no",
      """
      bad-frame bad-json bad-verb version fenced unsupported forbidden limit expired op-reused \
      no-nav nav-exists guard-required vetoed bar-managed bar-delegate-managed readonly \
      nil-screen unknown-screen unknown-item unknown-button forbidden-kind owned-elsewhere \
      duplicate-screen duplicate-in-set duplicate-item item-both-sides no-root no-back-button \
      already-presenting already-active class-unknown class-invalid gesture-refused \
      gesture-owner invalid-argument no-route restore-failed compacted
      """
    ),
  ]
}
