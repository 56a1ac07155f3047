package import CLinux

/// Takes the place of the C library's function, for libzmq in this process.
///
/// libzmq aborts the process when it cannot accept for want of descriptors, and it accepts on threads
/// of its own, faster than the loop could tell it to stop; nor can it be told without ending every
/// connection of that entrance. So the last descriptors are not given away in the first place: who
/// comes then is closed at once, which libzmq bears. The dynamic linker prefers what the program
/// itself defines.
@c(accept4)
package func sparingAccept(
  _ listening: Int32, _ address: UnsafeMutablePointer<sockaddr>?,
  _ size: UnsafeMutablePointer<socklen_t>?, _ flags: Int32
) -> Int32 {
  unsafe navd_accept_sparingly(listening, address, size, flags)
}
