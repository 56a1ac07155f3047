# The example of a client starts before the daemon, and never notices when that is restarted.
systemctl stop navd.service navd.socket
cp /usr/share/doc/navd/examples/navd-client.service /etc/systemd/system/
systemctl daemon-reload
systemctl start navd-client.service
is "$(state navd.socket)" active
until_so systemctl is-active --quiet navd.service
navctl create kiosk --root home >/dev/null
until_logged navd-client.service 'rev 1 '
client=$(property navd-client.service MainPID)
systemctl restart navd.service
navctl title kiosk home more >/dev/null
until_logged navd-client.service 'rev 2 '
is "$(property navd-client.service MainPID)" "$client"
systemctl stop navd-client.service
