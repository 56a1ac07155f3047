# A start that is refused is not repeated without end, and a correction is enough to come back.
mkdir -p /etc/navd/navd.conf.d
printf '[limits]\ndepth = many\n' >/etc/navd/navd.conf.d/bad.conf
refuses systemctl restart navd.service
is "$(property navd.service ExecMainStatus)" 3
refuses navctl --timeout 1s status
starts=$(journalctl --unit=navd.service --no-pager | grep -c 'status=3' || true)
fact starts "$starts"
rm /etc/navd/navd.conf.d/bad.conf
systemctl restart navd.service
holds "$(navctl status)" 'navd answers'
is "$(state navd.socket)" active
