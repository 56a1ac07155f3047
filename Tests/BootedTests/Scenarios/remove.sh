# Removal stops it and keeps what it kept; a purge asks before the data goes, and keeps it if nobody
# answers.
navctl create remove --root home >/dev/null
apt-get remove -qq -y navd
is "$(systemctl is-active navd.service navd.socket | paste -sd' ')" 'inactive inactive'
[[ ! -e /run/navd/navd.sock ]] || fail 'the socket is still there'
[[ -e /etc/navd/navd.conf ]] || fail 'the configuration is gone'
[[ -e /var/lib/navd ]] || fail 'the data is gone'
refuses navctl --timeout 1s status

install_packages /packages/navd_*.deb
is "$(revision remove)" 1
navd-tcp enable
apt-get purge -qq -y navd
[[ ! -e /etc/navd ]] || fail "of /etc/navd there is still: $(find /etc/navd)"
left=$(find /etc/systemd/system -name 'navd*')
[[ -z $left ]] || fail "of navd-tcp there is still: $left"
[[ ! -e /run/navd ]] || fail '/run/navd is still there'
[[ -e /var/lib/navd ]] || fail 'the data is gone, and nobody said so'

install_packages /packages/navd_*.deb
is "$(revision remove)" 1
echo 'navd navd/remove-data boolean true' | debconf-set-selections
apt-get purge -qq -y navd
[[ ! -e /var/lib/navd ]] || fail 'the data is still there, and somebody said that it should go'
is "$(systemctl --failed --plain --no-legend)" ''
is "$(systemctl list-unit-files --plain --no-legend 'navd*')" ''
