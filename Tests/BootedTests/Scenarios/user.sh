# A user has a daemon of his own, with a socket and a journal of his own.
useradd --create-home desktop
loginctl enable-linger desktop
uid=$(id -u desktop)
until_so test -S "/run/user/$uid/systemd/private"
as_desktop() { runuser -u desktop -- env XDG_RUNTIME_DIR="/run/user/$uid" HOME=/home/desktop "$@"; }
as_desktop systemctl --user enable --now navd.socket
refuses as_desktop systemctl --user is-active --quiet navd.service
holds "$(as_desktop navctl status)" "navd answers at ipc:///run/user/$uid/navd/navd.sock"
as_desktop navctl create mine --root home
as_desktop systemctl --user restart navd.service
holds "$(as_desktop navctl list)" mine
[[ $(navctl list) != *mine* ]] || fail 'the nav of a user is in the daemon of the system'
as_desktop test -d /home/desktop/.local/state/navd
loginctl disable-linger desktop
