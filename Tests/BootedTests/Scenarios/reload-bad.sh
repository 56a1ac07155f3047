# A configuration that is refused never reaches the daemon.
trap 'rm -f /etc/navd/navd.conf.d/bad.conf' EXIT
navctl create reload-bad --root home >/dev/null
former=$(main_pid)
mkdir -p /etc/navd/navd.conf.d
printf '[limits]\ndepth = many\n' >/etc/navd/navd.conf.d/bad.conf
refuses systemctl reload navd.service
is "$(main_pid)" "$former"
is "$(state navd.service)" active
until_logged navd.service 'depth'
navctl push reload-bad more --title More
