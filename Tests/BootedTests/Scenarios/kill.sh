# A kill costs a client one reconnect: what was acknowledged is there, and a watch goes on.
readonly kills=20
navctl create kill --root home >/dev/null
watch kill /tmp/kill.watch
revision=1
for ((i = 1; i <= kills; i++)); do
  former=$(main_pid)
  # The manager wakes for its timers four times a second: meet it at any moment between. Nothing is
  # waited for here.
  read -rt 0.$(printf %03d $((i * 37 % 250))) <> <(:) || true
  killed=$(now)
  kill -KILL "$former"
  # Waits in the socket until navd is there again.
  navctl set kill screen home "title=title $i" >/dev/null
  fact answered-us $(($(now) - killed))
  revision=$((revision + 1))
  until_so grep -q "rev $revision " /tmp/kill.watch
  seen=$(sed -nE "s/^([0-9]+) rev $revision .*/\1/p" /tmp/kill.watch)
  fact watch-goes-on-us $((seen - killed))
  [[ $(main_pid) != "$former" ]] || fail 'navd was not killed'
  is "$(revision kill)" "$revision"
done
watch_is_whole /tmp/kill.watch "$revision"
is "$(state navd.service) $(state navd.socket)" 'active active' 'no limit of starts'
navctl verify kill

# Without anybody who connects, it comes back too.
end_watch /tmp/kill.watch
former=$(main_pid)
killed=$(now)
kill -KILL "$former"
comes_back() {
  local pid
  pid=$(main_pid)
  [[ $pid != "$former" && $pid != 0 && $(state navd.service) == active ]]
}
until_so comes_back
fact alone-us $(($(now) - killed))
fact restarts "$(property navd.service NRestarts)"
