# The example of a client starts before the daemon and before the nav, and waits for both. It never notices that the
# daemon is restarted, and goes on with the next nav of that name.
systemctl stop navd.service navd.socket
cp /usr/share/doc/navd/examples/navd-client.service /etc/systemd/system/
systemctl daemon-reload
systemctl start navd-client.service
is "$(state navd.socket)" active
until_so systemctl is-active --quiet navd.service
until_logged navd-client.service 'waiting for kiosk'
client=$(property navd-client.service MainPID)
navctl create kiosk --root home >/dev/null
until_logged navd-client.service 'rev 1 '
systemctl restart navd.service
navctl set kiosk screen home title=more >/dev/null
until_logged navd-client.service 'rev 2 '
navctl close kiosk --any >/dev/null
until_logged navd-client.service 'kiosk was closed'
navctl create kiosk --root again >/dev/null
until_logged navd-client.service 'again'
is "$(property navd-client.service MainPID)" "$client"
is "$(property navd-client.service NRestarts)" 0
# Whatever ends it, systemd starts it again, however often.
is "$(property navd-client.service StartLimitIntervalUSec)" 0
systemctl stop navd-client.service
