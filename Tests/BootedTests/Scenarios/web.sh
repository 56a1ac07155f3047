# The gateway for pages: its package works without an edit and takes no right from anybody. A page
# needs a token and an origin of its own, and its token survives restarts.
readonly url=http://127.0.0.1:9720 tokens=/etc/navd/navd-web.tokens
leave() { rm -f /etc/navd/navd.conf.d/site.conf; }
trap leave EXIT
as_member() { runuser -u member -- navctl "$@"; }
asks() { curl --silent --output /tmp/web.answer --write-out '%{http_code}' --max-time 10 "$@" || true; }
answers() { # STATUS, then curl's arguments
  local status
  status=$(asks "${@:2}")
  [[ $status == "$1" ]] || fail "$status instead of $1: ${*:2}: $(cat /tmp/web.answer)"
}
new_token() { head -c 32 /dev/urandom | base64; }
with() { printf 'Authorization: Bearer %s' "$1"; }

# Opens a stream in the background, says hello, and returns when the page is welcome.
opens() { # FILE TOKEN
  rm -f "$1"
  curl --silent --no-buffer --header "$(with "$2")" "$url/nsp1/stream" >"$1" &
  echo $! >"$1.pid"
  until_so grep -q '^\["stream"' "$1"
  stream=$(sed -nE 's/.*"id":"([^"]+)".*/\1/p;q' "$1")
  posts 200 "$2" 1 '["hello",{"ver":[1,1],"client":"'"$(tr -d - </proc/sys/kernel/random/uuid)"'","nonce":"n","name":"page"}]'
  until_so grep -q '^\["\(welcome\|err\)"' "$1"
}
posts() { # STATUS TOKEN NUMBER LINE
  answers "$1" --header "$(with "$2")" --data-binary "$4" "$url/nsp1/messages?stream=$stream&n=$3"
}

# Waits for the end of a stream, of which the page gets a sign. A client may miss a `bye` (protocol §4).
ends() { # FILE
  until_ended "$(<"$1.pid")"
  tail -n 1 "$1" | grep -qE '^\["(bye|gone)",' || fail "no end: $(tail -n 1 "$1")"
}

as_member create web --root home >/dev/null
install_packages /packages/navd-web_*.deb /packages/navd-web-bin_*.deb /packages/libjs-navd_*.deb
is "$(state navd-web.socket) $(systemctl is-enabled navd-web.socket)" 'active enabled'
is "$(state navd-web.service)" inactive 'nobody has connected yet'
is "$(stat -c '%U:%G %a' $tokens)" 'root:navd-web 640'
until_logged navd.service 'reload'

# Users have the rights they had, now and after a start with the new line.
as_member push web one --title One >/dev/null
systemctl restart navd.service
as_member push web two --title Two >/dev/null
refuses runuser -u stranger -- navctl --timeout 1s status

# The first connection starts the gateway. Without a token there is nothing but files.
started=$(now)
answers 404 "$url/"
fact first-answer-us $(($(now) - started))
is "$(state navd-web.service)" active
answers 200 "$url/navigation-client.js"
cmp /tmp/web.answer /usr/share/javascript/navd/navigation-client.js
answers 401 "$url/nsp1/stream"
answers 401 --header "$(with "$(new_token)")" "$url/nsp1/stream"

# A new token counts from a reload on, in the same process.
token=$(new_token)
printf 'panel %s ui web\n' "$token" >>$tokens
former=$(property navd-web.service MainPID)
systemctl reload navd-web.service
until_logged navd-web.service 'tokens again'
is "$(property navd-web.service MainPID)" "$former"
opens /tmp/web.page "$token"
grep -q '"role":"ui"' /tmp/web.page || fail "no welcome: $(cat /tmp/web.page)"
posts 200 "$token" 2 '["watch",{"id":1,"nav":"web"}]'
until_so grep -q '^\["snap"' /tmp/web.page
posts 200 "$token" 3 '["op",{"id":2,"nav":"web","if":{"top":"two"},"do":[{"push":{"screen":{"id":"page","title":"Page"}}}]}]'
until_so grep -q '^\["ok",{"id":2' /tmp/web.page
holds "$(navctl log web)" panel
# The token names its navs.
navctl create other --root home >/dev/null
posts 200 "$token" 4 '["op",{"id":3,"nav":"other","do":[{"pop":{}}]}]'
until_so grep -q '^\["err",{"id":3,"code":"forbidden"' /tmp/web.page

# Other sites: by a name that leads here, from a page of theirs, with a token even.
answers 421 --header "$(with "$token")" --header 'Host: evil.example.org' "$url/nsp1/stream"
answers 403 --header "$(with "$token")" --header 'Origin: http://evil.example.org' "$url/nsp1/stream"
answers 403 --header "$(with "$token")" --header 'Sec-Fetch-Site: cross-site' "$url/nsp1/stream"

# Another user of the machine reaches the port only. The gateway's user can read its tokens, and
# neither change them nor read the daemon's key.
as_gateway() { setpriv --reuid=navd-web --regid=navd-web --clear-groups "$@"; }
refuses runuser -u stranger -- cat $tokens
as_gateway test -r $tokens
refuses as_gateway test -w $tokens
install -m 600 /dev/null /etc/navd/server.key
refuses as_gateway test -r /etc/navd/server.key
rm /etc/navd/server.key

# Restarts of both. The page opens another stream with the same token.
systemctl restart navd-web.service
ends /tmp/web.page
opens /tmp/web.page "$token"
systemctl restart navd.service
ends /tmp/web.page
opens /tmp/web.page "$token"

# Where the administrator grants rights of their own, the page keeps those of its token.
printf '[access]\ngrant = user:member web read\n' >/etc/navd/navd.conf.d/site.conf
systemctl restart navd.service
refuses as_member pop web --any
ends /tmp/web.page
opens /tmp/web.page "$token"
posts 200 "$token" 2 '["op",{"id":1,"nav":"web","if":{"top":"page"},"do":[{"pop":{}}]}]'
until_so grep -q '^\["ok",{"id":1' /tmp/web.page
rm /etc/navd/navd.conf.d/site.conf
systemctl reload navd.service

# The stolen token: what was made of it ends with it.
answers 200 --request POST --header "$(with "$token")" "$url/nsp1/code"
code=$(sed -E 's/.*"code":"([^"]+)".*/\1/' /tmp/web.answer)
answers 200 --data-binary "{\"code\":\"$code\"}" "$url/nsp1/token"
derived=$(sed -E 's/.*"token":"([^"]+)".*/\1/' /tmp/web.answer)
answers 200 --request POST --header "$(with "$derived")" "$url/nsp1/code"
stolen=$token token=$(new_token)
sed -i "s,^panel .*,panel $token ui web," $tokens
is "$(stat -c '%U:%G %a' $tokens)" 'root:navd-web 640'
systemctl reload navd-web.service
ends /tmp/web.page
for invalid in "$stolen" "$derived"; do
  answers 401 --request POST --header "$(with "$invalid")" "$url/nsp1/code"
done
answers 200 --request POST --header "$(with "$token")" "$url/nsp1/code"

# A file with a fault changes nothing in a reload. A start it ends, until it is corrected, and then
# the next connection is enough.
chmod 644 $tokens
systemctl reload navd-web.service
until_logged navd-web.service 'the former tokens stay'
answers 200 --request POST --header "$(with "$token")" "$url/nsp1/code"
refuses systemctl restart navd-web.service
until_logged navd-web.service 'status=3'
chmod 640 $tokens
is_served() { [[ $(asks --request POST --header "$(with "$token")" "$url/nsp1/code") == 200 ]]; }
until_so is_served

# The page.
mkdir /srv/page
echo '<!doctype html><title>Page</title>' >/srv/page/index.html
sed -i 's,^NAVD_WEB_OPTIONS=.*,NAVD_WEB_OPTIONS="--page /srv/page",' /etc/default/navd-web
systemctl restart navd-web.service
answers 200 "$url/"
cmp /tmp/web.answer /srv/page/index.html
answers 404 --path-as-is "$url/../../etc/passwd"

# Removal ends it; a purge leaves nothing, and navd goes on.
former=$(main_pid)
apt-get remove -qq -y navd-web
is "$(systemctl is-active navd-web.service navd-web.socket | paste -sd' ')" 'inactive inactive'
is "$(asks "$url/")" 000
[[ -e $tokens ]] || fail 'the tokens are gone'
apt-get purge -qq -y navd-web navd-web-bin libjs-navd
left=$(find /etc /lib/systemd /var/lib/systemd /usr/share -name 'navd-web*' -o -name 'navigation-client*')
[[ -z $left ]] || fail "there is still: $left"
is "$(systemctl list-unit-files --plain --no-legend 'navd-web*')" ''
is "$(systemctl --failed --plain --no-legend)" ''
is "$(main_pid)" "$former"
as_member push web three --title Three >/dev/null
systemctl restart navd.service
as_member push web four --title Four >/dev/null
