# Completion of navctl for bash. navctl itself knows what can follow.
_navctl() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      compopt -o default
    else
      [[ $line == *= ]] && compopt -o nospace
      COMPREPLY+=("$(printf %q "$line")")
    fi
  done < <("${COMP_WORDS[0]}" completion bash -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _navctl navctl
