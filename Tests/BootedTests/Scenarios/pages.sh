# What the pages for administrators have them type, letter by letter. A word behind `for` takes the place of one that
# a reader replaces too.
block() { # PAGE TEXT, which is in the block
  awk -v text="$2" '/^ *```/ { if (inside && index(lines, text)) { printf "%s", lines; found = 1 }
      inside = !inside; lines = ""; next }
    inside { lines = lines $0 "\n" }
    END { exit !found }' "/sources/$1" | sed 's/^   //'
}
replaced() { # PAGE TEXT [WORD for WORD]...
  local text
  text=$(block "$1" "$2") || fail "$1 has no block with: $2"
  shift 2
  while (($# > 0)); do
    [[ $text == *"$1"* ]] || fail "no $1 in: $text"
    text=${text//"$1"/"$3"}
    shift 3
  done
  printf '%s\n' "$text"
}
types() { # like `replaced`
  replaced "$@" | tee /tmp/typed
  bash -euo pipefail /tmp/typed </dev/null >/tmp/printed 2>&1 || fail "$(cat /tmp/typed /tmp/printed)"
  cat /tmp/printed
}
writes() { # FILE, and the words of `replaced`
  replaced "${@:2}" >>"$1"
}
cd "$(mktemp -d)"
leave() {
  navd-tcp disable || true
  rm -rf /etc/systemd/system/navd.service.d/backup.conf /etc/navd/navd.conf.d/backup.conf /etc/navd/keys /etc/navd/*.key
}
trap leave EXIT

# docs/operations.md, docs/troubleshooting.md, navd-tcp(8), navd-web(8) and navd-exporter(8).
navctl key new panel-1.key >panel-1.pub
types docs/operations.md 'navd-tcp enable'
types man/navd-tcp.8.scd 'navd-tcp enable'
types man/navd-tcp.8.scd 'navd-tcp disable'
install_packages /packages/navd-web_*.deb /packages/navd-web-bin_*.deb /packages/libjs-navd_*.deb /packages/navd-exporter_*.deb
curl --silent --output /dev/null http://127.0.0.1:9720/
types docs/operations.md navd-web.tokens
sed -i '/^panel /d' /etc/navd/navd-web.tokens
types man/navd-web.8.scd navd-web.tokens
TOKEN=$(awk '/^panel /{print $2}' /etc/navd/navd-web.tokens)
export TOKEN
types man/navd-web.8.scd Bearer
holds "$(cat /tmp/printed)" '"code"'
# It may still wait before it connects again after a restart of the daemon.
until_prints 'navd_serving 1' types man/navd-exporter.8.scd 'curl http'
navctl create --if-absent kiosk --root home >/dev/null
navctl dump >/dev/null
types docs/operations.md MESSAGE_ID
types docs/troubleshooting.md MESSAGE_ID
holds "$(cat /tmp/printed)" serving

# navd(8).
types man/navd.8.scd --check-config
types man/navd.8.scd 'reload navd'
types man/navd.8.scd 'navd-tcp enable'
types man/navd.8.scd --print-config
types man/navd.8.scd 'navctl status'
types man/navd.8.scd 'journalctl'
# The name of the backup has the time in it.
backup=$(navctl backup -o json | grep -oE '/[^"]*\.db')
types man/navd.8.scd --restore /var/lib/navd/backups/navd-20261121T174345Z-1234.db for "$backup"
holds "$(navctl list)" kiosk
# navd copies its journal by itself; then also to another file system, as navd.conf(5) has it.
types man/navd.8.scd 'keep = 7'
types man/navd.8.scd --dry-run
types man/navd.conf.5.scd 'install -d'
copied() { [[ -n $(find /srv/backup/navd -name '*.db') ]]; }
until_so copied
