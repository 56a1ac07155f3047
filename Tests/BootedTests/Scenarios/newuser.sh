# "With packages alone" of README.md, letter by letter, on a machine that has neither navd nor a compiler.
apt-get purge -qq -y navctl >/dev/null
refuses type navctl
refuses type navd
refuses type swift
refuses type cc
cd "$(mktemp -d)"
mkdir -p .build/packages
cp /packages/navd_*.deb /packages/navctl_*.deb .build/packages
. /sources/debian/tests/two-terminals
two_terminals /sources/README.md || fail 'the terminals do not show what the page shows'
fact commands "$typed"
fact seconds "$seconds"
is "$(state navd.service)" active
# The page says how it is removed.
removal=$(sed -n 's/.*`\(apt purge [^`]*\)`.*/\1/p' /sources/README.md)
DEBIAN_FRONTEND=noninteractive $removal -y >/dev/null 2>&1 || fail "it is not removed by: $removal"
refuses type navctl
refuses type navd
