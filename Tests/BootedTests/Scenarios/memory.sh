# More memory than is allowed costs a restart and nothing that was acknowledged.
systemctl restart navd.service
navctl create memory --root home >/dev/null
former=$(main_pid)
current=$(property navd.service MemoryCurrent)
if [[ $current =~ ^[0-9]+$ ]]; then
  fact limited-by MemoryMax
  systemctl set-property --runtime navd.service MemoryMax=$((current + 8 * 1024 * 1024))
else
  # No memory controller is delegated to the machine: the kernel's older one does the same to navd.
  fact limited-by memory.limit_in_bytes
  mkdir -p /tmp/memory && mount -t cgroup -o memory none /tmp/memory
  group=/tmp/memory/navd-$former
  mkdir "$group"
  echo $((8 * 1024 * 1024)) >"$group/memory.limit_in_bytes"
  echo "$former" >"$group/cgroup.procs"
fi
text=$(head -c 50000 /dev/zero | tr '\0' x)
acknowledged=0
for ((i = 1; i <= 400; i++)); do
  [[ $(main_pid) == "$former" ]] || break
  navctl create "memory$i" --root home --title "$text" >/dev/null 2>&1 || break
  acknowledged=$i
done
fact acknowledged "$acknowledged"
# A client may see the end before the service manager does.
is_replaced() { [[ $(main_pid) != "$former" ]]; }
until_so is_replaced
until_so navctl status
for ((i = 1; i <= acknowledged; i++)); do is "$(revision "memory$i")" 1; done
is "$(state navd.service)" active
systemctl revert navd.service
