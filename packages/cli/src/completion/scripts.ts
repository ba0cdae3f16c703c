/**
 * What each shell sources. All of them ask `belay completion -- belay …words` for lines of a candidate, a tab and what it means, and complete names of
 * files where there is none.
 */
export const SCRIPTS: Readonly<Record<string, string>> = {
  // Bash splits words at ':' and '=', and replaces only what follows the last of them: keys have colons.
  bash: `_belay() {
  local line="\${COMP_LINE:0:COMP_POINT}" words current kept
  read -ra words <<< "$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  current="\${words[\${#words[@]}-1]}"
  kept="\${current%"\${current##*[:=]}"}"
  local IFS=$'\\n' candidate
  COMPREPLY=()
  for candidate in $(belay completion -- belay "\${words[@]:1}" 2>/dev/null); do
    candidate="\${candidate%%$'\\t'*}"
    COMPREPLY+=("\${candidate#"$kept"}")
  done
}
complete -o default -F _belay belay
`,
  zsh: `#compdef belay
_belay() {
  local -a lines values
  lines=("\${(@f)$(belay completion -- belay "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  values=("\${(@)lines%%$'\\t'*}")
  if [[ -n "$values" ]]; then compadd -a values; else _files; fi
}
compdef _belay belay
`,
  fish: `function __belay_complete
  set -l words (commandline -opc)
  set -l lines (belay completion -- belay $words[2..-1] (commandline -ct) 2>/dev/null)
  if test (count $lines) -gt 0
    printf '%s\\n' $lines
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c belay -f -a '(__belay_complete)'
`,
}
