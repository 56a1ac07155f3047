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
ends() { journalctl --unit=navd.service --no-pager --since="@${begun:0:10}" | grep -c 'status=3'; }
fact starts-in-$((($(now) - begun) / 1000))-ms "$(ends)"
(($(ends) < 20)) || fail "$(ends) starts"
until_so systemctl is-failed --quiet navd.service
rm /etc/navd/navd.conf.d/bad.conf
systemctl restart navd.service
holds "$(navctl status)" 'navd answers'
navctl title refused home again
watch_is_whole /tmp/refused.watch 2
is "$(state navd.socket)" active
