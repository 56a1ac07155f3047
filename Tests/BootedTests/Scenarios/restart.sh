# A restart by the administrator costs a client no operation.
navctl create restart --root home >/dev/null
watch restart /tmp/restart.watch
for i in 1 2 3; do
  systemctl restart navd.service &
  started=$(now)
  navctl title restart home "title $i" >/dev/null
  fact answered-us $(($(now) - started))
  wait $!
done
watch_is_whole /tmp/restart.watch 4
holds "$(property navd.service StatusText)" 'serving'
