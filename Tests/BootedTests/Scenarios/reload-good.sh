# A reload applies a new configuration and drops no client.
trap 'rm -f /etc/navd/navd.conf.d/good.conf' EXIT
navctl create reload-good --root home >/dev/null
watch reload-good /tmp/reload.watch
former=$(main_pid)
mkdir -p /etc/navd/navd.conf.d
printf '[limits]\ndepth = 3\n' >/etc/navd/navd.conf.d/good.conf
# The service manager does not wait for what follows the signal.
systemctl reload navd.service
until_prints 'limits.depth 64 to 3' property navd.service StatusText
is "$(main_pid)" "$former"
is "$(state navd.service)" active
navctl push reload-good a --title A
navctl push reload-good b --title B
refuses navctl push reload-good c --title C
watch_is_whole /tmp/reload.watch 3
rm /etc/navd/navd.conf.d/good.conf
systemctl reload navd.service
until_prints 'limits.depth 3 to 64' property navd.service StatusText
navctl push reload-good c --title C
