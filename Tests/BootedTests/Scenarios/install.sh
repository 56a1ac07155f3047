# The packages install into a system that knows nothing of them, and the socket is up.
install_packages /packages/navd_*.deb /packages/navctl_*.deb
is "$(state navd.socket)" active
is "$(systemctl is-enabled navd.socket)" enabled
is "$(state navd.service)" inactive 'nobody has connected yet'
is "$(getent passwd | grep -o '^navd[^:]*')" navd
is "$(stat -c '%U:%G %a' /run/navd/navd.sock)" 'root:navd 660'

started=$(now)
holds "$(navctl status)" 'navd answers'
fact first-answer-us $(($(now) - started))
is "$(state navd.service)" active
holds "$(property navd.service StatusText)" 'serving 0 navs'
is "$(stat -c '%U:%G %a' /var/lib/navd)" 'navd:navd 700'

# Whom the group does not have is let in by nobody.
useradd --no-create-home member && usermod --append --groups navd member
useradd --no-create-home stranger
runuser -u member -- navctl status
refuses runuser -u stranger -- navctl --timeout 1s status
is "$(systemctl --failed --plain --no-legend)" ''

# Bash finds the completion of navctl by the name of the command.
holds "$(</usr/share/bash-completion/completions/navctl)" 'complete -F _navctl navctl'
holds "$(</usr/share/zsh/vendor-completions/_navctl)" '#compdef navctl'
holds "$(</usr/share/fish/vendor_completions.d/navctl.fish)" 'complete -c navctl'

# The daemon of a cluster waits for its configuration, and names the server that it cannot reach.
install_packages /packages/navd-cluster_*.deb
is "$(state navd-cluster.service)" inactive
install -m 644 /dev/stdin /etc/navd/cluster.conf <<<$'[cluster]\ndatabase = host=/nowhere dbname=navd'
refuses systemctl start navd-cluster.service
until_prints 'cannot read PostgreSQL /nowhere/navd' journalctl --output cat --unit navd-cluster.service
rm /etc/navd/cluster.conf
systemctl stop navd-cluster.service
systemctl reset-failed navd-cluster.service

# The exporter has rights of its own, and answers as soon as it is there.
install_packages /packages/navd-exporter_*.deb
is "$(state navd-exporter.service)" active
http() { # PATH
  exec 3<>/dev/tcp/127.0.0.1/9719
  printf 'GET %s HTTP/1.0\r\n\r\n' "$1" >&3
  cat <&3
  exec 3>&-
}
until_prints '200 OK' http /livez
until_prints '200 OK' http /readyz
until_prints 'navd_serving 1' http /metrics

# The test of the installed packages that a distribution runs.
(cd /sources && AUTOPKGTEST_TMP=$(mktemp -d) debian/tests/smoke)
