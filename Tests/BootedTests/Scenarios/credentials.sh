# TCP is switched on and off on a running system, whoever connects meanwhile; the server's key
# reaches the daemon and no other process; an authorised key is served, and cut off when it is
# revoked.
leave() {
  navd-tcp disable
  rm -rf /etc/navd/keys /etc/navd/server.key
}
trap leave EXIT
export NAVD_SERVER_KEY=/root/server.pub NAVD_KEY=/root/panel.key
over_tcp() { navctl --endpoint tcp://127.0.0.1:5719 "$@"; }
listens() { (: <>/dev/tcp/127.0.0.1/5719); }

# Whatever the service is doing at that moment: clients on ipc start it whenever it does not run.
navctl create switch --root home >/dev/null
watch switch /tmp/switch.watch
goes_on switch home
moments=(true 'systemctl stop navd.service' 'systemctl kill --signal=KILL navd.service'
  'systemctl --no-block restart navd.service')
for moment in "${moments[@]}"; do
  $moment
  navd-tcp enable
  listens || fail "after '$moment' nothing listens"
  holds "$(property navd.service StatusText)" 'tcp://127.0.0.1:5719'
  $moment
  navd-tcp disable
  refuses listens
done
has_gone_on switch
fact operations-meanwhile "$count"
fact longest-operation-us "$longest"
watch_is_whole /tmp/switch.watch $((1 + count))
end_watch /tmp/switch.watch

# Where navd cannot start with it, it serves as before.
is "$(state navd-exporter.service)" active 'its port is the one that is taken'
refuses navd-tcp enable 127.0.0.1:9719
holds "$(navctl status)" 'navd answers'
[[ ! -e /etc/navd/navd.conf.d/navd-tcp.conf ]] || fail 'what did not work was left there'
refuses navd-tcp enable 192.0.2.7:5719
refuses navd-tcp enable 0.0.0.0:5719 any

# The address of an interface that is not up yet keeps nobody on ipc waiting.
navd-tcp enable 192.0.2.7:5719 192.0.2.0/24
holds "$(navctl status)" 'navd answers'
until_logged navd.service 'no interface of this machine has the address of tcp://192.0.2.7:5719'
holds "$(property navd.service IPAddressAllow)" '192.0.2.0/24'

navd-tcp enable
is "$(systemctl is-enabled navd.service)" enabled
navctl key public /etc/navd/server.key >/root/server.pub
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
until_logged navd.service 'not authorised any more' NAVD_CODE=revoked
until_logged navd.service 'is refused' NAVD_CODE=not-admitted
