# Each package can be installed before and after each other, and removed before and after each other: navd starts
# again after every step. A package makes its own user, and what it leaves behind keeps navd from nothing.
readonly extras=(navd-exporter navd-cluster navd-web navd-inspector)
install_packages /packages/navd_*.deb /packages/navctl_*.deb
users() { getent passwd | sed -n 's/^\(navd[^:]*\):.*/\1/p' | sort | paste -sd' '; }
for user in navd-exporter navd-web navd-inspector; do ! id -u $user >/dev/null 2>&1 || userdel $user; done
is "$(users)" navd
starts() { # AFTER
  systemctl restart navd.service || fail "navd does not start after: $1"
  holds "$(navctl status)" 'navd answers'
}
dpkg --install /packages/navd-web-bin_*.deb /packages/libjs-navd_*.deb >/dev/null
is "$(users)" navd
for ((turn = 0; turn < ${#extras[@]}; turn++)); do
  order=("${extras[@]:turn}" "${extras[@]:0:turn}")
  for package in "${order[@]}"; do
    dpkg --install /packages/"$package"_*.deb >/dev/null
    starts "the installation of $package as one of ${order[*]}"
  done
  is "$(users)" 'navd navd-exporter navd-inspector navd-web'
  # The last in order is the first to go in one turn, the first in the next; every second turn forgets the files too.
  if ((turn % 2)); then mapfile -t order < <(printf '%s\n' "${order[@]}" | tac); fi
  for package in "${order[@]}"; do
    if ((turn / 2)); then how=--purge; else how=--remove; fi
    dpkg $how "$package" >/dev/null
    starts "$how of $package as one of ${order[*]}"
  done
  # What a removal leaves is in the way of nobody, not even where the users went by hand.
  for user in navd-exporter navd-web navd-inspector; do userdel $user; done
  starts 'the end of their users'
done
is "$(systemctl --failed --plain --no-legend)" ''
[[ ! -e /etc/navd/navd.conf.d/navd-web.conf ]] || fail 'a drop-in is still there'

# A drop-in of a user who does not exist is a warning, and a check of the files accepts it.
mkdir -p /etc/navd/navd.conf.d
printf '[access]\nrole = ui user:navd-web\n' >/etc/navd/navd.conf.d/left.conf
began=$(now)
starts 'a line of a user who does not exist'
until_logged navd.service 'there is no user navd-web' --since="@${began:0:10}" --priority=warning
holds "$(navd --config /etc/navd/navd.conf --check-config 2>&1)" 'left.conf:2: [access] role: there is no user navd-web'
systemctl reload navd.service
is "$(state navd.service)" active
rm /etc/navd/navd.conf.d/left.conf
dpkg --purge navd-web-bin libjs-navd >/dev/null
apt-get purge -qq -y navd >/dev/null
