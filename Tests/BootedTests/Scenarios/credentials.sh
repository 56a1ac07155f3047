# What the example for TCP loads reaches the daemon, and nobody else.
trap no_drop_ins EXIT
install -m 600 /dev/stdin /etc/navd/server.key <<<'secret of the server'
drop_in navd-tcp </usr/share/doc/navd/examples/navd-tcp.conf
systemctl restart navd.service
directory=$(tr '\0' '\n' <"/proc/$(main_pid)/environ" | sed -n 's/^CREDENTIALS_DIRECTORY=//p')
[[ -n $directory ]] || fail 'navd has no CREDENTIALS_DIRECTORY'
key=/proc/$(main_pid)/root$directory/navd.key
is "$(cat "$key")" 'secret of the server'
as_user() { setpriv --reuid="$1" --regid="$1" --clear-groups cat "$key"; }
refuses as_user stranger
is "$(setpriv --reuid=navd --regid=navd --clear-groups cat "$directory/navd.key")" 'secret of the server'
holds "$(navctl status)" 'navd answers'
rm /etc/navd/server.key
