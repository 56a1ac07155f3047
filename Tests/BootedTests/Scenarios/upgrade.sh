# From the version before to this one: state and watch go on, and nothing is asked.
install_packages /previous/navd_*.deb /previous/navctl_*.deb
navctl create upgrade --root home >/dev/null
navctl push upgrade one --title One >/dev/null
printf '\n# Mine.\n' >>/etc/navd/navd.conf
watch upgrade /tmp/upgrade.watch
former=$(main_pid)
socket=$(stat -c %i /run/navd/navd.sock)
goes_on upgrade one
install_packages /packages/navd_*.deb /packages/navctl_*.deb
is "$(dpkg-query --show --showformat='${Status}' navd)" 'install ok installed'
[[ $(main_pid) != "$former" ]] || fail 'the daemon of the version before still runs'
has_gone_on upgrade
fact operations-meanwhile "$count"
fact longest-operation-us "$longest"
is "$(stat -c %i /run/navd/navd.sock)" "$socket" 'the socket is the one it was'
watch_is_whole /tmp/upgrade.watch $((2 + count))
holds "$(cat /etc/navd/navd.conf)" '# Mine.'
navctl verify upgrade

# A daemon that does not run is not started by an upgrade, and its socket stays.
end_watch /tmp/upgrade.watch
systemctl stop navd.service
install_packages --reinstall /packages/navd_*.deb
is "$(state navd.service) $(state navd.socket)" 'inactive active'
is "$(revision upgrade)" $((2 + count))
