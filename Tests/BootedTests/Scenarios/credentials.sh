# The examples for TCP: the key reaches the daemon and nobody else, who has an authorised one is
# served by the socket of the service manager, and cut off when it is revoked.
leave() {
  systemctl disable --quiet --now navd-tcp.socket
  rm -rf /etc/systemd/system/navd-tcp.socket /etc/navd/keys /etc/navd/server.key
  no_drop_ins
}
trap leave EXIT
server_key=$(navctl key new /etc/navd/server.key)
drop_in navd-tcp </usr/share/doc/navd/examples/navd-tcp.conf
cp /usr/share/doc/navd/examples/navd-tcp.socket /etc/systemd/system/
systemctl daemon-reload
systemctl stop navd.service
systemctl enable --quiet --now navd-tcp.socket
systemctl restart navd.service
holds "$(property navd.service StatusText)" 'tcp://127.0.0.1:5719'
directory=$(tr '\0' '\n' <"/proc/$(main_pid)/environ" | sed -n 's/^CREDENTIALS_DIRECTORY=//p')
[[ -n $directory ]] || fail 'navd has no CREDENTIALS_DIRECTORY'
key=/proc/$(main_pid)/root$directory/navd.key
is "$(cat "$key")" "$(cat /etc/navd/server.key)"
as_user() { setpriv --reuid="$1" --regid="$1" --clear-groups cat "$key"; }
refuses as_user stranger
is "$(setpriv --reuid=navd --regid=navd --clear-groups cat "$directory/navd.key")" \
  "$(cat /etc/navd/server.key)"
holds "$(navctl status)" 'navd answers'

# A client of the network, before and after its key is authorised, and after it is revoked.
panel=$(navctl key new /root/panel.key)
export NAVD_SERVER_KEY=$server_key NAVD_KEY=/root/panel.key
over_tcp() { navctl --endpoint tcp://127.0.0.1:5719 "$@"; }
refuses over_tcp --timeout 1s status
navctl key authorize panel "$panel" --role ui
until_so over_tcp status
over_tcp create over-tcp --root home
holds "$(navctl list)" 'panel'
watch_tcp() { over_tcp watch over-tcp; }
watch_tcp >/tmp/tcp.watch 2>&1 &
watcher=$!
until_so grep -q 'rev 1 ' /tmp/tcp.watch
navctl key revoke panel
status=0
wait "$watcher" || status=$?
is "$status" 5 'a revoked key ends a watch'
refuses over_tcp --timeout 1s status
holds "$(journalctl --unit navd.service NAVD_CODE=revoked)" 'not authorised any more'
holds "$(journalctl --unit navd.service NAVD_CODE=not-admitted)" 'is not let in'
