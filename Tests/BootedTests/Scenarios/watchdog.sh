# A daemon that does nothing any more is replaced.
trap no_drop_ins EXIT
drop_in watchdog <<<$'[Service]\nWatchdogSec=1s'
systemctl restart navd.service
navctl create watchdog --root home >/dev/null
former=$(main_pid)
stopped=$(now)
kill -STOP "$former"
navctl --timeout 60s set watchdog screen home title=more >/dev/null
fact answered-us $(($(now) - stopped))
[[ $(main_pid) != "$former" ]] || fail 'navd was not replaced'
until_logged navd.service 'Watchdog timeout'
is "$(revision watchdog)" 2
