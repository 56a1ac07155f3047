# The inspector: its package works without an edit and starts nothing; a user has an address that works once; the
# service, once enabled, shows what it may read, and a page can change nothing.
readonly url=http://127.0.0.1:9721 tokens=/etc/navd/navd-inspector.tokens
asks() { curl --silent --output /tmp/inspector.answer --write-out '%{http_code}' --max-time 10 "$@" || true; }
answers() { # STATUS, then curl's arguments
  local status
  status=$(asks "${@:2}")
  [[ $status == "$1" ]] || fail "$status instead of $1: ${*:2}: $(cat /tmp/inspector.answer)"
}

# Opens a stream in the background, says hello, and returns when the page is welcome.
opens() { # FILE URL TOKEN
  rm -f "$1"
  curl --silent --no-buffer --header "Authorization: Bearer $3" "$2/nsp1/stream" >"$1" &
  echo $! >"$1.pid"
  until_so grep -q '^\["stream"' "$1"
  stream=$(sed -nE 's/.*"id":"([^"]+)".*/\1/p;q' "$1")
  posts 200 "$2" "$3" 1 '["hello",{"ver":[1,1],"client":"'"$(tr -d - </proc/sys/kernel/random/uuid)"'","nonce":"n","name":"page"}]'
  until_so grep -q '^\["\(welcome\|err\)"' "$1"
}
posts() { # STATUS URL TOKEN NUMBER LINE
  answers "$1" --header "Authorization: Bearer $3" --data-binary "$5" "$2/nsp1/messages?stream=$stream&n=$4"
}

runuser -u member -- navctl create seen --root home >/dev/null
install_packages /packages/navd-inspector_*.deb /packages/navd-web-bin_*.deb
is "$(state navd-inspector.service) $(systemctl is-enabled navd-inspector.service || true)" 'inactive disabled'
is "$(stat -c '%U:%G %a' $tokens)" 'root:navd-inspector 640'
until_logged navd.service 'reload'

# A user's own inspector has the rights of the user, and ends with the terminal.
runuser -u member -- navctl inspect seen --print >/tmp/inspector.out 2>&1 &
inspector=$!
until_so grep -q 'http://' /tmp/inspector.out
address=$(sed -nE 's,^(http://[^/]+)/.*,\1,p' /tmp/inspector.out)
code=$(sed -nE 's/.*#c=([^&]+).*/\1/p' /tmp/inspector.out)
answers 200 "$address/"
grep -q 'navd inspector' /tmp/inspector.answer || fail 'this is not the page'
answers 200 "$address/chart.js"
answers 200 --data-binary "{\"code\":\"$code\"}" "$address/nsp1/token"
token=$(sed -E 's/.*"token":"([^"]+)".*/\1/' /tmp/inspector.answer)
answers 401 --data-binary "{\"code\":\"$code\"}" "$address/nsp1/token"
opens /tmp/inspector.page "$address" "$token"
grep -q "\"uid\":$(id -u member)" /tmp/inspector.page || fail "no welcome: $(cat /tmp/inspector.page)"
posts 403 "$address" "$token" 2 '["op",{"id":1,"nav":"seen","do":[{"push":{"screen":{"id":"a"}}}]}]'
posts 200 "$address" "$token" 2 '["get",{"id":2,"nav":"seen","what":"diffs"}]'
until_so grep -q '^\["ok",{"id":2' /tmp/inspector.page
pkill -HUP -u member navd-web
until_ended $inspector
is "$(revision seen)" 1

# The service: the role of a token does not exceed the service's own.
token=$(head -c 32 /dev/urandom | base64)
printf 'support %s admin seen $navs\n' "$token" >>$tokens
systemctl enable --quiet --now navd-inspector.service
until_so curl --silent --output /dev/null "$url/"
opens /tmp/inspector.page "$url" "$token"
posts 200 "$url" "$token" 2 '["get",{"id":1,"nav":"seen"}]'
until_so grep -q '^\["ok",{"id":1' /tmp/inspector.page
posts 200 "$url" "$token" 3 '["get",{"id":2,"what":"refusals"}]'
until_so grep -q '^\["err",{"id":2,"code":"forbidden"' /tmp/inspector.page
posts 403 "$url" "$token" 4 '["op",{"id":3,"nav":"seen","do":[{"push":{"screen":{"id":"a"}}}]}]'
answers 421 --header 'Host: evil.example.org' "$url/"
is "$(revision seen)" 1

# Removal ends it; a purge leaves nothing, and navd goes on.
former=$(main_pid)
apt-get purge -qq -y navd-inspector navd-web-bin
is "$(asks "$url/")" 000
left=$(find /etc /lib/systemd /usr/share -name 'navd-inspector*' -o -path '*/navd/inspector*')
[[ -z $left ]] || fail "there is still: $left"
is "$(systemctl --failed --plain --no-legend)" ''
is "$(main_pid)" "$former"
