# A restart by the administrator costs a client no operation.
navctl create restart --root home >/dev/null
watch restart /tmp/restart.watch
restarts() { (($(property navd.service NRestarts) >= former + $1)); }
for i in 1 2 3; do
  systemctl restart navd.service &
  started=$(now)
  navctl set restart screen home "title=title $i" >/dev/null
  fact answered-us $(($(now) - started))
  wait $!
done
watch_is_whole /tmp/restart.watch 4
holds "$(property navd.service StatusText)" 'serving'

# The files of another installation, whose users had other numbers: the boot and the start give them to navd.
systemctl stop navd.service
chown -R 4711:4711 /var/lib/navd
systemd-tmpfiles --create
navctl set restart screen home title=mine >/dev/null
is "$(find /var/lib/navd ! -user navd)" ''
# Where the top alone is right, the log names the first file and both users.
systemctl stop navd.service
chown 4711 /var/lib/navd/lock
systemctl start navd.service || true
until_logged navd.service "/var/lib/navd/lock: it belongs to user 4711, and navd is user $(id -u navd)"
chown navd /var/lib/navd/lock
systemctl restart navd.service

# A start that fails before systemd can run navd is not repeated as fast as it fails.
drop_in away <<<$'[Service]\nReadWritePaths=/srv/away'
begun=$(now)
systemctl restart navd.service || true
former=$(property navd.service NRestarts)
until_so restarts 10
starts=$(($(property navd.service NRestarts) - former))
milliseconds=$((($(now) - begun) / 1000))
fact "starts-in-$milliseconds-ms" "$starts"
((starts <= 2 + milliseconds / 100)) || fail "$starts starts in $milliseconds ms"
# With a minus, the backup directory may be away.
drop_in away <<<$'[Service]\nReadWritePaths=-/srv/away'
systemctl restart navd.service
holds "$(navctl status)" 'navd answers'
no_drop_ins
