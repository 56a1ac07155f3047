#compdef navctl
# Completion of navctl for zsh. navctl itself knows what can follow.
_navctl() {
  local line hasFiles
  local -a texts descriptions keys
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      hasFiles=1
    elif [[ ${line%%$'\t'*} == *= ]]; then
      keys+=("${line%%$'\t'*}")
    else
      texts+=("${line%%$'\t'*}")
      descriptions+=("${line%%$'\t'*}  ${line#*$'\t'}")
    fi
  done < <("${words[1]}" completion zsh -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)
  (( ${#texts} )) && compadd -l -d descriptions -a texts
  (( ${#keys} )) && compadd -S '' -l -a keys
  [[ -z $hasFiles ]] || _files
}
if [[ $funcstack[1] == _navctl ]]; then _navctl "$@"; else compdef _navctl navctl; fi
