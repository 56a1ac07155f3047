# A start that is refused is not repeated as fast as it fails, though clients wait; a correction is
# enough to come back, and the clients with it.
trap 'rm -f /etc/navd/navd.conf.d/bad.conf' EXIT
navctl create refused --root home >/dev/null
watch refused /tmp/refused.watch
mkdir -p /etc/navd/navd.conf.d
printf '[limits]\ndepth = many\n' >/etc/navd/navd.conf.d/bad.conf
begun=$(now)
refuses systemctl restart navd.service
refuses navctl --timeout 2s status
until_logged navd.service 'status=3' --since="@${begun:0:10}"
starts=$(journalctl --unit=navd.service --no-pager --since="@${begun:0:10}" | grep -c 'status=3')
milliseconds=$((($(now) - begun) / 1000))
fact "starts-in-$milliseconds-ms" "$starts"
# A client that waits comes back after 100 ms, then ever more rarely.
((starts < 4 + milliseconds / 100)) || fail "$starts starts in $milliseconds ms"
until_so systemctl is-failed --quiet navd.service
rm /etc/navd/navd.conf.d/bad.conf
systemctl restart navd.service
holds "$(navctl status)" 'navd answers'
navctl set refused screen home title=again
watch_is_whole /tmp/refused.watch 2
is "$(state navd.socket)" active
